/**
 * Small histories from choices: every one of a size with `forEveryChoice`, random ones with a seed or fast-check. For tests of
 * everything that answers to the definition.
 *
 * Written values are 1, 2, ... and all different. Of histories that differ only in the names of keys there is one.
 */
import type { Chooser } from '../base/index.ts';
import {
  defaultId,
  type History,
  type Operation,
  type Status,
  type Transaction,
  type Value,
} from '../history/index.ts';
import type { IsolationLevel } from './level.ts';

export interface SmallHistoryOptions {
  readonly transactionsMin?: number;
  readonly transactionsMax: number;
  readonly operationsMin?: number;
  /** Per transaction. */
  readonly operationsMax: number;
  readonly keysMax: number;
  /**
   * `final` (default): a read sees the last own write, where there is one, and otherwise the initial value or what another transaction
   * wrote last. `any`: it may see every value that anybody wrote to its key.
   */
  readonly reads?: 'final' | 'any';
  /** Default: all are committed. */
  readonly statuses?: readonly Status[];
  /** Where given, each transaction asks for one of these. */
  readonly levels?: readonly IsolationLevel[];
  /** Do transactions have times? Those of a session come one after another; each lasts up to this long. */
  readonly lengthMax?: number;
}

export function smallHistory(chooser: Chooser, options: SmallHistoryOptions): History {
  const drafts = draftTransactions(chooser, options);
  const resolve = readResolver(chooser, drafts, options.reads ?? 'final');
  const sessions = [...new Set(drafts.map(({ session }) => session))].map((session) =>
    String.fromCharCode(97 + session),
  );
  const ends = new Map<number, number>();
  return {
    sessions,
    initial: new Map(),
    transactions: drafts.map(({ session, index, status, level, operations }, t): Transaction => {
      const resolved = operations.map((draft, o) => resolve(draft, t, o));
      const times = options.lengthMax === undefined ? {} : chooseTimes(chooser, ends, session, options.lengthMax);
      const id = defaultId(sessions[session] as string, index);
      return { id, session, status, operations: resolved, ...times, ...(level === undefined ? {} : { level }) };
    }),
  };
}

interface DraftOperation {
  readonly key: string;
  /** Absent for a read. */
  readonly written?: number;
}

interface DraftTransaction {
  readonly session: number;
  readonly index: number;
  readonly status: Status;
  readonly level: IsolationLevel | undefined;
  readonly operations: readonly DraftOperation[];
}

function draftTransactions(chooser: Chooser, options: SmallHistoryOptions): DraftTransaction[] {
  const { transactionsMin = 1, transactionsMax, operationsMin = 1, operationsMax, keysMax } = options;
  const { statuses = ['committed'], levels } = options;
  const drafts: DraftTransaction[] = [];
  let keys = 0;
  let written = 0;
  const draftOperation = (): DraftOperation => {
    const isWrite = chooser.choose(2) === 0;
    const key = chooser.choose(Math.min(keys + 1, keysMax));
    keys = Math.max(keys, key + 1);
    const name = String.fromCharCode(120 + key);
    return isWrite ? { key: name, written: (written += 1) } : { key: name };
  };
  const transactions = between(chooser, transactionsMin, transactionsMax);
  for (let t = 0; t < transactions; t += 1) {
    const previous = drafts.at(-1);
    const starts = previous === undefined || chooser.choose(2) === 0;
    const length = between(chooser, operationsMin, operationsMax);
    drafts.push({
      session: (previous?.session ?? -1) + (starts ? 1 : 0),
      index: starts ? 0 : (previous?.index ?? -1) + 1,
      status: pick(chooser, statuses),
      level: levels === undefined ? undefined : pick(chooser, levels),
      operations: Array.from({ length }, draftOperation),
    });
  }
  return drafts;
}

type ResolveOperation = (draft: DraftOperation, t: number, operation: number) => Operation;

function readResolver(chooser: Chooser, drafts: readonly DraftTransaction[], reads: 'final' | 'any'): ResolveOperation {
  const writesTo = (key: string, operations: readonly DraftOperation[]): number[] =>
    operations.flatMap((o) => (o.key === key && o.written !== undefined ? [o.written] : []));
  return ({ key, written }, t, operation) => {
    if (written !== undefined) return { kind: 'write', key, value: written };
    const own = writesTo(key, (drafts[t] as DraftTransaction).operations.slice(0, operation)).at(-1);
    if (own !== undefined && reads === 'final') return { kind: 'read', key, value: own };
    const seen = drafts.flatMap(({ operations }, other) => {
      const values = writesTo(key, operations);
      return reads === 'any' ? values : other === t ? [] : values.slice(-1);
    });
    return { kind: 'read', key, value: pick<Value>(chooser, [null, ...seen]) };
  };
}

function chooseTimes(
  chooser: Chooser,
  ends: Map<number, number>,
  session: number,
  lengthMax: number,
): { start: number; end: number } {
  const start = (ends.get(session) ?? 0) + 1 + chooser.choose(lengthMax);
  const end = start + chooser.choose(lengthMax);
  ends.set(session, end);
  return { start, end };
}

const between = (chooser: Chooser, min: number, max: number): number => min + chooser.choose(max - min + 1);
const pick = <T>(chooser: Chooser, options: readonly T[]): T => options[chooser.choose(options.length)] as T;
