/** Which checker judges a history: by its size, by what its operations are, and by the levels that are asked for. */
import { type CompactHistory, compactOf, type History, relationsOf } from '../history/index.ts';
import type { IsolationLevel, Verdict } from '../isolation/index.ts';
import { checkerOf, type CheckOptions, levelsOrder } from './check.ts';
import { checkCompact } from './check-compact.ts';
import type { LevelsOrder } from './levels-in-turn.ts';
import { ListCheck, type ListVerdict } from './list-append/check-lists.ts';
import { readsOf } from './reads.ts';
import type { CompactLevel, CompactVerdict } from './verdict.ts';

/** As objects where it is small enough to be shown as a whole, else in columns. */
export type SizedHistory =
  | { readonly size: 'small'; readonly history: History }
  | { readonly size: 'large'; readonly history: CompactHistory };

interface AnyChecker {
  /** Reads of values that no transaction wrote. */
  readonly thinAirReads: number;
  /** In which order the levels are to be checked. */
  readonly order: () => LevelsOrder;
  /** A level above those that are asked for, whose verdict can tell theirs; `null`: none is worth its time. */
  readonly above: CompactLevel | null;
}

/** `whole`: the evidence is shown in the whole history. The time limit is for each level. */
export type LevelChecker = AnyChecker &
  (
    | {
        readonly kind: 'whole';
        readonly history: History;
        readonly check: (level: CompactLevel, timeoutMs: number) => Verdict;
      }
    | {
        readonly kind: 'columns';
        readonly history: CompactHistory;
        readonly check: (level: CompactLevel, timeoutMs: number) => CompactVerdict;
      }
    | {
        readonly kind: 'lists';
        readonly history: CompactHistory;
        readonly lists: ListCheck;
        readonly check: (level: CompactLevel) => ListVerdict;
      }
  );

/** @param levels that are asked for, weakest first @throws InputError `history/duplicate-write` */
export function levelCheckerOf(
  input: SizedHistory,
  levels: readonly CompactLevel[],
  options: Pick<CheckOptions, 'thinAirReads'>,
): LevelChecker {
  const above = levels.includes('serializable') ? null : 'serializable';
  const history = inColumns(input, levels);
  if (history === null) return wholeChecker(input.history as History, above, options);
  return history.lists === null ? columnsChecker(history, above, options) : listsChecker(history, options);
}

/** `pl-2` has no definition on commit orders that respect sessions: only the algorithm on columns knows it. */
function inColumns({ size, history }: SizedHistory, levels: readonly CompactLevel[]): CompactHistory | null {
  if (size === 'large') return history;
  return levels.includes('pl-2') ? compactOf(history) : null;
}

function wholeChecker(
  history: History,
  above: AnyChecker['above'],
  options: Pick<CheckOptions, 'thinAirReads'>,
): LevelChecker {
  const { check, order } = checkerOf(history, options);
  return {
    kind: 'whole',
    history,
    thinAirReads: relationsOf(history).phenomena.filter(({ kind }) => kind === 'thin-air-read').length,
    order,
    above,
    check: (level, timeoutMs) => check(level as IsolationLevel, timeoutMs),
  };
}

function columnsChecker(
  history: CompactHistory,
  above: AnyChecker['above'],
  options: Pick<CheckOptions, 'thinAirReads'>,
): LevelChecker {
  const reads = readsOf(history);
  return {
    kind: 'columns',
    history,
    thinAirReads: reads.thinAirCount,
    order: () => levelsOrder(reads),
    above,
    check: (level, timeoutMs) => checkCompact(history, level, { ...options, reads, timeoutMs }),
  };
}

function listsChecker(history: CompactHistory, options: Pick<CheckOptions, 'thinAirReads'>): LevelChecker {
  const lists = new ListCheck(history, options);
  const check = (level: CompactLevel): ListVerdict => lists.check(level);
  return {
    kind: 'lists',
    history,
    lists,
    thinAirReads: lists.thinAirCount,
    order: () => 'weakest-first',
    above: null,
    check,
  };
}
