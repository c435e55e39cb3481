/** The levels of one history as a report shows them: what was checked, and what follows from it. */
import { type CompactLevel, checkInTurn, concludedLevels, type LevelsOrder } from '../../check/index.ts';
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

/** `checkInTurn`, with the report so far. */
export function checkLevels(
  levels: readonly CompactLevel[],
  order: LevelsOrder,
  check: (level: CompactLevel, left: number) => CheckedLevel,
  onFound: (soFar: CheckedLevels) => void,
  above: CompactLevel | null = null,
): CheckedLevels {
  const checkOne = (level: CompactLevel, left: number): FoundLevel => {
    const checked = check(level, left);
    return { kind: checked.answer.kind, ...checked };
  };
  return levelsOf(
    levels,
    checkInTurn(levels, order, checkOne, (found) => onFound(levelsOf(levels, found)), above),
  );
}

interface FoundLevel extends CheckedLevel {
  readonly kind: Answer['kind'];
}

const notChecked: Answer = { kind: 'unknown', text: `unknown: ${stopText('interrupted')}` };

/** What follows from the levels that were checked; the others are not known. */
export function levelsOf(levels: readonly CompactLevel[], found: ReadonlyMap<CompactLevel, FoundLevel>): CheckedLevels {
  const concluded = concludedLevels(levels, found);
  const answerOf = (level: CompactLevel): Answer => {
    const kind = concluded(level);
    return kind === undefined ? (found.get(level)?.answer ?? notChecked) : { kind, text: kind };
  };
  const weakest = levels.find((level) => found.get(level)?.kind === 'violated');
  return {
    answers: new Map(levels.map((level) => [level, answerOf(level)])),
    violation: weakest === undefined ? null : (found.get(weakest)?.violation ?? null),
  };
}
