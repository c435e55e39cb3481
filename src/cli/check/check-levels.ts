/**
 * Answers for a chain of levels from checks of single ones. A level forbids what the weaker ones forbid: a history that violates one violates
 * the stronger ones, and one that satisfies it satisfies the weaker ones. So not every level is checked, and what a search gave up on may be known.
 */
import type { CompactLevel } from '../../check/index.ts';
import { stopText } from '../../base/index.ts';
import type { Answer, Violation } from './check-report.ts';

export interface CheckedLevel {
  readonly answer: Answer;
  /** Where the answer is `violated`. */
  readonly violation: Violation | null;
}

export interface CheckedLevels {
  /** Weakest first. */
  readonly answers: ReadonlyMap<CompactLevel, Answer>;
  /** Of the weakest level that is violated. */
  readonly violation: Violation | null;
}

/**
 * @param levels weakest first
 * @param order `weakest-first` finds the violation to show without checking more. `strongest-first` pays where each check is a search: one that
 *   is satisfied is all.
 * @param check with how many levels there are still to check, this one included
 * @param onFound called before each level, and after the last
 * @param above stronger than all of them, `null`: none; checked too where the first check of `strongest-first` gives up. At a stronger level
 *   fewer writers are possible, and a search may come to its end
 */
export function checkLevels(
  levels: readonly CompactLevel[],
  order: 'weakest-first' | 'strongest-first',
  check: (level: CompactLevel, left: number) => CheckedLevel,
  onFound: (soFar: CheckedLevels) => void,
  above: CompactLevel | null = null,
): CheckedLevels {
  const found = new Map<CompactLevel, CheckedLevel>();
  onFound(levelsOf(levels, found));
  const enough = order === 'weakest-first' ? 'violated' : 'satisfied';
  const turns = order === 'weakest-first' ? levels : levels.toReversed();
  const more = order === 'strongest-first' && above !== null ? 1 : 0;
  for (const [i, level] of turns.entries()) {
    let checked = check(level, turns.length - i + more);
    if (i === 0 && more === 1 && checked.answer.kind === 'unknown') {
      const stronger = check(above as CompactLevel, turns.length - i);
      if (stronger.answer.kind === 'satisfied') checked = stronger;
    }
    found.set(level, checked);
    onFound(levelsOf(levels, found));
    if (checked.answer.kind === enough) break;
  }
  return levelsOf(levels, found);
}

const notChecked: Answer = { kind: 'unknown', text: `unknown: ${stopText('interrupted')}` };

/** What follows from the levels that were checked; the others are not known. */
export function levelsOf(
  levels: readonly CompactLevel[],
  found: ReadonlyMap<CompactLevel, CheckedLevel>,
): CheckedLevels {
  const kindOf = (level: CompactLevel): Answer['kind'] | undefined => found.get(level)?.answer.kind;
  const weakest = levels.findIndex((level) => kindOf(level) === 'violated');
  const strongest = levels.findLastIndex((level) => kindOf(level) === 'satisfied');
  const answerOf = (level: CompactLevel, i: number): Answer => {
    if (weakest >= 0 && i >= weakest) return { kind: 'violated', text: 'violated' };
    if (i <= strongest) return { kind: 'satisfied', text: 'satisfied' };
    return found.get(level)?.answer ?? notChecked;
  };
  return {
    answers: new Map(levels.map((level, i) => [level, answerOf(level, i)])),
    violation: weakest < 0 ? null : (found.get(levels[weakest] as CompactLevel)?.violation ?? null),
  };
}
