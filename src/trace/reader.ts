/** A push parser for traces of any length: `push` every chunk, then `finish`. Nothing of a line is kept after it. */
import { InputError, joinBytes } from '../base/index.ts';
import { emptyHeader, type TraceHeader, type TraceMark, type TraceOperation } from './trace.ts';
import type { Fields } from './fields.ts';
import { SavepointNames } from './savepoints.ts';
import {
  isTraceHeader,
  isTraceMark,
  parseFields,
  parseOperation,
  parseTraceHeader,
  parseTraceMark,
  TraceClock,
} from './line.ts';
import { isTraceStatement, parseTraceStatement, type TraceStatement } from './statement.ts';

export interface TraceReaderOptions {
  readonly onHeader?: (header: TraceHeader) => void;
  readonly onOperation: (operation: TraceOperation, line: number) => void;
  readonly onMark?: (mark: TraceMark, line: number) => void;
  /** Statements are passed over where nothing wants them. */
  readonly onStatement?: (statement: TraceStatement, line: number) => void;
  /** Bytes that a line may have. Default 2^26. */
  readonly lineBytesMax?: number;
}

const newline = 0x0a;

export class TraceReader {
  readonly #options: TraceReaderOptions;
  readonly #clock = new TraceClock();
  readonly #savepoints = new SavepointNames();
  // A byte order mark is taken off at the beginning only, whatever the chunks are.
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #lineBytesMax: number;
  /** What has come of a line whose end has not. */
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #line = 0;
  #records = 0;
  #hasMarks = false;

  constructor(options: TraceReaderOptions) {
    this.#options = options;
    this.#lineBytesMax = options.lineBytesMax ?? 2 ** 26;
  }

  /** What is added to the times of operations to have those of the trace. */
  get base(): bigint {
    return this.#clock.base ?? 0n;
  }

  /** @throws InputError `trace/...` with the line; chunks may end anywhere */
  push(bytes: Uint8Array): void {
    const end = bytes.lastIndexOf(newline) + 1;
    if (end > 0) {
      const whole = this.#withRest(bytes.subarray(0, end));
      this.#rest = [];
      this.#restBytes = 0;
      this.#takeLines(whole);
    }
    if (end === bytes.length) return;
    this.#rest.push(bytes.slice(end));
    this.#restBytes += bytes.length - end;
    if (this.#restBytes > this.#lineBytesMax) this.#failTooLong(this.#line + 1);
  }

  /**
   * @returns whether the last line stops in its middle and was left out: only of a trace with marks, which say what of it can be relied on
   * @throws InputError `trace/truncated` for one without
   */
  finish(): boolean {
    if (this.#restBytes === 0) return false;
    if (this.#hasMarks) return true;
    const text = this.#decode(this.#withRest(new Uint8Array()));
    this.#rest = [];
    this.#restBytes = 0;
    this.#take(text);
    return false;
  }

  /** An operation that another reader has read: for the line numbers after it. */
  skipLine(): void {
    this.#line += 1;
    this.#records += 1;
  }

  /** Has any session a savepoint, and has this one? What ends it has to come to this reader. */
  get knowsSavepoints(): boolean {
    return this.#savepoints.size > 0;
  }

  knowsSavepointsOf(session: string): boolean {
    return this.#savepoints.knows(session);
  }

  /** @throws InputError `trace/size` for a line that is longer already and has not ended */
  checkLength(bytes: number): void {
    if (bytes > this.#lineBytesMax) this.#failTooLong(this.#line + 1);
  }

  #withRest(bytes: Uint8Array): Uint8Array {
    return this.#restBytes === 0 ? bytes : joinBytes([...this.#rest, bytes]);
  }

  /** Whole lines. Where they are no UTF-8 they are taken one by one, so that those before the wrong one count and its number is known. */
  #takeLines(bytes: Uint8Array): void {
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch {
      for (let from = 0; from < bytes.length; ) {
        const end = bytes.indexOf(newline, from);
        this.#take(this.#decode(bytes.subarray(from, end)));
        from = end + 1;
      }
      return;
    }
    const lines = text.split('\n');
    lines.pop();
    for (const line of lines) this.#take(line);
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      const isGzip = this.#line === 0 && bytes[0] === 0x1f && bytes[1] === 0x8b;
      throw isGzip
        ? new InputError('trace/compressed', 'the trace is compressed: gunzip -c FILE | moirai verify -', { line: 1 })
        : new InputError('trace/encoding', 'the text is not UTF-8', { line: this.#line + 1 });
    }
  }

  #failTooLong(line: number): never {
    throw new InputError('trace/size', `a line of more than ${this.#lineBytesMax} bytes`, { line });
  }

  #take(given: string): void {
    const text = this.#line === 0 && given.startsWith('\ufeff') ? given.slice(1) : given;
    this.#line += 1;
    if (text.length > this.#lineBytesMax) this.#failTooLong(this.#line);
    if (!/\S/.test(text)) return;
    try {
      this.#takeFields(parseFields(text, this.#line));
    } catch (error) {
      if (!(error instanceof InputError) || error.place !== undefined) throw error;
      throw new InputError(error.code.replace('history/', 'trace/'), error.message, { line: this.#line });
    }
  }

  #takeFields(fields: Fields): void {
    this.#records += 1;
    if (isTraceStatement(fields)) {
      this.#options.onStatement?.(parseTraceStatement(fields, this.#line), this.#line);
      return;
    }
    if (!isTraceHeader(fields)) {
      const operation = parseOperation(fields, this.#line, this.#clock);
      this.#savepoints.check(operation, this.#line);
      this.#options.onOperation(operation, this.#line);
      return;
    }
    if (isTraceMark(fields)) {
      this.#options.onMark?.(parseTraceMark(fields, this.#line, this.#clock), this.#line);
      return;
    }
    const header = parseTraceHeader(fields, this.#line);
    if (this.#records > 1)
      throw new InputError('trace/header', 'a header stands on the first line only', { line: this.#line });
    this.#hasMarks = header.hasMarks;
    this.#options.onHeader?.(header);
  }
}

/** A whole trace, for tests and small inputs. @throws InputError as `TraceReader` */
export function parseTrace(text: string): { readonly header: TraceHeader; readonly operations: TraceOperation[] } {
  const operations: TraceOperation[] = [];
  let header = emptyHeader;
  const reader = new TraceReader({
    onHeader: (found) => {
      header = found;
    },
    onOperation: (operation) => operations.push(operation),
  });
  reader.push(new TextEncoder().encode(text));
  reader.finish();
  return { header: { ...header, base: reader.base }, operations };
}
