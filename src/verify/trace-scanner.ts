/**
 * Lines of a trace straight into the columns of operations, byte by byte: no object for a line, and no string for a name or a text that came
 * not long ago. A line that is more than plain ASCII, whole numbers of up to 15 digits and the common fields goes to the reader of traces,
 * which knows all that is allowed and says what is wrong; so the two accept the same texts.
 */
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  integerAt,
  integerEnd,
  isAt,
  lineFeed,
  literals,
  openBrace,
  openBracket,
  plainStringEnd,
  skipSpace,
} from '../history/index.ts';
import { TraceReader, type TraceReaderOptions, type PredicateRead } from '../trace/index.ts';
import { type Image, isColumns, withUnknown } from './image.ts';
import { kindCode, lockCode, type OperationTable } from './operation-table.ts';
import { PredicateScanner } from './predicate-scanner.ts';
import { RecentTexts } from './recent-texts.ts';
import { RecentValues } from './recent-values.ts';
import { ValueScanner } from './value-scanner.ts';

export interface TraceScannerOptions extends Pick<TraceReaderOptions, 'onHeader' | 'onMark'> {
  readonly operations: OperationTable;
  /** An operation, by its position in the table. */
  readonly onOperation: (operation: number, line: number) => void;
}

/** A push parser: `push` every chunk, then `finish`. Chunks may end anywhere and are not kept. */
export class TraceScanner {
  readonly #operations: OperationTable;
  readonly #onOperation: (operation: number, line: number) => void;
  readonly #reader: TraceReader;
  readonly #names = new RecentTexts(8);
  readonly #keys: RecentTexts;
  readonly #sessions: RecentTexts;
  /** By session: the name of its transaction. */
  readonly #transactions: string[] = [];
  /** By field and 1, what came after it last; 0: what came first. */
  readonly #following = new Uint8Array(fields.length + 1);
  #rest: Uint8Array[] = [];
  /** Of the line at hand: rows that were read, then rows that were written. */
  #rows = new Int32Array(64);
  readonly #images: Image[] = [];
  #count = 0;
  /** The row and the value that were scanned last. */
  #row = 0;
  #image: Image = null;
  readonly #values: ValueScanner;
  readonly #recent = new RecentValues(13);
  readonly #predicates: PredicateScanner;
  #line = 0;
  /** Are times plain numbers? Known from the first operation on, which the reader takes. */
  #isPlain = false;

  constructor(options: TraceScannerOptions) {
    const { operations, onOperation, ...others } = options;
    this.#operations = operations;
    this.#onOperation = onOperation;
    this.#values = new ValueScanner(operations.emptyShape);
    this.#predicates = new PredicateScanner(this.#values);
    this.#keys = new RecentTexts(16, operations.keys);
    this.#sessions = new RecentTexts(10, operations.sessions);
    this.#reader = new TraceReader({
      ...others,
      onOperation: (operation, line) => {
        this.#isPlain = this.#reader.base === 0n;
        onOperation(operations.add(operation), line);
      },
    });
  }

  /** What is added to the times of operations to have those of the trace. */
  get base(): bigint {
    return this.#reader.base;
  }

  /** @throws InputError as `TraceReader` */
  push(bytes: Uint8Array): void {
    // Of a Buffer: the same bytes as a plain array, for which alone the loops below are then compiled.
    const chunk = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end > 0) {
      let begin = 0;
      if (this.#rest.length > 0) {
        begin = chunk.indexOf(lineFeed) + 1;
        const line = joined([...this.#rest, chunk.subarray(0, begin)]);
        this.#rest = [];
        this.#scan(line, 0, line.length);
      }
      this.#scan(chunk, begin, end);
    }
    if (end === chunk.length) return;
    this.#rest.push(chunk.slice(end));
    this.#reader.checkLength(this.#rest.reduce((sum, { length }) => sum + length, 0));
  }

  /** @returns whether the trace was cut off, as `TraceReader` @throws InputError as that */
  finish(): boolean {
    for (const part of this.#rest) this.#reader.push(part);
    return this.#reader.finish();
  }

  /** Whole lines, the last byte a line feed: what is looked for never runs past it. */
  #scan(bytes: Uint8Array, begin: number, end: number): void {
    for (let at = begin; at < end; ) {
      this.#line += 1;
      const after = this.#isPlain ? this.#operation(bytes, at) : -1;
      if (after >= 0) {
        this.#reader.skipLine();
        at = after;
        continue;
      }
      const feed = bytes.indexOf(lineFeed, at);
      this.#reader.push(bytes.subarray(at, feed + 1));
      at = feed + 1;
    }
  }

  /** A plain operation: the position after its line, or -1 where it is something else. */
  #operation(bytes: Uint8Array, begin: number): number {
    let at = skipSpace(bytes, begin);
    if (bytes[at] !== openBrace) return -1;
    this.#count = 0;
    // One by one: before it is compiled, a pattern costs as much as the rest of a short line.
    let seen = 0;
    let session = -1;
    let nameFrom = -1;
    let nameTo = -1;
    let kind = -1;
    let lock: number = lockCode.none;
    let failed = 0;
    let start = NaN;
    let end = NaN;
    let reads = 0;
    let predicates = noPredicates;
    let tables = allTables;
    let isOpaque = false;
    let mayReadMore = 0;
    let last = -1;
    do {
      at = skipSpace(bytes, at + 1);
      const field = this.#fieldAt(bytes, at, last);
      if (field < 0 || (seen & (1 << field)) !== 0) return -1;
      seen |= 1 << field;
      last = field;
      at = skipSpace(bytes, at + (fieldBytes[field] as Uint8Array).length);
      if (bytes[at] !== colon) return -1;
      at = skipSpace(bytes, at + 1);
      const from = at;
      switch (field) {
        case fieldCode.start:
        case fieldCode.end: {
          at = field === fieldCode.end && isAt(bytes, at, literals.null) ? at + 4 : integerEnd(bytes, at);
          if (at < 0) return -1;
          const time = bytes[from] === 0x6e ? Infinity : integerAt(bytes, from, at);
          if (field === fieldCode.start) start = time;
          else end = time;
          break;
        }
        case fieldCode.reads:
        case fieldCode.writes:
          // What is written comes after what is read, as the columns have it.
          if (field === fieldCode.reads && (seen & (1 << fieldCode.writes)) !== 0) return -1;
          at = this.#pairs(bytes, at, field === fieldCode.reads);
          if (field === fieldCode.reads) reads = this.#count;
          break;
        case fieldCode.unknown:
          // They belong to rows that stand before them.
          if ((seen & (1 << fieldCode.writes)) === 0) return -1;
          at = this.#unknown(bytes, at, reads);
          break;
        case fieldCode.predicates:
          at = this.#predicates.list(bytes, at);
          if (at >= 0) predicates = this.#predicates.predicates;
          break;
        case fieldCode.tables:
          at = this.#values.nameList(bytes, at);
          tables = this.#values.names;
          break;
        case fieldCode.failed:
          failed = isAt(bytes, at, literals.true) ? 1 : 0;
          if (failed === 0 && !isAt(bytes, at, literals.false)) return -1;
          at += failed === 1 ? 4 : 5;
          break;
        default:
          at = plainStringEnd(bytes, at) + 1;
          if (at === 0) return -1;
          if (field === fieldCode.session) session = this.#sessions.idOf(bytes, from + 1, at - 1);
          else if (field === fieldCode.transaction) [nameFrom, nameTo] = [from + 1, at - 1];
          else if (field === fieldCode.op) kind = kindOf(bytes, from + 1, at - 1);
          else if (field === fieldCode.lock) lock = lockOf(bytes, from + 1, at - 1);
          else if (field === fieldCode.opaque) {
            isOpaque = isAt(bytes, from, opaqueWrites);
            mayReadMore = isAt(bytes, from, opaqueReads) ? 1 : 0;
            if (!isOpaque && mayReadMore === 0) return -1;
          }
      }
      if (at < 0) return -1;
      at = skipSpace(bytes, at);
    } while (bytes[at] === comma);
    if (bytes[at] !== closeBrace) return -1;
    at = skipSpace(bytes, at + 1);
    if (bytes[at] !== lineFeed || session < 0 || kind < 0 || lock < 0 || nameFrom < 0 || !(end >= start)) return -1;
    const writes = this.#count - reads;
    if ((writes > 0 && kind !== kindCode.write) || (reads > 0 && kind !== kindCode.write && kind !== kindCode.read))
      return -1;
    const name = this.#nameOf(bytes, session, nameFrom, nameTo);
    const operation = this.#operations.open(kind, session, name, start, end, reads, writes);
    this.#operations.lock[operation] = lock;
    this.#operations.failed[operation] = failed;
    this.#operations.mayReadMore[operation] = mayReadMore;
    this.#setEntries(operation);
    if (isOpaque || predicates.length > 0)
      this.#operations.setExtra(operation, predicates, isOpaque ? tables : undefined, undefined);
    this.#onOperation(operation, this.#line);
    return at + 1;
  }

  /** The field whose name is there, with its quotes; lines mostly have them in one order. */
  #fieldAt(bytes: Uint8Array, at: number, last: number): number {
    const likely = this.#following[last + 1];
    if (isAt(bytes, at, fieldBytes[likely])) return likely;
    const field = fieldBytes.findIndex((name) => isAt(bytes, at, name));
    if (field >= 0) this.#following[last + 1] = field;
    return field;
  }

  #setEntries(operation: number): void {
    const { entries, reads } = this.#operations;
    const first = reads[operation];
    for (let i = 0; i < this.#count; i += 1) entries.set(first + i, this.#rows[i], this.#images[i]);
  }

  #nameOf(bytes: Uint8Array, session: number, from: number, to: number): string {
    const latest = this.#transactions[session];
    if (latest !== undefined && isText(bytes, from, to, latest)) return latest;
    const name = this.#names.textOf(bytes, from, to);
    while (this.#transactions.length < session) this.#transactions.push('');
    this.#transactions[session] = name;
    return name;
  }

  /** `[[KEY, VALUE], ...]`: the position after it, or -1. */
  #pairs(bytes: Uint8Array, begin: number, isRead: boolean): number {
    if (bytes[begin] !== openBracket) return -1;
    let at = skipSpace(bytes, begin + 1);
    if (bytes[at] === closeBracket) return at + 1;
    for (;;) {
      at = this.#key(bytes, at);
      if (at < 0) return -1;
      const row = this.#row;
      at = this.#valueOf(row, bytes, at, isRead);
      if (at < 0) return -1;
      at = skipSpace(bytes, at);
      if (bytes[at] !== closeBracket) return -1;
      this.#add(row, this.#image);
      at = skipSpace(bytes, at + 1);
      if (bytes[at] === closeBracket) return at + 1;
      if (bytes[at] !== comma) return -1;
      at = skipSpace(bytes, at + 1);
    }
  }

  /** `[KEY,`: the position of what follows, or -1. */
  #key(bytes: Uint8Array, begin: number): number {
    if (bytes[begin] !== openBracket) return -1;
    const from = skipSpace(bytes, begin + 1);
    const end = plainStringEnd(bytes, from);
    if (end < 0) return -1;
    this.#row = this.#keys.idOf(bytes, from + 1, end);
    const at = skipSpace(bytes, end + 1);
    return bytes[at] === comma ? skipSpace(bytes, at + 1) : -1;
  }

  #valueOf(row: number, bytes: Uint8Array, begin: number, isRead: boolean): number {
    const isRemembered = isRead && bytes[begin] === openBrace;
    const known = isRemembered ? this.#recent.endOf(row, bytes, begin) : -1;
    if (known >= 0) {
      this.#image = this.#recent.imageOf(row);
      return known;
    }
    const end = this.#values.value(bytes, begin);
    if (end < 0) return -1;
    this.#image = this.#values.image;
    if (isRemembered) this.#recent.set(row, bytes, begin, end, this.#image);
    return end;
  }

  /** `[[KEY, [COLUMN, ...]], ...]`, of what was written: the position after it, or -1, also where there are too many for a search. */
  #unknown(bytes: Uint8Array, begin: number, reads: number): number {
    if (bytes[begin] !== openBracket || this.#count - reads > unknownRowsMax) return -1;
    let at = skipSpace(bytes, begin + 1);
    let last = -1;
    for (;;) {
      at = this.#key(bytes, at);
      if (at < 0) return -1;
      const row = this.#row;
      at = this.#values.nameList(bytes, at);
      if (at < 0) return -1;
      // In the order of the rows: so no key comes twice, and each is of a row.
      const of = this.#rows.indexOf(row, reads);
      if (of <= last || of >= this.#count) return -1;
      last = of;
      for (let i = of; i < this.#count; i += 1) {
        const image = this.#images[i];
        if (this.#rows[i] === row && isColumns(image)) this.#images[i] = withUnknown(image, this.#values.names);
      }
      at = skipSpace(bytes, at);
      if (bytes[at] !== closeBracket) return -1;
      at = skipSpace(bytes, at + 1);
      if (bytes[at] === closeBracket) return at + 1;
      if (bytes[at] !== comma) return -1;
      at = skipSpace(bytes, at + 1);
    }
  }

  #add(row: number, image: Image): void {
    if (this.#count === this.#rows.length) {
      const grown = new Int32Array(2 * this.#count);
      grown.set(this.#rows);
      this.#rows = grown;
    }
    this.#rows[this.#count] = row;
    this.#images[this.#count] = image;
    this.#count += 1;
  }
}

const fields = [
  'session',
  'transaction',
  'op',
  'reads',
  'writes',
  'start',
  'end',
  'failed',
  'code',
  'lock',
  'unknown',
  'predicates',
  'opaque',
  'tables',
] as const;
const fieldCode = Object.fromEntries(fields.map((name, i) => [name, i])) as Record<(typeof fields)[number], number>;
const fieldBytes = fields.map((name) => new TextEncoder().encode(`"${name}"`));
const kindNames = Object.entries(kindCode)
  .filter(([name]) => ['begin', 'read', 'write', 'commit', 'abort'].includes(name))
  .map(([name, code]) => ({ bytes: new TextEncoder().encode(name), code }));
const lockNames = (['update', 'share'] as const).map((name) => ({
  bytes: new TextEncoder().encode(name),
  code: lockCode[name],
}));

function kindOf(bytes: Uint8Array, from: number, to: number): number {
  for (const { bytes: name, code } of kindNames) if (name.length === to - from && isAt(bytes, from, name)) return code;
  return -1;
}

function lockOf(bytes: Uint8Array, from: number, to: number): number {
  for (const { bytes: name, code } of lockNames) if (name.length === to - from && isAt(bytes, from, name)) return code;
  return -1;
}

function isText(bytes: Uint8Array, from: number, to: number, text: string): boolean {
  if (text.length !== to - from) return false;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Of more, the reader looks for the rows of unknown columns. */
const unknownRowsMax = 32;
const noPredicates: readonly PredicateRead[] = [];
const allTables: readonly string[] = ['*'];
const opaqueWrites = new TextEncoder().encode('"writes"');
const opaqueReads = new TextEncoder().encode('"reads"');
