/** Between `History` and `CompactHistory`, and a part of a large history for people to look at. */
import { InputError } from '../base/index.ts';
import { CompactHistoryBuilder } from './compact-builder.ts';
import { type CompactHistory, fromUnrecorded, operationKind, placeOf, statuses } from './compact-history.ts';
import { type History, type Operation, type Transaction, type TransactionIndex } from './history.ts';
import type { Key, Value } from './value.ts';

/** The same history as columns. */
export function compactOf(history: History): CompactHistory {
  const builder = new CompactHistoryBuilder();
  for (const name of history.sessions) builder.session(name);
  for (const [key, value] of history.initial) builder.initial(key, value);
  for (const { session, status, operations, start, end, id, level } of history.transactions) {
    for (const operation of operations) {
      const key = builder.key(operation.key);
      const value = builder.value(key, operation.value);
      if (operation.kind === 'write') builder.write(key, value);
      else {
        builder.read(key, value, operation.from);
        if (operation.condition !== undefined) builder.condition(operation.condition);
      }
    }
    builder.endTransaction(session, { status, start, end, level, id });
  }
  return builder.finish();
}

/** The same history as objects; for some thousand transactions. @throws InputError `history/append`: it has lists, and objects do not */
export function historyOf(compact: CompactHistory): History {
  const initial = new Map<Key, Value>();
  compact.initialValue.forEach((id, key) => {
    const value = compact.names.value(id);
    if (value !== null) initial.set(compact.names.key(key), value);
  });
  return {
    sessions: Array.from({ length: compact.sessionCount }, (_, s) => compact.names.session(s)),
    transactions: Array.from({ length: compact.transactionCount }, (_, t) => transactionOf(compact, t)),
    initial,
  };
}

function transactionOf(compact: CompactHistory, t: TransactionIndex): Transaction {
  const [first, after] = [compact.operationStart[t] as number, compact.operationStart[t + 1] as number];
  const [start, end] = [timeOf(compact.start, t), timeOf(compact.end, t)];
  const level = compact.names.level(t);
  return {
    id: compact.names.id(t),
    session: compact.session[t] as number,
    status: statuses[compact.status[t] as number] ?? 'committed',
    operations: Array.from({ length: after - first }, (_, i) => operationOf(compact, t, first + i)),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(level === undefined ? {} : { level }),
  };
}

function timeOf(times: Float64Array | null, t: TransactionIndex): number | undefined {
  const time = times?.[t] ?? NaN;
  return Number.isNaN(time) ? undefined : time;
}

function operationOf(compact: CompactHistory, t: TransactionIndex, o: number): Operation {
  const key = compact.names.key(compact.key[o] as number);
  const kind = compact.kind[o] as number;
  if (kind !== operationKind.read && kind !== operationKind.write)
    throw new InputError('history/append', `${key} is a list: only registers can be shown so far`, placeOf(compact, t));
  const value = compact.names.value(compact.value[o] as number);
  if (kind === operationKind.write) return { kind: 'write', key, value };
  const from = compact.from?.[o] ?? fromUnrecorded;
  const condition = compact.conditions.get(o);
  return {
    kind: 'read',
    key,
    value,
    ...(from === fromUnrecorded ? {} : { from }),
    ...(condition === undefined ? {} : { condition }),
  };
}

/**
 * Some transactions of a history as a history of its own, under their IDs. An operation that `keeps` refuses is left out, as is a read
 * whose recorded writer is not among them.
 * @param transactions in any order, each once
 */
export function subHistory(
  compact: CompactHistory,
  transactions: Iterable<TransactionIndex>,
  keeps: (operation: number) => boolean = () => true,
): CompactHistory {
  const taken = [...transactions].toSorted((a, b) => a - b);
  const indexes = new Map(taken.map((t, i) => [t, i]));
  const sessions = [...new Set(taken.map((t) => compact.session[t] as number))].toSorted((a, b) => a - b);
  const builder = new CompactHistoryBuilder();
  const newSession = new Map(sessions.map((s) => [s, builder.session(compact.names.session(s))]));
  const keys = new Map<number, number>();
  const keyOf = (k: number): number => {
    const known = keys.get(k);
    if (known !== undefined) return known;
    const name = compact.names.key(k);
    builder.initial(name, compact.names.value(compact.initialValue[k] as number));
    keys.set(k, builder.key(name));
    return builder.key(name);
  };
  for (const t of taken) {
    for (let o = compact.operationStart[t] as number; o < (compact.operationStart[t + 1] as number); o += 1) {
      if (keeps(o)) copyOperation(compact, o, builder, keyOf(compact.key[o] as number), indexes);
    }
    builder.endTransaction(newSession.get(compact.session[t] as number) ?? 0, {
      status: statuses[compact.status[t] as number] ?? 'committed',
      start: timeOf(compact.start, t),
      end: timeOf(compact.end, t),
      id: compact.names.id(t),
      level: compact.names.level(t),
      line: compact.line?.[t],
    });
  }
  return builder.finish();
}

function copyOperation(
  compact: CompactHistory,
  o: number,
  builder: CompactHistoryBuilder,
  key: number,
  indexes: ReadonlyMap<TransactionIndex, number>,
): void {
  const value = compact.value[o] as number;
  switch (compact.kind[o]) {
    case operationKind.write:
      return builder.write(key, builder.value(key, compact.names.value(value)));
    case operationKind.append:
      return builder.append(key, builder.value(key, compact.names.value(value)));
    case operationKind.listRead:
      return builder.read(key, builder.value(key, listOf(compact, value)));
    default: {
      const from = compact.from?.[o] ?? fromUnrecorded;
      const writer = from < 0 ? from : indexes.get(from);
      if (writer === undefined) return;
      builder.read(key, builder.value(key, compact.names.value(value)), writer);
      const condition = compact.conditions.get(o);
      if (condition !== undefined) builder.condition(condition);
    }
  }
}

/** What a list read saw, as a value. */
export function listOf(compact: CompactHistory, list: number): Value[] {
  const { start, element } = compact.lists ?? { start: new Int32Array(2), element: new Int32Array() };
  return [...element.subarray(start[list], start[list + 1])].map((id) => compact.names.value(id));
}
