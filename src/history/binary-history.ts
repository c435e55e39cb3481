/**
 * A large history as a file: its columns as they are, little-endian, behind a small header. Reading is copying.
 *
 *     8 bytes   "MOIRAIH" and the version, 1
 *     8 bytes   how many columns follow, and a check sum of the rest of the header
 *     a column  4 bytes which, 4 bytes how many elements, 4 bytes a check sum; for each, in the order of `layout`
 *     contents  each column from a multiple of 8 bytes on
 *
 * The machine must be little-endian, as all that Node runs on in practice are.
 */
import { InputError } from '../base/index.ts';
import type { CompactHistory, Lists } from './compact-history.ts';
import { HistoryNames } from './history-names.ts';
import type { Texts } from './text-pool.ts';
import { validateColumns } from './validate-columns.ts';

const magic = Uint8Array.from([...new TextEncoder().encode('MOIRAIH'), 1]);
const headBytes = magic.length + 8;
const columnHeadBytes = 12;

type Column = Int32Array | Uint8Array | Float64Array;

/** All columns there may be: their position in the file is their name in it. */
const layout = {
  session: Int32Array,
  status: Uint8Array,
  operationStart: Int32Array,
  start: Float64Array,
  end: Float64Array,
  kind: Uint8Array,
  key: Int32Array,
  value: Int32Array,
  from: Int32Array,
  initialValue: Int32Array,
  listStart: Int32Array,
  listElement: Int32Array,
  line: Int32Array,
  sessionBytes: Uint8Array,
  sessionStarts: Int32Array,
  keyBytes: Uint8Array,
  keyStarts: Int32Array,
  valueKeys: Int32Array,
  valueCodes: Float64Array,
  valueBytes: Uint8Array,
  valueStarts: Int32Array,
  id: Int32Array,
  idBytes: Uint8Array,
  idStarts: Int32Array,
  level: Int32Array,
  levelBytes: Uint8Array,
  levelStarts: Int32Array,
} as const;
type ColumnName = keyof typeof layout;
type TextName = 'session' | 'key' | 'value' | 'id' | 'level';
type ColumnOf<N extends ColumnName> = (typeof layout)[N] extends Int32ArrayConstructor
  ? Int32Array
  : (typeof layout)[N] extends Uint8ArrayConstructor
    ? Uint8Array
    : Float64Array;
type Columns = { [N in ColumnName]: ColumnOf<N> | null };
const columnNames = Object.keys(layout) as ColumnName[];

/** Is this the beginning of such a file? */
export function isBinaryHistory(firstBytes: Uint8Array): boolean {
  return magic.every((byte, i) => firstBytes[i] === byte || i === magic.length - 1);
}

/** The file in pieces. They are views of the history's columns: to be written before it changes. */
export function* writeBinaryHistory(history: CompactHistory): Generator<Uint8Array> {
  const columns = columnsOf(history);
  const present = columnNames.flatMap((name, id) => (columns[name] === null ? [] : [{ id, column: columns[name] }]));
  const head = new Uint8Array(paddedTo8(headBytes + present.length * columnHeadBytes));
  const view = new DataView(head.buffer);
  head.set(magic);
  view.setUint32(magic.length, present.length, true);
  present.forEach(({ id, column }, i) => {
    const at = headBytes + i * columnHeadBytes;
    view.setUint32(at, id, true);
    view.setUint32(at + 4, column.length, true);
    view.setUint32(at + 8, checkSum(bytesOf(column)), true);
  });
  view.setUint32(magic.length + 4, checkSum(head.subarray(headBytes)), true);
  yield head;
  for (const { column } of present) {
    const bytes = bytesOf(column);
    yield bytes;
    if (paddedTo8(bytes.length) > bytes.length) yield new Uint8Array(paddedTo8(bytes.length) - bytes.length);
  }
}

/**
 * Takes the file in pieces of any size.
 * @throws InputError `history/format`: not such a file; `history/version`; `history/truncated`, `history/corrupt`: with the offset in bytes
 */
export class BinaryHistoryReader {
  readonly #columns: Columns = noColumns();
  #head = new Uint8Array(headBytes);
  #headFilled = 0;
  /** The columns of the file, with the offset of each. */
  #parts: Part[] | null = null;
  #part = 0;
  #offset = 0;

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      const taken = this.#parts === null ? this.#takeHead(chunk, at) : this.#takeContents(chunk, at);
      at += taken;
      this.#offset += taken;
    }
  }

  finish(): CompactHistory {
    const next = this.#parts?.[this.#part];
    if (this.#parts === null || next !== undefined) {
      const what = next === undefined ? 'the header' : `column ${next.name}`;
      throw new InputError('history/truncated', `the file ends at byte ${this.#offset}, within ${what}`);
    }
    for (const { name, offset, sum } of this.#parts) {
      const column = this.#columns[name];
      if (column !== null && checkSum(bytesOf(column)) !== sum)
        throw new InputError('history/corrupt', `column ${name}, from byte ${offset} on, is not as it was written`);
    }
    return historyOfColumns(this.#columns, (name) => this.#parts?.find((part) => part.name === name)?.offset ?? 0);
  }

  #takeHead(chunk: Uint8Array, at: number): number {
    const taken = Math.min(chunk.length - at, this.#head.length - this.#headFilled);
    this.#head.set(chunk.subarray(at, at + taken), this.#headFilled);
    this.#headFilled += taken;
    if (this.#headFilled < this.#head.length) return taken;
    if (!isBinaryHistory(this.#head)) throw new InputError('history/format', 'this is no binary history');
    const version = this.#head[magic.length - 1] as number;
    if (version !== 1)
      throw new InputError('history/version', `version ${version} of the binary form, where 1 is known`);
    const count = new DataView(this.#head.buffer).getUint32(magic.length, true);
    if (count > columnNames.length) throw new InputError('history/corrupt', `${count} columns at byte ${magic.length}`);
    const whole = paddedTo8(headBytes + count * columnHeadBytes);
    if (this.#head.length < whole) {
      const grown = new Uint8Array(whole);
      grown.set(this.#head);
      this.#head = grown;
    } else {
      const sum = new DataView(this.#head.buffer).getUint32(magic.length + 4, true);
      if (sum !== checkSum(this.#head.subarray(headBytes)))
        throw new InputError('history/corrupt', `the header, from byte ${headBytes} on, is not as it was written`);
      this.#parts = this.#partsOf(count);
      this.#skipEmpty();
    }
    return taken;
  }

  #partsOf(count: number): Part[] {
    const view = new DataView(this.#head.buffer);
    let offset = this.#head.length;
    return Array.from({ length: count }, (_, i) => {
      const at = headBytes + i * columnHeadBytes;
      const name = columnNames[view.getUint32(at, true)];
      if (name === undefined || this.#columns[name] !== null)
        throw new InputError('history/corrupt', `an unknown or second column at byte ${at}`);
      const column = allocate(name, view.getUint32(at + 4, true), at + 4);
      (this.#columns as Record<ColumnName, Column | null>)[name] = column;
      const part = { name, offset, bytes: bytesOf(column), filled: 0, sum: view.getUint32(at + 8, true) };
      offset += paddedTo8(part.bytes.length);
      return part;
    });
  }

  #takeContents(chunk: Uint8Array, at: number): number {
    const part = this.#parts?.[this.#part];
    if (part === undefined)
      throw new InputError('history/corrupt', `more after the last column, at byte ${this.#offset}`);
    const { bytes, filled } = part;
    const taken = Math.min(chunk.length - at, paddedTo8(bytes.length) - filled);
    if (filled < bytes.length) bytes.set(chunk.subarray(at, at + Math.min(taken, bytes.length - filled)), filled);
    part.filled += taken;
    this.#skipEmpty();
    return taken;
  }

  #skipEmpty(): void {
    for (let part = this.#parts?.[this.#part]; part !== undefined; part = this.#parts?.[this.#part]) {
      if (part.filled < paddedTo8(part.bytes.length)) return;
      this.#part += 1;
    }
  }
}

interface Part {
  readonly name: ColumnName;
  readonly offset: number;
  readonly bytes: Uint8Array;
  filled: number;
  readonly sum: number;
}

/** A length that memory cannot hold is a damaged one. */
function allocate(name: ColumnName, length: number, offset: number): Column {
  try {
    const column = new layout[name](length);
    bytesOf(column); // which may be longer than an array may be
    return column;
  } catch {
    throw new InputError('history/corrupt', `column ${name} of ${length} elements at byte ${offset}`);
  }
}

function columnsOf(history: CompactHistory): Columns {
  const { names, lists } = history;
  const { sessions, keys, values, valueTexts, id, ids, level, levels } = names.columns;
  return {
    session: history.session,
    status: history.status,
    operationStart: history.operationStart,
    start: history.start,
    end: history.end,
    kind: history.kind,
    key: history.key,
    value: history.value,
    from: history.from,
    initialValue: history.initialValue,
    listStart: lists?.start ?? null,
    listElement: lists?.element ?? null,
    line: history.line,
    sessionBytes: sessions.bytes,
    sessionStarts: sessions.starts,
    keyBytes: keys.bytes,
    keyStarts: keys.starts,
    valueKeys: values.keys,
    valueCodes: values.codes,
    valueBytes: valueTexts.bytes,
    valueStarts: valueTexts.starts,
    id,
    idBytes: id === null ? null : ids.bytes,
    idStarts: id === null ? null : ids.starts,
    level,
    levelBytes: level === null ? null : levels.bytes,
    levelStarts: level === null ? null : levels.starts,
  };
}

function historyOfColumns(columns: Columns, offsetOf: (name: ColumnName) => number): CompactHistory {
  const refuse = (name: ColumnName, what: string): never => {
    throw new InputError('history/corrupt', `column ${name}, from byte ${offsetOf(name)} on: ${what}`);
  };
  const of = <N extends ColumnName>(name: N): ColumnOf<N> =>
    (columns[name] as ColumnOf<N> | null) ?? refuse(name, 'it is missing');
  const texts = (bytes: `${TextName}Bytes`, starts: `${TextName}Starts`): Texts =>
    columns[starts] === null
      ? { bytes: new Uint8Array(), starts: new Int32Array(1) }
      : { bytes: of(bytes), starts: of(starts) };
  const { start, end, from, line, listStart, listElement } = columns;
  const lists: Lists | null =
    listStart === null ? null : { start: listStart, element: listElement ?? of('listElement') };
  const session = of('session');
  const names = new HistoryNames({
    sessions: texts('sessionBytes', 'sessionStarts'),
    keys: texts('keyBytes', 'keyStarts'),
    values: { keys: of('valueKeys'), codes: of('valueCodes') },
    valueTexts: texts('valueBytes', 'valueStarts'),
    session,
    id: columns.id,
    ids: texts('idBytes', 'idStarts'),
    level: columns.level,
    levels: texts('levelBytes', 'levelStarts'),
  });
  const history: CompactHistory = {
    transactionCount: session.length,
    operationCount: of('kind').length,
    sessionCount: names.columns.sessions.starts.length - 1,
    keyCount: names.columns.keys.starts.length - 1,
    valueCount: names.columns.values.codes.length,
    session,
    status: of('status'),
    operationStart: of('operationStart'),
    start,
    end,
    kind: of('kind'),
    key: of('key'),
    value: of('value'),
    from,
    conditions: new Map(),
    initialValue: of('initialValue'),
    lists,
    line,
    names,
  };
  validateColumns(history, (name, what) => refuse(name as ColumnName, what));
  return history;
}

function noColumns(): Columns {
  return Object.fromEntries(columnNames.map((name) => [name, null])) as unknown as Columns;
}

function bytesOf(column: Column): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

function paddedTo8(length: number): number {
  return Math.ceil(length / 8) * 8;
}

/** Of 32-bit words, for damage by accident: FNV-1a with a rotation, so that swapped words are seen too. */
function checkSum(bytes: Uint8Array): number {
  const wordCount = bytes.length >> 2;
  const isAligned = bytes.byteOffset % 4 === 0;
  const words = isAligned
    ? new Int32Array(bytes.buffer, bytes.byteOffset, wordCount)
    : new Int32Array(bytes.slice(0, wordCount * 4).buffer);
  let sum = 0x811c9dc5;
  for (let i = 0; i < wordCount; i += 1) {
    sum = Math.imul(sum ^ (words[i] as number), 0x01000193);
    sum = (sum << 5) | (sum >>> 27);
  }
  for (let i = wordCount * 4; i < bytes.length; i += 1) sum = Math.imul(sum ^ (bytes[i] as number), 0x01000193);
  return sum >>> 0;
}
