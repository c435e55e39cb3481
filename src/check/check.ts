/**
 * Is a history at a level? One door for histories of every size: the near-linear algorithms decide, and the checker of small histories makes
 * the evidence from the part that shows the violation. The verdict speaks of the whole history.
 */
import { monotonicMs, TimeLimit, within } from '../base/index.ts';
import { type CompactHistory, compactOf, type History } from '../history/index.ts';
import {
  check as checkByDefinition,
  type ChosenWriter,
  type IsolationLevel,
  isolationLevels,
  type Levels,
  parseLevel,
  type Verdict,
  type Violated,
} from '../isolation/index.ts';
import { checkCompact } from './check-compact.ts';
import { evidenceTransactionsMax } from './evidence.ts';
import { checkInTurn, concludedLevels, type LevelsOrder } from './levels-in-turn.ts';
import { verdictInWhole } from './part-evidence.ts';
import { type Reads, readsOf, transactionOf } from './reads.ts';
import type { CompactVerdict, CompactViolated } from './verdict.ts';

/** Limits of a check, and what counts as a violation. */
export interface CheckOptions {
  /**
   * Reads of a value that no transaction wrote. `'forbidden'` (default): they violate read-committed and every level above. `'ignored'`: the
   * history is judged as if these reads were not in it.
   */
  readonly thinAirReads?: 'forbidden' | 'ignored';
  /** Milliseconds; then the verdict is `unknown` with the reason `'time-limit'`. Default: no limit. */
  readonly timeoutMs?: number;
  /** Changes that the search above `causal` may make. Default 2,000,000,000, which takes some minutes. */
  readonly stepsMax?: number;
  /** Choices of writers to try where several transactions wrote what a read saw. Default 10,000. */
  readonly writerChoicesMax?: number;
}

/** So small a history is explained as a whole: of all its cycles the shortest and plainest is shown. */
const wholeTransactionsMax = 30;

/** One level, or each transaction's own: of up to some hundred transactions. @throws InputError `level/unknown`, `history/...` */
export function checkHistory(history: History, level: Levels, options: CheckOptions = {}): Verdict {
  if (typeof level !== 'function') parseLevel(level);
  return checkerOf(history, options).check(level);
}

/** The strongest level at which the history is found to be; `read-uncommitted` asks nothing, so there always is one. */
export function strongestLevelOf(history: History, options: CheckOptions = {}): IsolationLevel {
  const { check } = checkerOf(history, options);
  const found = checkInTurn(isolationLevels, 'strongest-first', (level) => check(level));
  const concluded = concludedLevels(isolationLevels, found);
  return isolationLevels.findLast((level) => concluded(level) === 'satisfied') ?? 'read-uncommitted';
}

/** The weakest level that forbids a history, and why it does. */
export interface WeakestViolation {
  readonly level: IsolationLevel;
  readonly verdict: Violated;
}

/** Up to `serializable`; `null`: none was found, because the history is serializable or a limit ended the search. */
export function weakestViolationOf(history: History, options: CheckOptions = {}): WeakestViolation | null {
  const { check, order } = checkerOf(history, options);
  const levels = isolationLevels.filter((level) => level !== 'strict-serializable');
  const found = checkInTurn(levels, order(), (level) => check(level));
  for (const level of levels) {
    const verdict = found.get(level);
    if (verdict?.kind === 'violated') return { level, verdict };
  }
  return null;
}

/** One history at several levels. */
export interface Checker {
  /** The time limit is for each level. */
  readonly check: (level: Levels, timeoutMs?: number) => Verdict;
  /** In which order levels are checked where the weakest violation is sought: with repeated values each check is a search. */
  readonly order: () => LevelsOrder;
}

/** Checks a history at several levels; what they share is computed once. */
export function checkerOf(history: History, options: CheckOptions): Checker {
  let known: Columns | null = null;
  const columnsOf = (): Columns => {
    if (known !== null) return known;
    const compact = compactOf(history);
    known = { compact, reads: readsOf(compact) };
    return known;
  };
  const check = (level: Levels, timeoutMs = options.timeoutMs ?? Infinity): Verdict => {
    const limit = new TimeLimit(monotonicMs() + timeoutMs);
    // Levels of their own are for histories of some hundred transactions.
    if (typeof level === 'function') return definitely(history, level, options, limit);
    const { compact, reads } = columnsOf();
    const verdict = checkCompact(compact, level, { ...options, timeoutMs, reads });
    if (verdict.kind === 'satisfied') return satisfied(compact, verdict);
    if (verdict.kind === 'unknown') return unknown(history, level, options, limit, verdict);
    return violated(history, level, options, limit, verdict);
  };
  return { check, order: () => levelsOrder(columnsOf().reads) };
}

/** In which order levels are checked where the weakest violation is sought. */
export function levelsOrder({ firstAmbiguous }: Reads): LevelsOrder {
  return firstAmbiguous < 0 ? 'weakest-first' : 'strongest-first';
}

interface Columns {
  readonly compact: CompactHistory;
  readonly reads: Reads;
}

function satisfied(
  history: CompactHistory,
  { commitOrder, chosen }: Extract<CompactVerdict, { kind: 'satisfied' }>,
): Verdict {
  const writers = chosen?.map(({ operation, from }): ChosenWriter => {
    const by = transactionOf(history, operation);
    return { by, operation: operation - history.operationStart[by], from };
  });
  return {
    kind: 'satisfied',
    commitOrder: Array.from(commitOrder),
    ...(writers === undefined ? {} : { writers }),
  };
}

/** Where one search gave up, the other may not. */
function unknown(
  history: History,
  level: IsolationLevel,
  options: CheckOptions,
  limit: TimeLimit,
  { reason }: Extract<CompactVerdict, { kind: 'unknown' }>,
): Verdict {
  const isSearch = reason === 'step-limit' || reason === 'not-searched';
  if (isSearch && history.transactions.length <= evidenceTransactionsMax)
    return definitely(history, level, options, limit);
  return { kind: 'unknown', reason: reason === 'not-searched' ? 'step-limit' : reason };
}

/** With evidence about the whole: from the whole where it is small, else from the part that shows the violation. */
function violated(
  history: History,
  level: IsolationLevel,
  options: CheckOptions,
  limit: TimeLimit,
  found: CompactViolated,
): Violated {
  const { anomaly, evidence, proof } = found;
  const { length } = history.transactions;
  const isBare = evidence === null && proof === undefined;
  if (length <= wholeTransactionsMax || (isBare && length <= evidenceTransactionsMax)) {
    const whole = definitely(history, level, options, limit);
    if (whole.kind === 'violated') return whole;
  }
  if (evidence !== null) return verdictInWhole(evidence);
  return { kind: 'violated', anomaly, cycle: [], ...proof };
}

function definitely(
  history: History,
  level: Levels,
  { stepsMax, writerChoicesMax, thinAirReads }: CheckOptions,
  limit: TimeLimit,
): Verdict {
  const options = {
    limit,
    ...(stepsMax === undefined ? {} : { stepsMax: Math.min(stepsMax, smallStepsMax) }),
    ...(writerChoicesMax === undefined ? {} : { writerChoicesMax: Math.min(writerChoicesMax, smallChoicesMax) }),
    ...(thinAirReads === undefined ? {} : { thinAirReads }),
  };
  return within<Verdict>(() => checkByDefinition(history, level, options), { kind: 'unknown', reason: 'time-limit' });
}

/** The defaults of the checker of small histories, whose steps are dearer. */
const smallStepsMax = 100_000;
const smallChoicesMax = 1_000;
