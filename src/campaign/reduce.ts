/**
 * Reduces a failing run to the fewest reads that do not see the newest write and still fail.
 *
 * The schedule is kept. The older reads of the run are dropped in sets of growing size of what is kept: first all of them, then all but one,
 * and so on, so the first run that fails has the fewest. When the sets become too many, what is left is dropped one by one.
 */
import { Breather, type Budget } from '../base/index.ts';
import { following, type ReadChoice, readPointKey } from '../mockdb/index.ts';
import type { FinishedRun, ProgramRunner, RunLimits } from './single-run.ts';

export interface ReduceOptions extends RunLimits {
  /** Runs to spend. Default 2,000. */
  readonly runsMax?: number;
  readonly failures?: boolean;
  /** When it takes what it has. */
  readonly budget?: Budget;
}

export async function reduceRun(
  runner: ProgramRunner,
  failing: FinishedRun,
  options: ReduceOptions = {},
): Promise<FinishedRun> {
  const { runsMax = 2_000, failures = false, budget, ...limits } = options;
  const breather = new Breather();
  const older = failing.readChoices.filter(({ position }) => position > 0);
  let runs = 0;
  const isOver = (): boolean => (budget?.over ?? null) !== null;
  const attempt = async (kept: readonly ReadChoice[]): Promise<FinishedRun | null> => {
    if (isOver()) return null;
    runs += 1;
    await breather.breathe();
    const positions = new Map(kept.map((choice) => [readPointKey(choice), choice.position]));
    const run = await runner.run(following(failing.schedule, positions, failures), limits);
    return run.kind === 'finished' && run.violation !== null ? run : null;
  };

  for (let size = 0; size < older.length; size += 1) {
    if (runs + binomial(older.length, size) > runsMax) return dropOneByOne(older, failing, attempt);
    for (const kept of subsets(older, size)) {
      if (isOver()) return failing;
      const run = await attempt(kept);
      if (run !== null) return run;
    }
  }
  return failing;
}

async function dropOneByOne(
  older: readonly ReadChoice[],
  failing: FinishedRun,
  attempt: (kept: readonly ReadChoice[]) => Promise<FinishedRun | null>,
): Promise<FinishedRun> {
  let best = failing;
  let kept = older;
  for (const choice of older) {
    const fewer = kept.filter((other) => other !== choice);
    const run = await attempt(fewer);
    if (run === null) continue;
    best = run;
    kept = fewer;
  }
  return best;
}

function* subsets<T>(items: readonly T[], size: number, from = 0): Generator<T[]> {
  if (size === 0) yield [];
  if (size === 0) return;
  for (let i = from; i <= items.length - size; i += 1) {
    for (const rest of subsets(items, size - 1, i + 1)) yield [items[i] as T, ...rest];
  }
}

function binomial(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i += 1) result = (result * (n - k + i)) / i;
  return result;
}
