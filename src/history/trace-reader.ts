/** A push parser for traces of any length: `push` every chunk, then `finish`. Nothing of a line is kept after it. */
import { InputError } from '../base/input-error.ts';
import { emptyHeader, type TraceHeader, type TraceMark, type TraceOperation } from './trace.ts';
import { SavepointNames } from './trace-savepoints.ts';
import {
  isTraceHeader,
  isTraceMark,
  parseFields,
  parseOperation,
  parseTraceHeader,
  parseTraceMark,
  TraceClock,
} from './trace-line.ts';

export interface TraceReaderOptions {
  readonly onHeader?: (header: TraceHeader) => void;
  readonly onOperation: (operation: TraceOperation, line: number) => void;
  readonly onMark?: (mark: TraceMark, line: number) => void;
  /** Characters that a line may have. Default 2^26. */
  readonly lineLengthMax?: number;
}

export class TraceReader {
  readonly #options: TraceReaderOptions;
  readonly #clock = new TraceClock();
  readonly #savepoints = new SavepointNames();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #lineLengthMax: number;
  #rest = '';
  #line = 0;
  #records = 0;
  #hasMarks = false;

  constructor(options: TraceReaderOptions) {
    this.#options = options;
    this.#lineLengthMax = options.lineLengthMax ?? 2 ** 26;
  }

  /** What is added to the times of operations to have those of the trace. */
  get base(): bigint {
    return this.#clock.base ?? 0n;
  }

  /** @throws InputError `trace/...` with the line; chunks may end anywhere */
  push(bytes: Uint8Array): void {
    const text = this.#decode(bytes, true);
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (this.#rest.length > this.#lineLengthMax)
      throw new InputError('trace/size', `a line of more than ${this.#lineLengthMax} characters`, {
        line: this.#line + 1,
      });
  }

  /**
   * @returns whether the last line stops in its middle and was left out: only of a trace with marks, which say what of it can be relied on
   * @throws InputError `trace/truncated` for one without
   */
  finish(): boolean {
    if (this.#hasMarks && this.#rest !== '') return true;
    const text = this.#rest + this.#decode(new Uint8Array(), false);
    this.#rest = '';
    if (text !== '') this.#take(text);
    return false;
  }

  #decode(bytes: Uint8Array, stream: boolean): string {
    try {
      return this.#decoder.decode(bytes, { stream });
    } catch {
      throw new InputError('trace/encoding', 'the text is not UTF-8', { line: this.#line + 1 });
    }
  }

  #take(text: string): void {
    this.#line += 1;
    if (!/\S/.test(text)) return;
    const fields = parseFields(text, this.#line);
    this.#records += 1;
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
