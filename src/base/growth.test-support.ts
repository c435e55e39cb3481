/** How processor time grows with the size of the work: it tells a linear algorithm from a quadratic one, whatever else the machine does. */

const times = 8;
/** Below it a measurement says nothing. */
const noiseMs = 5;

/** How many times as long work of `size` takes as work of an eighth: about 8 where it is linear, 64 where it is quadratic. */
export async function growth(size: number, work: (size: number) => unknown): Promise<number> {
  const [small, large] = [await leastMs(() => work(size / times)), await leastMs(() => work(size))];
  return large / Math.max(small, noiseMs);
}

/** Between the growth of linear work, 8, and that of quadratic work, 64. */
export const linearMax = 24;

/** The least of three: collections of garbage fall on one run and not on another. */
async function leastMs(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < 3; run += 1) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
