/**
 * Histories as JSON Lines, a transaction a line; it carries every history.
 *
 *     {"moirai":"history","version":1,"transactions":2,"initial":{"y":0},"sessions":["a","b"]}     optional; as are its last three
 *     {"session":"a","operations":[["w","x",1],["r","y",0]],"status":"committed","start":10,"end":42}
 *     {"session":"b","operations":[["r","x",1,"a/0"],["r","y",0,null]],"id":"audit","level":"causal"}
 *
 * A last line `{"moirai":"end","crc32":"cbf43926"}` may end it (`end-sum.ts`). The fourth element of a read names its writer by ID, which may come later, or null: the initial state. A fifth one, a text, says that
 * the row was looked at because of a condition that it did not satisfy: ["r","t/7",null,null,"n > 3"]. `sessions` gives the names where the
 * lines do not: their order, and sessions without transactions. A field with another name, and one that comes twice, is refused: a misspelt
 * status would make a transaction that aborted a committed one.
 */
import { assert, type Place } from '../base/index.ts';
import { type DraftOperation, type DraftTransaction, historyOf } from './draft.ts';
import { checkSum, endStart } from './end-sum.ts';
import { defaultId, type History, INITIAL, type Operation, type Transaction } from './history.ts';
import {
  checkExact,
  failAt,
  type JsonNode,
  type Line,
  linesOf,
  looksExact,
  partAt,
  placeIn,
  scanJsonLine,
} from './json-text.ts';
import { lineValues, type RefuseField, requireKnown } from './line-fields.ts';
import { elementsMin, headerFields, operationForms, operationShape, transactionFields } from './transaction-line.ts';
import { checkCount } from './transaction-count.ts';
import type { Key, Value } from './value.ts';

const version = 1;

/** What a header begins with, up to the number of transactions. */
export const headerStart = `{"moirai":"history","version":${version},"transactions":`;

/**
 * @throws InputError `history/syntax`, `history/truncated`, `history/shape`, `history/header`, `history/version`,
 *   `history/status`, `history/operation`, `history/append`, `history/times`, `history/value`, `history/duplicate-id`,
 *   `history/unknown-writer`; always with line and column
 */
export function parseHistoryLines(text: string): History {
  checkSum('jsonl', text);
  const written = linesOf(text).filter((line) => /\S/.test(line.text));
  const lines = written.at(-1)?.text.startsWith(endStart) === true ? written.slice(0, -1) : written;
  const first = lines[0] === undefined ? undefined : parseRecord(lines[0]);
  const header = first !== undefined && isHeader(first) ? parseHeader(first) : undefined;
  const transactionLines = lines.slice(header === undefined ? 0 : 1);
  const sessions = new SessionNames(header?.sessions ?? []);
  const transactions = transactionLines.map((line) => parseTransaction(parseRecord(line), sessions));
  header?.checkCount(transactions.length);
  const placeOf = (t: number, path: Path): Place => {
    const line = transactionLines[t];
    assert(line !== undefined, `transaction ${t} stands on no line`);
    return placeIn(line, partAt(scanJsonLine(line), path).at);
  };
  return historyOf(
    { sessions: sessions.names(), transactions, initial: header?.initial ?? new Map() },
    {
      ofId: (t) => placeOf(t, ['id']),
      ofWriter: (t, o) => placeOf(t, ['operations', o, 3]),
    },
  );
}

/** The history as JSON Lines, with a header and a final line break. */
export function formatHistoryLines(history: History): string {
  const transactionsSoFar = history.sessions.map(() => 0);
  const lines = history.transactions.map((transaction) => {
    const index = transactionsSoFar[transaction.session] ?? 0;
    transactionsSoFar[transaction.session] = index + 1;
    return formatTransaction(history, transaction, index);
  });
  return [formatHeader(history), ...lines, ''].join('\n');
}

type Path = readonly (string | number)[];

/** A line that is a JSON object. */
export interface JsonRecord {
  readonly line: Line;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Where its parts stand; scanned at once where a number may be too long for JSON.parse to keep, else when it is asked for. */
  readonly tree: JsonNode | undefined;
}

/** @throws InputError where it is none */
export function parseRecord(line: Line): JsonRecord {
  const fields = parseJson(line);
  if (!isRecord(fields)) failAt(line, scanJsonLine(line).at, 'history/shape', 'a line should be a JSON object');
  const isToScan = /\d{16}/.test(line.text) || mayRepeatFields(line.text, fields);
  return { line, fields, tree: isToScan ? scanJsonLine(line) : undefined };
}

/** The scan refuses a field that comes twice, which JSON.parse does not see. */
function mayRepeatFields(text: string, fields: object): boolean {
  const names = text.match(/"(?:[^"\\]|\\.)*"\s*:/g) ?? [];
  return names.length > Object.keys(fields).length;
}

function parseJson(line: Line): unknown {
  try {
    return JSON.parse(line.text);
  } catch (error) {
    scanJsonLine(line); // throws what JSON.parse threw, with the column
    throw error;
  }
}

function fail({ line, tree }: JsonRecord, path: Path, code: string, message: string): never {
  return failAt(line, partAt(tree ?? scanJsonLine(line), path).at, code, message);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isHeader({ fields }: JsonRecord): boolean {
  return Object.hasOwn(fields, 'moirai') && !Object.hasOwn(fields, 'session');
}

export interface Header {
  readonly initial: Map<Key, Value>;
  readonly sessions: readonly string[];
  /** Of how many transactions follow. @throws InputError `history/truncated`, `history/header` where the header says another number */
  readonly checkCount: (found: number) => void;
}

/** The beginning of a file that says how many transactions are in it, as it is written here. */
export function isCounted(text: string): boolean {
  return text.startsWith(headerStart);
}

export function parseHeader(record: JsonRecord): Header {
  const { moirai, version: given, transactions, initial = {}, sessions = [] } = record.fields;
  if (moirai !== 'history')
    fail(record, ['moirai'], 'history/header', `this is not a history: ${JSON.stringify(moirai)}`);
  if (given !== version) {
    const but = given === undefined ? '' : `, not ${JSON.stringify(given)}`;
    fail(record, ['version'], 'history/version', `the header should give version ${version}${but}`);
  }
  requireKnown(record.fields, headerFields, refusing(record), formatJson);
  const isCount = Number.isSafeInteger(transactions) && (transactions as number) >= 0;
  if (transactions !== undefined && !isCount)
    fail(record, ['transactions'], 'history/header', 'transactions should be the number of lines that follow');
  if (!isRecord(initial)) fail(record, ['initial'], 'history/header', 'the initial values should be a JSON object');
  const isNames = Array.isArray(sessions) && sessions.every((name) => typeof name === 'string');
  if (!isNames || new Set(sessions).size < sessions.length) {
    fail(record, ['sessions'], 'history/header', 'the sessions should be a JSON array of different names');
  }
  const entries = Object.entries(initial).map(
    ([key, value]) => [key, exactValue(record, ['initial', key], value)] as const,
  );
  return {
    initial: new Map(entries),
    sessions,
    checkCount: (found) => {
      if (transactions === undefined || found === transactions) return;
      const { at } = partAt(record.tree ?? scanJsonLine(record.line), ['transactions']);
      checkCount(found, transactions as number, placeIn(record.line, at));
    },
  };
}

/** Sessions by name, in the order in which they were first named. */
class SessionNames {
  private readonly byName = new Map<string, { readonly session: number; transactions: number }>();

  constructor(names: readonly string[]) {
    for (const name of names) this.add(name);
  }

  names(): string[] {
    return [...this.byName.keys()];
  }

  /** The session's position, and that of its next transaction in it. */
  nextOf(name: string): { session: number; index: number } {
    const entry = this.byName.get(name) ?? this.add(name);
    entry.transactions += 1;
    return { session: entry.session, index: entry.transactions - 1 };
  }

  private add(name: string): { readonly session: number; transactions: number } {
    const entry = { session: this.byName.size, transactions: 0 };
    this.byName.set(name, entry);
    return entry;
  }
}

/** What a line says of a transaction; the large form knows appends too. */
export interface LineTransaction extends Omit<DraftTransaction, 'id' | 'session' | 'operations'> {
  readonly sessionName: string;
  readonly id?: string;
  readonly operations: readonly LineOperation[];
}

export interface LineOperation extends Omit<DraftOperation, 'kind'> {
  readonly kind: 'read' | 'write' | 'append';
}

function parseTransaction(record: JsonRecord, sessions: SessionNames): DraftTransaction {
  const { sessionName, id, operations, ...rest } = parseTransactionLine(record);
  const { session, index } = sessions.nextOf(sessionName);
  return {
    ...rest,
    id: id ?? defaultId(sessionName, index),
    session,
    operations: operations.map((operation, o) => registerOperation(record, operation, o)),
  };
}

function registerOperation(record: JsonRecord, { kind, ...rest }: LineOperation, o: number): DraftOperation {
  if (kind !== 'append') return { kind, ...rest };
  const message = 'appends to lists are not supported: registers only, "r" and "w"';
  return fail(record, ['operations', o], 'history/append', message);
}

/** @throws InputError */
export function parseTransactionLine(record: JsonRecord): LineTransaction {
  if (isHeader(record)) fail(record, [], 'history/header', 'a header stands on the first line only');
  const values = lineValues(record.fields, transactionFields, refusing(record), formatJson);
  const { session: sessionName, operations, status = 'committed', start, end, id, level } = values;
  if (start !== undefined && end !== undefined && start > end)
    fail(record, ['end'], 'history/times', `the transaction ends at ${end}, before it starts at ${start}`);
  return {
    sessionName,
    status,
    operations: operations.map((operation, o) => parseOperation(record, operation, o)),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(id === undefined ? {} : { id }),
    ...(level === undefined ? {} : { level }),
  };
}

function refusing(record: JsonRecord): RefuseField {
  return (name, code, message) => fail(record, [name], `history/${code}`, message);
}

function formatJson(value: unknown): string {
  return JSON.stringify(value);
}

function parseOperation(record: JsonRecord, operation: unknown, o: number): LineOperation {
  const path = ['operations', o] as const;
  if (!Array.isArray(operation)) fail(record, path, 'history/shape', `an operation should be ${operationShape}`);
  const [letter, key, value, writer, condition] = operation as unknown[];
  const form = operationForms.find((each) => each.letter === letter);
  if (form === undefined) {
    const message = `${formatJson(letter) ?? 'nothing'} is no operation: it is ${operationShape}`;
    return fail(record, [...path, 0], 'history/operation', message);
  }
  if (operation.length < elementsMin || operation.length > form.elementsMax)
    fail(record, path, 'history/shape', `an operation should be ${operationShape}`);
  if (typeof key !== 'string') fail(record, [...path, 1], 'history/shape', 'a key should be a string');
  if (writer !== undefined && writer !== null && typeof writer !== 'string') {
    const message = 'a writer should be the ID of a transaction, or null for the initial state';
    fail(record, [...path, 3], 'history/shape', message);
  }
  if (condition !== undefined && typeof condition !== 'string')
    fail(record, [...path, 4], 'history/shape', 'a condition should be a text');
  const shared = { kind: form.kind, key, value: exactValue(record, [...path, 2], value), writer };
  return condition === undefined ? shared : { ...shared, condition };
}

function exactValue({ line, tree }: JsonRecord, path: Path, parsed: unknown): Value {
  const value = parsed as Value;
  if (tree !== undefined || !looksExact(value)) checkExact(line, partAt(tree ?? scanJsonLine(line), path));
  return value;
}

/** Names sessions only where the lines would give others. */
function formatHeader({ sessions, transactions, initial }: History): string {
  const values = [...initial].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const members = values.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const named = [...new Set(transactions.map(({ session }) => session))];
  const isDerived = named.length === sessions.length && named.every((session, index) => session === index);
  const fields = [
    `${headerStart}${transactions.length}`,
    ...(members.length === 0 ? [] : [`"initial":{${members.join(',')}}`]),
    ...(isDerived ? [] : [`"sessions":${JSON.stringify(sessions)}`]),
  ];
  return `${fields.join(',')}}`;
}

function formatTransaction(history: History, transaction: Transaction, index: number): string {
  const { session, status, operations, start, end, id, level } = transaction;
  const name = history.sessions[session];
  assert(name !== undefined, `transaction ${id} is of session ${session}, which is not there`);
  return JSON.stringify({
    session: name,
    operations: operations.map((operation) => formatOperation(history, operation)),
    ...(status === 'committed' ? {} : { status }),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(id === defaultId(name, index) ? {} : { id }),
    ...(level === undefined ? {} : { level }),
  });
}

function formatOperation(history: History, operation: Operation): unknown[] {
  const { kind, key, value } = operation;
  if (kind === 'write') return ['w', key, value];
  const { from, condition } = operation;
  if (from === undefined) return ['r', key, value];
  const writer = from === INITIAL ? null : history.transactions[from];
  assert(writer !== undefined, `a read of ${key} is from transaction ${from}, which is not there`);
  return ['r', key, value, writer === null ? null : writer.id, ...(condition === undefined ? [] : [condition])];
}
