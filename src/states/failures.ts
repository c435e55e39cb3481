/** Why a transaction does not pass its commit test in an execution: facts of the execution, none exactly where the test holds. */
import type { TransactionIndex } from '../history/index.ts';
import { fractures, missedInSession, missedInTime, unseen } from './commit-tests.ts';
import {
  complete,
  conflicts,
  type Execution,
  operationsOf,
  parentState,
  readStates,
  type StatePosition,
} from './execution.ts';
import type { CommitTestLevel } from './level.ts';

/** What a transaction fails of its commit test. */
export type Failure =
  /** No state up to the parent shows what the operation read. */
  | { readonly kind: 'no-read-state'; readonly operation: number }
  /** The parent is not one of the read states of the operation. */
  | { readonly kind: 'not-in-parent'; readonly operation: number; readonly readStates: readonly StatePosition[] }
  /** Each operation has read states, but no state is one of all of them. */
  | { readonly kind: 'no-complete-state'; readonly readStates: readonly (readonly StatePosition[])[] }
  /** The state is complete, but `by` wrote a key of the transaction after it. */
  | { readonly kind: 'conflict'; readonly state: StatePosition; readonly by: TransactionIndex }
  /** The state is complete, but `missed`, earlier in the session, comes after it. */
  | { readonly kind: 'session'; readonly state: StatePosition; readonly missed: TransactionIndex }
  /** Operation `seen` saw the effects of `by`, operation `missed` did not. */
  | { readonly kind: 'fracture'; readonly seen: number; readonly missed: number; readonly by: TransactionIndex }
  /** The transaction depends on `by`, but the operation did not see its write. */
  | { readonly kind: 'unseen'; readonly operation: number; readonly by: TransactionIndex }
  /** `missed` ended before the transaction started, but comes after it. */
  | { readonly kind: 'real-time'; readonly missed: TransactionIndex };

type Find = (e: Execution, t: TransactionIndex) => readonly Failure[];

const notRead: Find = (e, t) =>
  operationIndexes(e, t)
    .filter((operation) => readStates(e, t, operation).length === 0)
    .map((operation) => ({ kind: 'no-read-state', operation }));

const notInParent: Find = (e, t) =>
  operationIndexes(e, t)
    .map((operation) => ({ operation, states: readStates(e, t, operation) }))
    .filter(({ states }) => !states.includes(parentState(e, t)))
    .map(({ operation, states }) =>
      states.length === 0
        ? { kind: 'no-read-state', operation }
        : { kind: 'not-in-parent', operation, readStates: states },
    );

/** Of every complete state, what speaks against it; none as soon as one is fine. */
function noSnapshot(withSessions: boolean): Find {
  return (e, t) => {
    const unread = notRead(e, t);
    if (unread.length > 0) return unread;
    const states = completeStates(e, t);
    if (states.length === 0) {
      return [{ kind: 'no-complete-state', readStates: operationIndexes(e, t).map((o) => readStates(e, t, o)) }];
    }
    const against = states.map((state): readonly Failure[] => [
      ...conflicts(e, t, state).map((by) => ({ kind: 'conflict', state, by }) as const),
      ...(withSessions ? missedInSession(e, t, state) : []).map(
        (missed) => ({ kind: 'session', state, missed }) as const,
      ),
    ]);
    return against.some((found) => found.length === 0) ? [] : against.flat();
  };
}

const find: Record<CommitTestLevel, Find> = {
  'read-uncommitted': () => [],
  preread: notRead,
  'read-atomic': orNotRead((e, t) => fractures(e, t).map((fracture) => ({ kind: 'fracture', ...fracture }))),
  'parallel-snapshot-isolation': orNotRead((e, t) => unseen(e, t).map((missed) => ({ kind: 'unseen', ...missed }))),
  'snapshot-isolation': noSnapshot(false),
  'session-snapshot-isolation': noSnapshot(true),
  serializable: notInParent,
  'strict-serializable': (e, t) => [
    ...notInParent(e, t),
    ...missedInTime(e, t).map((missed) => ({ kind: 'real-time', missed }) as const),
  ],
};

export function failuresOf(e: Execution, t: TransactionIndex, level: CommitTestLevel): readonly Failure[] {
  return find[level](e, t);
}

/** The states that every operation may have read from. */
export function completeStates(e: Execution, t: TransactionIndex): readonly StatePosition[] {
  return [...e.states.keys()].filter((state) => complete(e, t, state));
}

function orNotRead(others: Find): Find {
  return (e, t) => {
    const unread = notRead(e, t);
    return unread.length > 0 ? unread : others(e, t);
  };
}

function operationIndexes(e: Execution, t: TransactionIndex): number[] {
  return [...operationsOf(e.observed, t).keys()];
}
