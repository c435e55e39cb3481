/** The smallest part that can be found of what violates a level (ddmin: Zeller and Hildebrandt, IEEE TSE 2002), within a number of tries. */

/**
 * @param items violate together
 * @param violates is asked about parts of them; a part may violate and this say no, which only makes the result larger
 */
export function shrink<Item>(
  items: readonly Item[],
  violates: (part: readonly Item[]) => boolean,
  triesMax: number,
): readonly Item[] {
  let kept = items;
  let tries = 0;
  let parts = 2;
  while (kept.length >= 2) {
    const size = Math.ceil(kept.length / parts);
    const smaller = candidates(kept, size).find((part) => {
      tries += 1;
      return tries <= triesMax && violates(part);
    });
    if (tries > triesMax) break;
    if (smaller !== undefined) {
      parts = smaller.length <= size ? 2 : Math.max(2, parts - 1);
      kept = smaller;
    } else if (size === 1) break;
    else parts = Math.min(kept.length, 2 * parts);
  }
  return kept;
}

/** The pieces of that size, then all but each piece. */
function candidates<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  const pieces = Array.from({ length: Math.ceil(items.length / size) }, (_, i) => [i * size, (i + 1) * size] as const);
  const whole = pieces.map(([from, to]) => items.slice(from, to));
  const rests = pieces.map(([from, to]) => [...items.slice(0, from), ...items.slice(to)]);
  return pieces.length > 2 ? [...(size > 1 ? whole : []), ...rests] : whole;
}
