/**
 * Executions: an order of the observed transactions and the states that it passes through. SEFM 2020, section 3, Listings 1 and 2.
 * Slow and literal: what the search finds is asked of these functions.
 *
 * A state is known by its position, not by its values: the effects of the first p transactions make state p. The paper's TLA+ finds
 * states by value and transactions by their operations; there, equal transactions collapse into one, and a transaction that writes
 * nothing stands wherever its state was first. Here each has its position, effects fold from left to right, and a read after an own
 * write sees the last of them. (Cost: quadratic in the transactions, times their operations.)
 */
import { assert } from '../base/index.ts';
import { INITIAL, type Key, type Operation, type Read, type TransactionIndex, type Value } from '../history/index.ts';
import { sameValue } from '../history/index.ts';
import { finalWrites, type ObservedTransactions } from './observed.ts';

/** State p is what the first p transactions of the execution left. */
export type StatePosition = number;

/** What a key holds in a state, and whose write that was. */
export interface Cell {
  readonly value: Value;
  readonly writer: TransactionIndex;
}

export type State = ReadonlyMap<Key, Cell>;

export interface Execution {
  readonly observed: ObservedTransactions;
  readonly order: readonly TransactionIndex[];
  /** One more than transactions. */
  readonly states: readonly State[];
}

/** @param order the committed transactions and any of unknown fate, each once */
export function executionOf(observed: ObservedTransactions, order: readonly TransactionIndex[]): Execution {
  assert(isOrderOf(observed, order), `[${order.join(' ')}] is no order of the observed transactions`);
  const states = [initialState(observed)];
  for (const t of order) states.push(effects(states.at(-1) as State, operationsOf(observed, t), t));
  return { observed, order, states };
}

/** Every execution: every order of the committed transactions, with every choice of those of unknown fate. */
export function* executions(observed: ObservedTransactions): Generator<Execution> {
  for (const order of orders(observed, [])) yield executionOf(observed, order);
}

export function initialState({ initial }: ObservedTransactions): State {
  return new Map([...initial].map(([key, value]) => [key, { value, writer: INITIAL }]));
}

/** The state after `state` when a transaction with these operations commits. */
export function effects(state: State, operations: readonly Operation[], writer: TransactionIndex): State {
  return new Map([...state, ...[...finalWrites(operations)].map(([key, value]) => [key, { value, writer }] as const)]);
}

export function cellOf(state: State, key: Key): Cell {
  return state.get(key) ?? { value: null, writer: INITIAL };
}

/** s_p: the state that a transaction started from. */
export function parentState(e: Execution, t: TransactionIndex): StatePosition {
  const position = e.order.indexOf(t);
  assert(position >= 0, `transaction ${t} is not in the execution [${e.order.join(' ')}]`);
  return position;
}

/** s_T: the state that a transaction made. */
export function resultState(e: Execution, t: TransactionIndex): StatePosition {
  return parentState(e, t) + 1;
}

/** The transaction that made a state; `INITIAL` for the first. */
export function makerOf(e: Execution, state: StatePosition): TransactionIndex {
  return e.order[state - 1] ?? INITIAL;
}

/**
 * RS_e(o): the states that an operation may have read from, ascending. Of a write: all up to the parent, by convention. Of a read
 * after an own write: the same if it saw the last of them, else none. The paper's b2 accepts any earlier own write and, beside it,
 * any state with the value: w x 1, r x 0 would be fine.
 */
export function readStates(e: Execution, t: TransactionIndex, operation: number): readonly StatePosition[] {
  const operations = operationsOf(e.observed, t);
  const o = operations[operation];
  assert(o !== undefined, `transaction ${t} has no operation ${operation}`);
  const upToParent = Array.from({ length: parentState(e, t) + 1 }, (_, state) => state);
  if (o.kind === 'write') return upToParent;
  const own = operations.findLast((w, i) => i < operation && w.kind === 'write' && w.key === o.key);
  if (own !== undefined) return sameValue(own.value, o.value) && (o.from ?? t) === t ? upToParent : [];
  return upToParent.filter((state) => shows(cellOf(e.states[state], o.key), o));
}

/** Where a history records which write a read saw, an equal value of another write is not it. */
function shows(cell: Cell, read: Read): boolean {
  return sameValue(cell.value, read.value) && (read.from === undefined || read.from === cell.writer);
}

/** PREREAD_e(T): every operation has a read state. */
export function preread(e: Execution, t: TransactionIndex): boolean {
  return operationsOf(e.observed, t).every((_, operation) => readStates(e, t, operation).length > 0);
}

/** COMPLETE_e,T(s): all of T's operations may have read from s, which is not after the parent. A T without operations reads from any. */
export function complete(e: Execution, t: TransactionIndex, state: StatePosition): boolean {
  return (
    state <= parentState(e, t) &&
    operationsOf(e.observed, t).every((_, operation) => readStates(e, t, operation).includes(state))
  );
}

/**
 * NO-CONF_T(s): from s to the parent no transaction wrote a key that T writes. By writers: the paper compares values, and so lets pass a
 * write of the value that was there, or one that is undone before T.
 */
export function noConf(e: Execution, t: TransactionIndex, state: StatePosition): boolean {
  return conflicts(e, t, state).length === 0;
}

/** The transactions between a state and the parent of T that write a key of T, in order. */
export function conflicts(e: Execution, t: TransactionIndex, state: StatePosition): readonly TransactionIndex[] {
  return e.order.slice(state, parentState(e, t)).filter((other) => writeSameKey(e, other, t));
}

/**
 * T' |> T: the transactions whose effects T depends on. Those that made the first state that a read of T may have seen, those before
 * T that write a key of T, and what precedes them.
 */
export function preceding(e: Execution, t: TransactionIndex): ReadonlySet<TransactionIndex> {
  const found = new Set<TransactionIndex>();
  const queue = [t];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const before of precedingDirectly(e, next)) {
      if (found.has(before)) continue;
      found.add(before);
      queue.push(before);
    }
  }
  return found;
}

function precedingDirectly(e: Execution, t: TransactionIndex): readonly TransactionIndex[] {
  const makers = operationsOf(e.observed, t).flatMap((_, operation) => {
    const first = readStates(e, t, operation)[0];
    return first === undefined || first === 0 ? [] : [makerOf(e, first)];
  });
  return [...makers, ...e.order.slice(0, parentState(e, t)).filter((other) => writeSameKey(e, other, t))];
}

export function operationsOf({ transactions }: ObservedTransactions, t: TransactionIndex): readonly Operation[] {
  return transactions[t]?.operations ?? [];
}

/** W_T contains the key. */
export function writes(e: Execution, t: TransactionIndex, key: Key): boolean {
  return operationsOf(e.observed, t).some((o) => o.kind === 'write' && o.key === key);
}

function writeSameKey(e: Execution, a: TransactionIndex, b: TransactionIndex): boolean {
  return operationsOf(e.observed, a).some((o) => o.kind === 'write' && writes(e, b, o.key));
}

function isOrderOf({ transactions }: ObservedTransactions, order: readonly TransactionIndex[]): boolean {
  const given = new Set(order);
  return (
    given.size === order.length &&
    order.every((t) => transactions[t] !== undefined && transactions[t].status !== 'aborted') &&
    transactions.every(({ status = 'committed' }, t) => status !== 'committed' || given.has(t))
  );
}

function* orders(
  { transactions }: ObservedTransactions,
  placed: readonly TransactionIndex[],
): Generator<readonly TransactionIndex[]> {
  const left = [...transactions.keys()].filter((t) => transactions[t]?.status !== 'aborted' && !placed.includes(t));
  if (left.every((t) => transactions[t]?.status === 'unknown')) yield placed;
  for (const t of left) yield* orders({ transactions, initial: new Map() }, [...placed, t]);
}
