/**
 * Answers for a chain of levels from checks of single ones. A level forbids what the weaker ones forbid: a history that violates one violates
 * the stronger ones, and one that satisfies it satisfies the weaker ones. So not every level is checked, and what a search gave up on may be known.
 */

/** Of one level. */
export interface LevelAnswer {
  readonly kind: 'satisfied' | 'violated' | 'unknown';
}

/**
 * `weakest-first` finds the violation to show without checking more. `strongest-first` pays where each check is a search: one that is satisfied
 * is all.
 */
export type LevelsOrder = 'weakest-first' | 'strongest-first';

/**
 * Checks until the answers for all levels follow, or there is no level left.
 * @param levels weakest first
 * @param check with how many levels there are still to check, this one included
 * @param onFound called before each level, and after the last
 * @param above stronger than all of them, `null`: none; checked too where the first check of `strongest-first` gives up. At a stronger level
 *   fewer writers are possible, and a search may come to its end
 * @returns the answers of the levels that were checked
 */
export function checkInTurn<Level, Answer extends LevelAnswer>(
  levels: readonly Level[],
  order: LevelsOrder,
  check: (level: Level, left: number) => Answer,
  onFound: (found: ReadonlyMap<Level, Answer>) => void = () => {},
  above: Level | null = null,
): ReadonlyMap<Level, Answer> {
  const found = new Map<Level, Answer>();
  onFound(found);
  const enough = order === 'weakest-first' ? 'violated' : 'satisfied';
  const turns = order === 'weakest-first' ? levels : levels.toReversed();
  const more = order === 'strongest-first' && above !== null ? 1 : 0;
  for (const [i, level] of turns.entries()) {
    let checked = check(level, turns.length - i + more);
    if (i === 0 && above !== null && more === 1 && checked.kind === 'unknown') {
      const stronger = check(above, turns.length - i);
      if (stronger.kind === 'satisfied') checked = stronger;
    }
    found.set(level, checked);
    onFound(found);
    if (checked.kind === enough) break;
  }
  return found;
}

/** What follows for each level from those that were checked. `undefined`: nothing, and its own answer, if it has one, is `unknown`. */
export function concludedLevels<Level>(
  levels: readonly Level[],
  found: ReadonlyMap<Level, LevelAnswer>,
): (level: Level) => 'satisfied' | 'violated' | undefined {
  const weakest = levels.findIndex((level) => found.get(level)?.kind === 'violated');
  const strongest = levels.findLastIndex((level) => found.get(level)?.kind === 'satisfied');
  return (level) => {
    const i = levels.indexOf(level);
    if (weakest >= 0 && i >= weakest) return 'violated';
    return i <= strongest ? 'satisfied' : undefined;
  };
}
