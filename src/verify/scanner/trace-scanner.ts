/**
 * Lines of a trace straight into the columns of operations, byte by byte: no object for a line, and no string for a name or a text that came
 * not long ago. What a line may say is in the table that the reader of traces has too; lines that are more than plain (`LineScanner`), and the kinds
 * of operations that are rare, go to the reader, which knows all that is allowed and says what is wrong. So the two accept the same texts.
 */
import { joinBytes } from '../../base/index.ts';
import { fieldPositions, lineFeed, LineScanner } from '../../history/index.ts';
import { operationFields, TraceReader, type TraceReaderOptions, type PredicateRead } from '../../trace/index.ts';
import { kindCode, lockCode, type OperationTable } from '../operation-table.ts';
import { PredicateScanner } from './predicate-scanner.ts';
import { RecentTexts } from './recent-texts.ts';
import { RowsScanner } from './rows-scanner.ts';
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
  readonly #fields = new LineScanner(operationFields, (field, bytes, at) => this.#list(field, bytes, at));
  readonly #names = new RecentTexts(8);
  readonly #sessions: RecentTexts;
  /** By session: the name of its transaction. */
  readonly #transactions: string[] = [];
  readonly #values: ValueScanner;
  readonly #rows: RowsScanner;
  readonly #predicates: PredicateScanner;
  #tables: readonly string[] = [];
  #rest: Uint8Array[] = [];
  #line = 0;
  /** Are times plain numbers? Known from the first operation on, which the reader takes. */
  #isPlain = false;

  constructor(options: TraceScannerOptions) {
    const { operations, onOperation, ...others } = options;
    this.#operations = operations;
    this.#onOperation = onOperation;
    this.#values = new ValueScanner(operations.emptyShape);
    this.#rows = new RowsScanner(new RecentTexts(16, operations.keys), this.#values);
    this.#predicates = new PredicateScanner(this.#values);
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
        const line = joinBytes([...this.#rest, chunk.subarray(0, begin)]);
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
    this.#rows.clear();
    const fields = this.#fields;
    const after = fields.scan(bytes, begin);
    if (after < 0) return -1;
    const { from, to, number } = fields;
    const kind = number[position.op];
    const start = number[position.start];
    const end = number[position.end];
    if (kind > kindCode.abort || !fields.has(position.transaction) || fields.has(position.savepoint) || end < start)
      return -1;
    const { count, reads } = this.#rows;
    const writes = count - reads;
    if (kind !== kindCode.write && (writes > 0 || (reads > 0 && kind !== kindCode.read))) return -1;
    const session = this.#sessions.idOf(bytes, from[position.session], to[position.session]);
    if (this.#reader.knowsSavepoints && this.#reader.knowsSavepointsOf(this.#operations.sessions.name(session)))
      return -1;
    const name = this.#nameOf(bytes, session, from[position.transaction], to[position.transaction]);
    const operation = this.#operations.open(kind, session, name, start, end, reads, writes);
    this.#setDetails(operation);
    this.#onOperation(operation, this.#line);
    return after;
  }

  /** What comes after `[`, of a field whose value is a list. */
  #list(field: number, bytes: Uint8Array, at: number): number {
    switch (field) {
      case position.reads:
        return this.#rows.readRows(bytes, at);
      case position.writes:
        return this.#rows.writtenRows(bytes, at);
      case position.unknown:
        return this.#rows.unknownColumns(bytes, at);
      case position.predicates:
        return this.#predicates.list(bytes, at);
      default: {
        const end = this.#values.nameList(bytes, at);
        this.#tables = this.#values.names;
        return end;
      }
    }
  }

  #setDetails(operation: number): void {
    const { entries, reads, lock, failed, mayReadMore } = this.#operations;
    const { rows, images, count } = this.#rows;
    const first = reads[operation];
    for (let i = 0; i < count; i += 1) entries.set(first + i, rows[i], images[i]);
    const fields = this.#fields;
    if (fields.has(position.lock)) lock[operation] = lockCodes[fields.number[position.lock]];
    if (fields.has(position.failed)) failed[operation] = fields.number[position.failed];
    const predicates = fields.has(position.predicates) ? this.#predicates.predicates : noPredicates;
    const isOpaque = fields.has(position.opaque);
    const mayWrite = isOpaque && fields.number[position.opaque] === opaqueWrites;
    if (isOpaque && !mayWrite) mayReadMore[operation] = 1;
    if (!mayWrite && predicates.length === 0) return;
    const tables = fields.has(position.tables) ? this.#tables : allTables;
    this.#operations.setExtra(operation, predicates, mayWrite ? tables : undefined, undefined);
  }

  #nameOf(bytes: Uint8Array, session: number, from: number, to: number): string {
    const latest = this.#transactions[session];
    if (latest !== undefined && isText(bytes, from, to, latest)) return latest;
    const name = this.#names.textOf(bytes, from, to);
    while (this.#transactions.length < session) this.#transactions.push('');
    this.#transactions[session] = name;
    return name;
  }
}

const position = fieldPositions(operationFields);
const lockCodes = operationFields.lock.kind.map((mode) => lockCode[mode ?? 'none']);
const opaqueWrites = operationFields.opaque.kind.indexOf('writes');

function isText(bytes: Uint8Array, from: number, to: number, text: string): boolean {
  if (text.length !== to - from) return false;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}

const noPredicates: readonly PredicateRead[] = [];
const allTables: readonly string[] = ['*'];
