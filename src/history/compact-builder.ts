/**
 * Builds a `CompactHistory` operation by operation, without an object for any of them. Readers of all formats end here, so that all of
 * them refuse the same things. Keys, sessions and IDs may be given as texts or as the bytes of a text.
 */
import { assert, InputError, type Place } from '../base/index.ts';
import {
  type CompactHistory,
  fromUnrecorded,
  operationKind,
  sessionLists,
  type SessionLists,
  statusCode,
} from './compact-history.ts';
import { Float64Column, Int32Column, Uint8Column } from './growing-column.ts';
import { HistoryNames } from './history-names.ts';
import type { Status } from './history.ts';
import { listsOf } from './list-reads.ts';
import { TextPool } from './text-pool.ts';
import { ValueTable } from './value-table.ts';
import type { Key, Value } from './value.ts';
import { withoutOperations } from './without-operations.ts';

/** `[operation, ...]` columns hold 32-bit positions. */
const operationsMax = 2 ** 31 - 2;

/** What a transaction may have besides its operations. */
export interface TransactionDetails {
  readonly status?: Status;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly id?: string | undefined;
  readonly level?: string | undefined;
  /** The line it stands on. */
  readonly line?: number | undefined;
}

export class CompactHistoryBuilder {
  readonly #sessionNames = new TextPool();
  readonly #keyNames = new TextPool();
  readonly #ids = new TextPool();
  readonly #levels = new TextPool();
  readonly #texts = new TextPool();
  readonly #values = new ValueTable(this.#texts);
  readonly #null = this.#texts.of('null');
  readonly #initial = new Map<number, Value>();

  readonly #session = new Int32Column();
  readonly #status = new Uint8Column();
  readonly #operationStart = new Int32Column();
  readonly #start = new Float64Column();
  readonly #end = new Float64Column();
  readonly #id = new Int32Column();
  readonly #level = new Int32Column();
  readonly #line = new Int32Column();
  readonly #kind = new Uint8Column();
  readonly #key = new Int32Column();
  readonly #value = new Int32Column();
  /** `INITIAL`, `fromUnrecorded`, a transaction, or below them the ID `-3 - from` of `#ids`. */
  readonly #from = new Int32Column();
  #hasTimes = false;
  #hasLines = false;
  #hasIds = false;
  readonly #conditions = new Map<number, string>();
  #hasFrom = false;
  #hasAppends = false;
  /** Lists that were given element by element: where each begins, and one more; the IDs of their elements. */
  readonly #listStart = new Int32Column();
  readonly #listElement = new Int32Column();

  constructor() {
    this.#operationStart.push(0);
    this.#listStart.push(0);
  }

  get transactionCount(): number {
    return this.#session.length;
  }

  /** @returns its ID; sessions have the order in which they were first named */
  session(name: string): number {
    return this.#sessionNames.of(name);
  }

  sessionOfBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#sessionNames.ofBytes(bytes, start, end);
  }

  key(name: Key): number {
    return this.#keyNames.of(name);
  }

  keyOfBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#keyNames.ofBytes(bytes, start, end);
  }

  value(key: number, value: Value): number {
    return this.#values.of(key, value);
  }

  /** `value` for a safe integer other than -0, without a look at it. */
  integer(key: number, integer: number): number {
    return this.#values.ofInteger(key, integer);
  }

  /** `value` for the bytes of the canonical text of a value that is no safe integer. */
  valueOfBytes(key: number, bytes: Uint8Array, start: number, end: number): number {
    return this.#values.ofText(key, this.#texts.ofBytes(bytes, start, end));
  }

  nullValue(key: number): number {
    return this.#values.ofText(key, this.#null);
  }

  /** A writer that a read names by ID; its transaction may come later. @returns what `read` takes as `from` */
  writer(id: string): number {
    return -3 - this.#ids.of(id);
  }

  writerOfBytes(bytes: Uint8Array, start: number, end: number): number {
    return -3 - this.#ids.ofBytes(bytes, start, end);
  }

  /** The initial value of a key; `null` where this is not called. */
  initial(key: Key, value: Value): void {
    this.#initial.set(this.key(key), value);
  }

  /** @param from a transaction, `INITIAL`, what `writer` gave, or `fromUnrecorded` */
  read(key: number, value: number, from: number = fromUnrecorded): void {
    if (from !== fromUnrecorded) this.#hasFrom = true;
    this.#operation(operationKind.read, key, value, from);
  }

  write(key: number, value: number): void {
    this.#operation(operationKind.write, key, value, fromUnrecorded);
  }

  /** Reads of a key with appends must see arrays, or null: the empty list. They become list reads. */
  append(key: number, value: number): void {
    this.#hasAppends = true;
    this.#operation(operationKind.append, key, value, fromUnrecorded);
  }

  /**
   * `read` of an array of integers, much faster where the key has appends.
   * @param elements safe integers other than -0
   */
  listRead(key: number, elements: readonly number[]): void {
    for (let i = 0; i < elements.length; i += 1)
      this.#listElement.push(this.#values.ofInteger(key, elements[i] as number));
    this.#listStart.push(this.#listElement.length);
    this.#operation(operationKind.listRead, key, this.#listStart.length - 2, fromUnrecorded);
  }

  #operation(kind: number, key: number, value: number, from: number): void {
    this.#kind.push(kind);
    this.#key.push(key);
    this.#value.push(value);
    this.#from.push(from);
  }

  /** Ends the transaction of the operations given since the last end. @returns its index */
  endTransaction(session: number, details: TransactionDetails = {}): number {
    return this.endTransactionOf(
      session,
      statusCode[details.status ?? 'committed'],
      details.start ?? NaN,
      details.end ?? NaN,
      details.id === undefined ? -1 : this.#ids.of(details.id),
      details.level === undefined ? -1 : this.#levels.of(details.level),
      details.line ?? 0,
    );
  }

  /** `endTransaction` without an object. @param id, level `idOfBytes`, `levelOfBytes`, or -1 */
  endTransactionOf(
    session: number,
    status: number,
    start: number,
    end: number,
    id: number,
    level: number,
    line: number,
  ): number {
    if (this.#kind.length > operationsMax) throw new InputError('history/size', 'it has 2^31 operations or more');
    if (start === start || end === end) this.#hasTimes = true;
    if (line !== 0) this.#hasLines = true;
    if (id >= 0) this.#hasIds = true;
    this.#session.push(session);
    this.#status.push(status);
    this.#start.push(start);
    this.#end.push(end);
    this.#id.push(id);
    this.#level.push(level);
    this.#line.push(line);
    this.#operationStart.push(this.#kind.length);
    return this.#session.length - 1;
  }

  idOfBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#ids.ofBytes(bytes, start, end);
  }

  levelOfBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#levels.ofBytes(bytes, start, end);
  }

  /** Of the last read: the condition that its row did not satisfy. */
  condition(text: string): void {
    this.#conditions.set(this.#kind.length - 1, text);
  }

  /** Forgets the operations since the last end of a transaction. */
  rollBack(): void {
    const length = this.#operationStart.array[this.#operationStart.length - 1] as number;
    for (const column of [this.#kind, this.#key, this.#value, this.#from]) column.length = length;
    for (const operation of this.#conditions.keys()) if (operation >= length) this.#conditions.delete(operation);
  }

  /**
   * @param unknownWriters what becomes of a read whose named writer is not there
   * @throws InputError `history/duplicate-id`, `history/unknown-writer`; `history/append` where a key is written and appended to, or
   *   appended to and read as something else than a list
   */
  finish(unknownWriters: 'refused' | 'left-out' = 'refused'): CompactHistory {
    this.rollBack();
    for (const key of this.#initial.keys()) assert(key < this.#keyNames.size, `key ${key} has no name`);
    const initialValue = new Int32Array(this.#keyNames.size);
    for (let k = 0; k < initialValue.length; k += 1) {
      const given = this.#initial.get(k);
      initialValue[k] = given === undefined ? this.nullValue(k) : this.value(k, given);
    }
    const kind = this.#kind.taken();
    const history: CompactHistory = {
      transactionCount: this.#session.length,
      operationCount: kind.length,
      sessionCount: this.#sessionNames.size,
      keyCount: this.#keyNames.size,
      valueCount: 0,
      session: this.#session.taken(),
      status: this.#status.taken(),
      operationStart: this.#operationStart.taken(),
      start: this.#hasTimes ? this.#start.taken() : null,
      end: this.#hasTimes ? this.#end.taken() : null,
      kind,
      key: this.#key.taken(),
      value: this.#value.taken(),
      from: this.#hasFrom ? this.#from.taken() : null,
      conditions: this.#conditions,
      initialValue,
      lists: null,
      line: this.#hasLines ? this.#line.taken() : null,
      names: this.#names(),
    };
    const leftOut = this.#resolveIds(history, unknownWriters);
    const given = { start: this.#listStart, element: this.#listElement };
    const lists = this.#hasAppends || given.start.length > 1 ? listsOf(history, this.#values, given) : null;
    const whole = { ...history, lists, valueCount: this.#values.size, names: this.#names() };
    return leftOut.length === 0 ? whole : withoutOperations(whole, leftOut);
  }

  #names(): HistoryNames {
    return new HistoryNames({
      sessions: this.#sessionNames.columns(),
      keys: this.#keyNames.columns(),
      values: this.#values.columns(),
      valueTexts: this.#texts.columns(),
      session: this.#session.taken(),
      id: this.#hasIds ? this.#id.taken() : null,
      ids: this.#ids.columns(),
      level: this.#levels.size > 0 ? this.#level.taken() : null,
      levels: this.#levels.columns(),
    });
  }

  /** Turns the IDs of writers into transactions, in place. @returns the operations whose writer is not there */
  #resolveIds(history: CompactHistory, unknownWriters: 'refused' | 'left-out'): number[] {
    const unknown: number[] = [];
    if (this.#ids.size === 0) return unknown;
    const resolver = new IdResolver(this.#ids, this.#id.taken(), history, (name) => this.#sessionNames.find(name));
    const { from, operationStart } = history;
    if (from === null) return unknown;
    for (let t = 0; t < history.transactionCount; t += 1) {
      for (let o = operationStart[t] as number; o < (operationStart[t + 1] as number); o += 1) {
        const writer = from[o] as number;
        if (writer >= fromUnrecorded) continue;
        const found = resolver.transactionOf(-3 - writer);
        if (found < 0 && unknownWriters === 'refused') throw resolver.unknown(-3 - writer, t);
        if (found < 0) unknown.push(o);
        else from[o] = found;
      }
    }
    return unknown;
  }
}

/** From IDs to transactions: an ID that was given, or `session/index` of a transaction that was given none. */
class IdResolver {
  readonly #texts: TextPool;
  readonly #given: Int32Array;
  readonly #history: CompactHistory;
  readonly #findSession: (name: string) => number;
  readonly #sessions: SessionLists;
  /** By ID: its transaction; -1: no transaction was given it; -2: nor is it a default. */
  readonly #transaction: Int32Array;

  /** @throws InputError `history/duplicate-id` */
  constructor(texts: TextPool, given: Int32Array, history: CompactHistory, findSession: (name: string) => number) {
    this.#texts = texts;
    this.#given = given;
    this.#history = history;
    this.#findSession = findSession;
    this.#sessions = sessionLists(history);
    this.#transaction = new Int32Array(texts.size).fill(-1);
    this.#refuseDuplicates();
  }

  /** -2: no transaction has this ID. */
  transactionOf(id: number): number {
    const known = this.#transaction[id] as number;
    if (known >= 0) return known;
    const found = known === -1 ? this.#defaultOf(id) : -2;
    this.#transaction[id] = found;
    return found;
  }

  unknown(id: number, reader: number): InputError {
    const message = `no transaction has the ID ${JSON.stringify(this.#texts.text(id))}`;
    return new InputError('history/unknown-writer', message, this.#place(reader));
  }

  /** Of several, the one whose second transaction comes first. */
  #refuseDuplicates(): void {
    let worst = { second: Infinity, id: -1 };
    const note = (a: number, b: number, id: number): void => {
      const second = Math.max(a, b);
      if (second < worst.second) worst = { second, id };
    };
    this.#given.forEach((id, t) => {
      if (id < 0) return;
      const other = this.#transaction[id] as number;
      if (other >= 0) note(other, t, id);
      else this.#transaction[id] = t;
    });
    this.#given.forEach((id, t) => {
      const other = id < 0 ? -2 : this.#defaultOf(id);
      if (other >= 0) note(other, t, id);
    });
    if (worst.id < 0) return;
    const id = JSON.stringify(this.#texts.text(worst.id));
    throw new InputError('history/duplicate-id', `two transactions have the ID ${id}`, this.#place(worst.second));
  }

  /** The transaction that has this ID because it was given none, else -2. */
  #defaultOf(id: number): number {
    const text = this.#texts.text(id);
    const slash = text.lastIndexOf('/');
    const index = text.slice(slash + 1);
    if (slash < 0 || !/^(?:0|[1-9]\d{0,9})$/.test(index)) return -2;
    const session = this.#findSession(text.slice(0, slash));
    if (session < 0) return -2;
    const at = (this.#sessions.start[session] as number) + Number(index);
    if (at >= (this.#sessions.start[session + 1] as number)) return -2;
    const t = this.#sessions.transaction[at] as number;
    return (this.#given[t] as number) < 0 ? t : -2;
  }

  #place(t: number): Place | undefined {
    const line = this.#history.line?.[t];
    return line === undefined ? undefined : { line };
  }
}
