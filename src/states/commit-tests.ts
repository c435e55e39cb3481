/**
 * The commit tests: a set of transactions is at a level when some execution of it passes the level's test for each of them. This is
 * the definition; `level.ts` says where each row comes from.
 */
import type { TransactionIndex } from '../history/index.ts';
import {
  complete,
  type Execution,
  makerOf,
  noConf,
  operationsOf,
  parentState,
  preceding,
  preread,
  readStates,
  resultState,
  type StatePosition,
  writes,
} from './execution.ts';
import type { CommitTestLevel } from './level.ts';
import { endedBefore, precedesInSession } from './observed.ts';

type CommitTest = (e: Execution, t: TransactionIndex) => boolean;

export const commitTests: Record<CommitTestLevel, CommitTest> = {
  'read-uncommitted': () => true,
  preread,
  'read-atomic': (e, t) => preread(e, t) && fractures(e, t).length === 0,
  'parallel-snapshot-isolation': (e, t) => preread(e, t) && unseen(e, t).length === 0,
  'snapshot-isolation': (e, t) => someState(e, t, (s) => complete(e, t, s) && noConf(e, t, s)),
  'session-snapshot-isolation': (e, t) =>
    someState(e, t, (s) => complete(e, t, s) && noConf(e, t, s) && missedInSession(e, t, s).length === 0),
  serializable: (e, t) => complete(e, t, parentState(e, t)),
  'strict-serializable': (e, t) => complete(e, t, parentState(e, t)) && missedInTime(e, t).length === 0,
};

/** Does every transaction pass? */
export function passes(e: Execution, level: CommitTestLevel): boolean {
  return e.order.every((t) => commitTests[level](e, t));
}

/** Operation `seen` shows that T saw the effects of `by`; operation `missed` reads from a state before them. */
export interface Fracture {
  readonly seen: number;
  readonly missed: number;
  readonly by: TransactionIndex;
}

/** For T with PREREAD: the pairs of operations that see one part of another transaction and miss another part. */
export function fractures(e: Execution, t: TransactionIndex): readonly Fracture[] {
  const operations = operationsOf(e.observed, t);
  return [...operations.keys()].flatMap((seen) => {
    const first = readStates(e, t, seen)[0];
    if (first === 0) return [];
    const by = makerOf(e, first);
    return [...operations.keys()]
      .filter((o) => writes(e, by, operations[o]?.key) && first > lastReadState(e, t, o))
      .map((missed) => ({ seen, missed, by }));
  });
}

/** `by` precedes T and wrote the key of the operation, which reads from a state before that. */
export interface Unseen {
  readonly operation: number;
  readonly by: TransactionIndex;
}

/** For T with PREREAD: where T misses effects that it depends on. */
export function unseen(e: Execution, t: TransactionIndex): readonly Unseen[] {
  const operations = operationsOf(e.observed, t);
  return [...preceding(e, t)].flatMap((by) =>
    [...operations.keys()]
      .filter((o) => writes(e, by, operations[o]?.key) && resultState(e, by) > lastReadState(e, t, o))
      .map((operation) => ({ operation, by })),
  );
}

function lastReadState(e: Execution, t: TransactionIndex, operation: number): StatePosition {
  return readStates(e, t, operation).at(-1) ?? -1;
}

/** The transactions before T in its session whose effects are not in the state. */
export function missedInSession(e: Execution, t: TransactionIndex, s: StatePosition): readonly TransactionIndex[] {
  return e.order.filter((other) => precedesInSession(e.observed, other, t) && resultState(e, other) > s);
}

/**
 * The transactions that ended before T started and come after it. By result states: the paper compares parent states, where a stale
 * read after a commit passes when it writes nothing, for its parent is found to be the state before that commit.
 */
export function missedInTime(e: Execution, t: TransactionIndex): readonly TransactionIndex[] {
  return e.order.filter((other) => endedBefore(e.observed, other, t) && resultState(e, other) > parentState(e, t));
}

function someState(e: Execution, t: TransactionIndex, holds: (s: StatePosition) => boolean): boolean {
  return e.order.some((_, s) => s <= parentState(e, t) && holds(s));
}
