/**
 * The JSON of TimeKiller (Chronos and Aion): transactions with the database's own start and commit timestamps. FertileFragrance/TimeKiller:
 * README.md.
 *
 *     [{"tid":67,"sid":19,"sts":{"p":1691420095436341,"l":61},"cts":{"p":...,"l":18},"ops":[{"t":"w","k":7,"v":2},{"t":"r","k":8}]}]
 *
 * A timestamp is a physical part, which may be a text, and a logical one. The times of the history are their ranks, so that one number holds
 * both; so real time is here what the database says it is. A session is in the order of its start timestamps. No value, or null, is the initial
 * one. `a` appends to a list.
 */
import { InputError, type Place } from '../../base/index.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import type { CompactHistory } from '../compact-history.ts';
import type { Value } from '../value.ts';
import { type HistoryFormat, type HistorySource, onlySource } from './format.ts';
import { FormSplitter } from './form-splitter.ts';
import {
  arrayIn,
  beginsList,
  exactValue,
  headOf,
  isObject,
  type JsonObject,
  keyName,
  parseExactJson,
  shown,
  textOf,
} from './source-text.ts';

export const chronosFormat: HistoryFormat = {
  name: 'chronos',
  extensions: [],
  detect: (firstBytes) => {
    const head = headOf(firstBytes);
    return /^\[?\s*\{/.test(head) && /"(?:sts|cts)"\s*:\s*\{\s*"[pl]"/.test(head);
  },
  marksEnd: beginsList,
  read: (sources) => readChronos(onlySource('chronos', sources)),
};

interface Timestamp {
  readonly physical: bigint;
  readonly logical: bigint;
}

interface Transaction {
  readonly id: string;
  readonly session: string;
  readonly start: Timestamp;
  readonly commit: Timestamp;
  readonly operations: readonly Operation[];
  readonly line: number;
}

interface Operation {
  readonly kind: 'r' | 'w' | 'a';
  readonly key: string;
  readonly value: Value;
}

async function readChronos(source: HistorySource): Promise<CompactHistory> {
  const splitter = new FormSplitter('json');
  const transactions: Transaction[] = [];
  const take = ({ text, line }: { text: string; line: number }): void =>
    void transactions.push(transactionOf(parseExactJson(text, { line }), line));
  for await (const piece of textOf(source)) splitter.push(piece).forEach(take);
  splitter.finish().forEach(take);
  return build(transactions);
}

function build(transactions: Transaction[]): CompactHistory {
  const builder = new CompactHistoryBuilder();
  const rank = ranks(transactions.flatMap(({ start, commit }) => [start, commit]));
  for (const { session } of transactions) builder.session(session);
  for (const { session, id, start, commit, operations, line } of transactions.toSorted((a, b) =>
    compare(a.start, b.start),
  )) {
    for (const { kind, key: name, value } of operations) {
      const key = builder.key(name);
      const seen = builder.value(key, value);
      if (kind === 'r') builder.read(key, seen);
      else if (kind === 'w') builder.write(key, seen);
      else builder.append(key, seen);
    }
    builder.endTransaction(builder.session(session), { id, start: rank(start), end: rank(commit), line });
  }
  return builder.finish();
}

function compare(a: Timestamp, b: Timestamp): number {
  if (a.physical !== b.physical) return a.physical < b.physical ? -1 : 1;
  return a.logical === b.logical ? 0 : a.logical < b.logical ? -1 : 1;
}

function ranks(timestamps: readonly Timestamp[]): (timestamp: Timestamp) => number {
  const ranked = new Map<string, number>();
  const text = ({ physical, logical }: Timestamp): string => `${physical}.${logical}`;
  for (const timestamp of timestamps.toSorted(compare))
    if (!ranked.has(text(timestamp))) ranked.set(text(timestamp), ranked.size);
  return (timestamp) => ranked.get(text(timestamp)) ?? 0;
}

function transactionOf(form: unknown, line: number): Transaction {
  const place = { line };
  if (!isObject(form)) throw new InputError('history/field', `a transaction is an object, not ${shown(form)}`, place);
  const transaction = {
    id: keyName(form['tid'], place),
    session: keyName(form['sid'], place),
    start: timestampOf(form, 'sts', place),
    commit: timestampOf(form, 'cts', place),
    operations: arrayIn(form, 'ops', place).map((operation) => operationOf(operation, place)),
    line,
  };
  if (compare(transaction.start, transaction.commit) <= 0) return transaction;
  throw new InputError('history/field', `transaction ${transaction.id} commits before it starts`, place);
}

function timestampOf(form: JsonObject, field: string, place: Place): Timestamp {
  const parts = form[field];
  if (isObject(parts)) {
    const [physical, logical] = [integerOf(parts['p']), integerOf(parts['l'] ?? 0)];
    if (physical !== null && logical !== null) return { physical, logical };
  }
  throw new InputError('history/field', `"${field}" is {"p": integer, "l": integer}, not ${shown(parts)}`, place);
}

function integerOf(value: unknown): bigint | null {
  if (typeof value === 'string' && /^-?\d{1,40}$/.test(value)) return BigInt(value);
  return Number.isSafeInteger(value) ? BigInt(value as number) : null;
}

function operationOf(operation: unknown, place: Place): Operation {
  if (isObject(operation)) {
    const { t: kind, k: key, v: value = null } = operation;
    if (kind === 'r') return { kind, key: keyName(key, place), value: exactValue(value, place) };
    if ((kind === 'w' || kind === 'a') && value !== null)
      return { kind, key: keyName(key, place), value: exactValue(value, place) };
  }
  throw new InputError(
    'history/field',
    `an operation is {"t": "r", "w" or "a", "k", "v"}, not ${shown(operation)}`,
    place,
  );
}
