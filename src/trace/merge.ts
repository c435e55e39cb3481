/**
 * Traces of recorders that ran side by side, as one: lines pass as they come, the trace first whose marks are the furthest behind. Sessions get the
 * number of their trace in front, since two recorders may give the same name; a mark is that of the slowest. Memory: a piece of each.
 */
import { InputError } from '../base/index.ts';
import { isTraceHeader, isTraceMark, parseFields, parseTraceHeader, parseTraceMark, TraceClock } from './line.ts';
import { formatTraceHeader, formatTraceMark } from './record.ts';
import { emptyHeader, type TraceHeader } from './trace.ts';

/**
 * @param onCut called for a trace that ends without its last mark: where another has no marks the merged one has none, which could tell
 * @throws InputError `trace/merge`, and those of headers and marks
 */
export async function* mergedTraces(
  inputs: readonly AsyncIterable<Uint8Array>[],
  onCut: (input: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const traces = inputs.map((input, i) => new MergedTrace(input, i + 1));
  for (const trace of traces) await trace.next();
  const hasMarks = traces.every(({ header }) => header.hasMarks);
  const clockError = Math.max(...traces.map(({ header }) => header.clockError));
  const initial = new Map(traces.flatMap(({ header }) => [...header.initial]));
  const encoder = new TextEncoder();
  yield encoder.encode(`${formatTraceHeader({ ...emptyHeader, initial, hasMarks, clockError })}\n`);
  let marked = -Infinity;
  for (;;) {
    let text = traces.map((trace) => trace.take()).join('');
    const mark = Math.min(...traces.map((trace) => trace.mark));
    if (hasMarks && mark > marked && mark > -Infinity) {
      text += `${formatTraceMark(mark === Infinity ? null : mark)}\n`;
      marked = mark;
    }
    if (text !== '') yield encoder.encode(text);
    const [slowest] = traces.filter(({ isOver }) => !isOver).toSorted((a, b) => a.progress - b.progress);
    if (slowest === undefined) break;
    await slowest.next();
  }
  for (const [input, trace] of traces.entries()) if (trace.isCut) onCut(input);
}

const sessionStart = '{"session":"';
const statementStart = '{"moirai":"statement","session":"';

class MergedTrace {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #number: number;
  readonly #clock = new TraceClock();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #rest = '';
  #out = '';
  #line = 0;
  header: TraceHeader = emptyHeader;
  /** Nothing that starts earlier comes any more. */
  mark = -Infinity;
  /** How far it has come: its marks, or without them what it has given. */
  progress = -Infinity;
  isOver = false;

  /** Has it marks, and ends without the last one? Or is there nothing in it, not even a header? */
  get isCut(): boolean {
    return this.#line === 0 || (this.mark < Infinity && (this.header.hasMarks || this.mark > -Infinity));
  }

  constructor(input: AsyncIterable<Uint8Array>, number: number) {
    this.#chunks = input[Symbol.asyncIterator]();
    this.#number = number;
  }

  /** What has come since the last time. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  async next(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done === true) {
      this.isOver = true;
      // A line that stops in its middle: of a recorder that was cut off it is left out, its marks say what is there.
      if (this.#rest !== '' && !this.header.hasMarks) this.#take(this.#rest);
      this.#rest = '';
      return;
    }
    const lines = (this.#rest + this.#decoder.decode(value, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (!this.header.hasMarks) this.progress += 1;
    if (this.progress === -Infinity) this.progress = 0;
  }

  #take(text: string): void {
    this.#line += 1;
    if (text.startsWith(sessionStart)) {
      if (this.mark === Infinity)
        throw new InputError('trace/merge', 'an operation comes after the last mark', { line: this.#line });
      this.#out += `${sessionStart}${this.#number}:${text.slice(sessionStart.length)}\n`;
      return;
    }
    if (text.startsWith(statementStart)) {
      this.#out += `${statementStart}${this.#number}:${text.slice(statementStart.length)}\n`;
      return;
    }
    if (!/\S/.test(text)) return;
    const fields = parseFields(text, this.#line);
    if (isTraceMark(fields)) this.#takeMark(text, fields);
    else if (isTraceHeader(fields) && this.#line === 1) this.header = parseTraceHeader(fields, this.#line);
    else
      throw new InputError('trace/merge', 'of several traces each line should begin with its session', {
        line: this.#line,
      });
  }

  #takeMark(text: string, fields: ReturnType<typeof parseFields>): void {
    const { time, clockError } = parseTraceMark(fields, this.#line, this.#clock);
    this.mark = Math.max(this.mark, time);
    this.progress = this.mark;
    // That a clock is worse than it was said to be is for the verifier to refuse.
    if (clockError !== null) this.#out += `${text.replace(/"time":(?:\d+|null)/, `"time":0`)}\n`;
  }
}
