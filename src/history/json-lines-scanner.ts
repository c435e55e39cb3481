/**
 * JSON Lines of any size into columns, byte by byte: no string and no object for an operation. A line that is more than plain ASCII,
 * integers of up to 15 digits and short words goes to JSON.parse and the parser of small histories instead, which knows all that is
 * allowed and says what is wrong. So the two accept the same texts, appends apart, which only large histories have:
 *
 *     {"session":"a","operations":[["append","x",3],["r","x",[1,2,3]]]}
 *
 * A read of a key that is appended to anywhere sees a list; null is the empty one.
 */
import { InputError, joinBytes } from '../base/index.ts';
import { CompactHistoryBuilder } from './compact-builder.ts';
import { type CompactHistory, fromUnrecorded, operationKind, statusCode } from './compact-history.ts';
import { decodeLast, orCut } from './cut-history.ts';
import { endStart } from './end-sum.ts';
import { INITIAL } from './history.ts';
import {
  type Header,
  isHeader,
  type JsonRecord,
  parseHeader,
  parseRecord,
  parseTransactionLine,
} from './json-lines.ts';
import {
  closeBracket,
  comma,
  integerAt,
  integerEnd,
  isAt,
  lineFeed,
  literals,
  openBracket,
  plainStringEnd,
  quote,
  scalarEnd,
  skipSpace,
} from './json-bytes.ts';
import { fieldPositions, LineScanner } from './line-scanner.ts';
import { operationForms, transactionFields } from './transaction-line.ts';

export interface ScannerOptions {
  /** Bytes that a line may have. Default 2^29. */
  readonly lineBytesMax?: number;
}

/** A push parser: `push` every chunk, then `finish`. Chunks may end anywhere and are not kept. */
export class JsonLinesScanner {
  readonly #builder = new CompactHistoryBuilder();
  /** Operations are the only list. */
  readonly #fields = new LineScanner(transactionFields, (_field, bytes, at) => this.#operations(bytes, at));
  readonly #lineBytesMax: number;
  /** The beginning of a line whose end has not come yet. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #line = 0;
  #isFirstRecord = true;
  /** Is the line one that nothing ends? */
  #isLast = false;
  #header: Header | null = null;
  /** The line that ends the history, and how many transactions stand before it. */
  #end: { readonly line: number; readonly transactions: number } | null = null;
  /** What `#operations` found last. */
  readonly #elements: number[] = [];
  #valueId = 0;

  constructor(options: ScannerOptions = {}) {
    this.#lineBytesMax = options.lineBytesMax ?? 2 ** 29;
  }

  get transactionCount(): number {
    return this.#builder.transactionCount;
  }

  /** @throws InputError as `parseHistoryLines`, with `history/encoding` and `history/size`; always with the line */
  push(bytes: Uint8Array): void {
    // Of a Buffer: the same bytes as a plain array, for which alone the loops below are then compiled.
    const chunk = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    const last = chunk.lastIndexOf(lineFeed);
    if (last < 0) return this.#keep(chunk);
    let start = 0;
    if (this.#pendingBytes > 0) {
      start = chunk.indexOf(lineFeed) + 1;
      this.#keep(chunk.subarray(0, start));
      this.#scanPending();
    }
    this.#scan(chunk, start, last + 1);
    if (last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1));
  }

  /**
   * @throws InputError as `push` for a last line without a line feed, and `history/truncated`, `history/duplicate-id`, `history/unknown-writer`,
   *   `history/append`. What reads saw is not looked at: that is for the checks. CutHistoryError with what stands before the cut
   */
  finish(): CompactHistory {
    return orCut(
      () => this.#finish(),
      () => this.#builder.finish('left-out'),
    );
  }

  #finish(): CompactHistory {
    if (this.#pendingBytes > 0) {
      this.#isLast = true;
      this.#pending.push(Uint8Array.of(lineFeed));
      this.#pendingBytes += 1;
      this.#scanPending();
    }
    this.#header?.checkCount(this.#builder.transactionCount);
    if (this.#end !== null && this.#end.transactions < this.#builder.transactionCount)
      throw new InputError('history/header', 'transactions follow the line that ends the history', {
        line: this.#end.line,
      });
    return this.#builder.finish();
  }

  #keep(bytes: Uint8Array): void {
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > this.#lineBytesMax)
      throw new InputError('history/size', `a line of more than ${this.#lineBytesMax} bytes`, { line: this.#line + 1 });
    this.#pending.push(bytes.slice());
  }

  #scanPending(): void {
    const line = joinBytes(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#scan(line, 0, line.length);
  }

  /** Whole lines, the last byte a line feed: what is looked for never runs past it. */
  #scan(bytes: Uint8Array, begin: number, end: number): void {
    let at = begin;
    while (at < end) {
      this.#line += 1;
      const fast = this.#transaction(bytes, at);
      if (fast < 0) {
        this.#builder.rollBack();
        const feed = bytes.indexOf(lineFeed, at);
        this.#anyLine(bytes.subarray(at, feed));
        at = feed + 1;
      } else {
        this.#isFirstRecord = false;
        at = fast;
      }
    }
  }

  /** A plain transaction: the position after its line, or -1 where it is something else. */
  #transaction(bytes: Uint8Array, begin: number): number {
    const fields = this.#fields;
    const after = fields.scan(bytes, begin);
    if (after < 0) return -1;
    const { from, to, number } = fields;
    const start = fields.has(position.start) ? (number[position.start] as number) : NaN;
    const end = fields.has(position.end) ? (number[position.end] as number) : NaN;
    if (start > end) return -1;
    const builder = this.#builder;
    builder.endTransactionOf(
      builder.sessionOfBytes(bytes, from[position.session] as number, to[position.session] as number),
      fields.has(position.status) ? (number[position.status] as number) : statusCode.committed,
      start,
      end,
      fields.has(position.id) ? builder.idOfBytes(bytes, from[position.id] as number, to[position.id] as number) : -1,
      fields.has(position.level)
        ? builder.levelOfBytes(bytes, from[position.level] as number, to[position.level] as number)
        : -1,
      this.#line,
    );
    return after;
  }

  /** The position after the array, or -1. */
  #operations(bytes: Uint8Array, begin: number): number {
    if (bytes[begin] !== openBracket) return -1;
    let at = skipSpace(bytes, begin + 1);
    if (bytes[at] === closeBracket) return at + 1;
    for (;;) {
      at = this.#operation(bytes, at);
      if (at < 0) return -1;
      at = skipSpace(bytes, at);
      if (bytes[at] === closeBracket) return at + 1;
      if (bytes[at] !== comma) return -1;
      at = skipSpace(bytes, at + 1);
    }
  }

  #operation(bytes: Uint8Array, begin: number): number {
    if (bytes[begin] !== openBracket) return -1;
    let at = skipSpace(bytes, begin + 1);
    if (bytes[at] !== quote) return -1;
    const form = formOfByte[bytes[at + 1] as number] as number;
    if (form < 0 || !isAt(bytes, at, formBytes[form] as Uint8Array)) return -1;
    const kind = formKinds[form];
    at = skipSpace(bytes, at + (formBytes[form] as Uint8Array).length);
    if (bytes[at] !== comma) return -1;
    at = skipSpace(bytes, at + 1);
    const keyEnd = plainStringEnd(bytes, at);
    if (keyEnd < 0) return -1;
    const key = this.#builder.keyOfBytes(bytes, at + 1, keyEnd);
    at = skipSpace(bytes, keyEnd + 1);
    if (bytes[at] !== comma) return -1;
    at = skipSpace(bytes, at + 1);
    const listEnd = kind === operationKind.read ? this.#listRead(bytes, at, key) : -1;
    if (listEnd >= 0) return listEnd;
    at = this.#value(bytes, at, key);
    if (at < 0) return -1;
    const value = this.#valueId;
    at = skipSpace(bytes, at);
    let from: number = fromUnrecorded;
    if (bytes[at] === comma && kind === operationKind.read) {
      at = skipSpace(bytes, at + 1);
      if (isAt(bytes, at, literals.null)) {
        from = INITIAL;
        at += literals.null.length;
      } else {
        const end = plainStringEnd(bytes, at);
        if (end < 0) return -1;
        from = this.#builder.writerOfBytes(bytes, at + 1, end);
        at = end + 1;
      }
      at = skipSpace(bytes, at);
    }
    if (bytes[at] !== closeBracket) return -1;
    if (kind === operationKind.read) this.#builder.read(key, value, from);
    else if (kind === operationKind.write) this.#builder.write(key, value);
    else this.#builder.append(key, value);
    return at + 1;
  }

  /** The position after `[1,2]]`, a list of integers and the end of its operation; or -1, and nothing was read. */
  #listRead(bytes: Uint8Array, begin: number, key: number): number {
    if (bytes[begin] !== openBracket || bytes[begin + 1] === closeBracket) return -1;
    const elements = this.#elements;
    elements.length = 0;
    for (let at = begin + 1; ; at += 1) {
      const end = integerEnd(bytes, at);
      if (end < 0) return -1;
      elements.push(integerAt(bytes, at, end));
      at = end;
      if (bytes[at] === comma) continue;
      if (bytes[at] !== closeBracket || bytes[at + 1] !== closeBracket) return -1;
      this.#builder.listRead(key, elements);
      return at + 2;
    }
  }

  /** The position after the value, whose ID is left in `#valueId`, or -1. */
  #value(bytes: Uint8Array, at: number, key: number): number {
    const number = integerEnd(bytes, at);
    if (number >= 0) {
      this.#valueId = this.#builder.integer(key, integerAt(bytes, at, number));
      return number;
    }
    const end = bytes[at] === openBracket ? plainArrayEnd(bytes, at) : scalarEnd(bytes, at);
    if (end >= 0) this.#valueId = this.#builder.valueOfBytes(key, bytes, at, end);
    return end;
  }

  #anyLine(bytes: Uint8Array): void {
    const record = this.#record(bytes);
    if (record === null) return;
    if (record.line.text.startsWith(endStart)) {
      this.#end ??= { line: this.#line, transactions: this.#builder.transactionCount };
      return;
    }
    const isFirst = this.#isFirstRecord;
    this.#isFirstRecord = false;
    if (isFirst && isHeader(record)) {
      this.#header = parseHeader(record);
      const { initial, sessions } = this.#header;
      for (const name of sessions) this.#builder.session(name);
      for (const [key, value] of initial) this.#builder.initial(key, value);
      return;
    }
    const { sessionName, operations, ...details } = parseTransactionLine(record);
    for (const { kind, key: name, value, writer, condition } of operations) {
      const key = this.#builder.key(name);
      const id = this.#builder.value(key, value);
      if (kind === 'write') this.#builder.write(key, id);
      else if (kind === 'append') this.#builder.append(key, id);
      else if (writer === undefined) this.#builder.read(key, id);
      else this.#builder.read(key, id, writer === null ? INITIAL : this.#builder.writer(writer));
      if (condition !== undefined) this.#builder.condition(condition);
    }
    this.#builder.endTransaction(this.#builder.session(sessionName), { ...details, line: this.#line });
  }

  /** `null`: the line is blank. */
  #record(bytes: Uint8Array): JsonRecord | null {
    const text = this.#decoded(bytes).replace(/\r$/, '');
    const line = { text: this.#line === 1 ? text.replace(/^\uFEFF/, '') : text, number: this.#line };
    return /\S/.test(line.text) ? parseRecord(line) : null;
  }

  #decoded(bytes: Uint8Array): string {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    if (this.#isLast) return decodeLast(bytes, decoder, { line: this.#line });
    try {
      return decoder.decode(bytes);
    } catch {
      throw new InputError('history/encoding', 'the text is not UTF-8', { line: this.#line });
    }
  }
}

/** A history from chunks that are at hand. @throws InputError as `JsonLinesScanner` */
export function scanHistoryLines(chunks: Iterable<Uint8Array>, options: ScannerOptions = {}): CompactHistory {
  const scanner = new JsonLinesScanner(options);
  for (const chunk of chunks) scanner.push(chunk);
  return scanner.finish();
}

const position = fieldPositions(transactionFields);

const formBytes = operationForms.map(({ letter }) => new TextEncoder().encode(JSON.stringify(letter)));
const formKinds = operationForms.map(({ kind }) => operationKind[kind]);
/** By the byte after the quote: they all differ there. */
const formOfByte = new Int8Array(256).fill(-1);
for (const [form, bytes] of formBytes.entries()) formOfByte[bytes[1] as number] = form;

/** The position after an array of integers and plain strings without spaces, so that its bytes are its canonical text; or -1. */
function plainArrayEnd(bytes: Uint8Array, begin: number): number {
  let at = begin + 1;
  if (bytes[at] === closeBracket) return at + 1;
  for (;;) {
    const number = integerEnd(bytes, at);
    at = number >= 0 ? number : scalarEnd(bytes, at);
    if (at < 0) return -1;
    if (bytes[at] === closeBracket) return at + 1;
    if (bytes[at] !== comma) return -1;
    at += 1;
  }
}
