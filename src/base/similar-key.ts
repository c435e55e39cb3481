/** Which known key a name is probably a misspelling of. */

/** What to do about a name that is none of `known`: `did you mean "runs"?` */
export function unknownNameHint(name: string, known: readonly string[]): string {
  const similar = similarKey(name, known);
  return similar === null ? `known: ${known.join(', ')}` : `did you mean "${similar}"?`;
}

/** @returns the most similar of `known`, `null` where none is close */
export function similarKey(name: string, known: readonly string[]): string | null {
  const near = known
    .map((key) => ({ key, distance: distanceOf(name, key) }))
    .filter(({ distance }) => distance < Infinity)
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.key ?? null;
}

/** The number of edits where they are few for such a key; 0 for the same letters, 3 for a shortened key; `Infinity` otherwise. */
function distanceOf(name: string, key: string): number {
  if (plain(name) === plain(key)) return name.replaceAll(/\P{L}/gu, '') === '' ? Infinity : 0;
  const [a, b] = [name.split(separator), key.split(separator)];
  // Parts of a key are compared one by one: `order/a` and `order/b` are two orders, not one misspelt.
  if (a.length !== b.length) return isShortened(name, key) ? 3 : Infinity;
  const edits = a.reduce((sum, part, i) => sum + editsOfPart(part, b[i] as string), 0);
  if (edits <= EDITS_MAX) return edits;
  return isShortened(name, key) ? 3 : Infinity;
}

const separator = /[/:._-]/u;
const EDITS_MAX = 2;

/** Keys of one series differ in digits: `log/2` beside `log/1` is none that is misspelt. */
function editsOfPart(a: string, b: string): number {
  if (a === b) return 0;
  if (a.replaceAll(/\d+/gu, '0') === b.replaceAll(/\d+/gu, '0')) return Infinity;
  if (Math.abs(a.length - b.length) > EDITS_MAX) return Infinity;
  const edits = editDistance(a, b);
  return edits * 2 < Math.min(a.length, b.length) ? edits : Infinity;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[/:._\s-]/gu, '');
}

function isShortened(name: string, key: string): boolean {
  return name.length >= SHORTENED_MIN && key.startsWith(name) && !/^\d+$/u.test(key.slice(name.length));
}

const SHORTENED_MIN = 3;

/** Insertions, deletions, replacements and swaps of neighbours: the optimal string alignment distance. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const above = rows[i - 1] as number[];
      const replaced = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? ((rows[i - 2] as number[])[j - 2] as number) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, (above[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? Infinity;
}
