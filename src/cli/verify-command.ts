/** `moirai verify`: does a trace of timed operations agree with what the database promises? */
import type { Command } from '@commander-js/extra-typings';
import { InputError } from '../base/index.ts';
import { counted, formatCount, wrap } from '../report/index.ts';
import type { Mechanisms, SmallViolation, TraceOperation, TraceResult, TraceState } from '../verify/index.ts';
import type { ExitCode, Host } from './host.ts';
import { mergedTraces } from './merge-traces.ts';
import { wholeNumber } from './option-values.ts';
import { appearance } from './style.ts';

interface VerifyOptions {
  readonly engine?: string;
  readonly isolation?: string;
  readonly mechanisms?: string;
  readonly buffer?: number;
  readonly clockError: number;
  readonly maxViolations: number;
  readonly json: boolean;
  readonly color: boolean;
}

export function addVerify(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('verify')
    .description(
      'Checks a trace, operations with the times between which they ran, against the mechanisms by which an engine gives a level. While it comes in.',
    )
    .argument('<file...>', 'traces as JSON Lines; - is standard input. Several: of recorders that ran side by side')
    .option('--engine <name>', 'the database: postgres, mysql, tidb, cockroachdb, oracle, sqlserver, sqlite, ...')
    .option('--isolation <level>', "its level by its own name, for example 'repeatable read'")
    .option('--mechanisms <list>', 'instead of an engine: cr=first-statement,me,fuw,sc=ssi')
    .option('--buffer <n>', 'operations that may wait for slow sessions', wholeNumber('buffer', 1))
    .option(
      '--clock-error <n>',
      'how far the clocks of clients may be off, in the unit of the trace',
      wholeNumber('clock-error', 0),
      0,
    )
    .option('--max-violations <n>', 'how many to show', wholeNumber('max-violations', 1), 100)
    .option('--json', 'print one JSON object and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', verifyHelp)
    .action(async (files, { json = false, ...options }) => {
      end(await verifyCommand(files, { ...options, json }, host));
    });
}

async function verifyCommand(files: readonly string[], options: VerifyOptions, host: Host): Promise<ExitCode> {
  const verify = await import('../verify/index.ts');
  const mechanisms = mechanismsFor(options, verify);
  const { style, width } = appearance(host, options.color);
  let shown = 0;
  const verification = new verify.TraceVerification({
    mechanisms,
    clockError: options.clockError,
    violationsMax: options.maxViolations,
    ...(options.buffer === undefined ? {} : { bufferMax: options.buffer }),
    onViolation: (violation) => {
      shown += 1;
      if (options.json) return;
      const lines = violationLines(violation, shown, width, verification.base, verify.formatTraceLine);
      host.out(`${[style('bad', lines[0] ?? ''), ...lines.slice(1)].join('\n')}\n\n`);
    },
  });
  const result = await readAll(files, verification, host);
  if (options.json) host.out(`${JSON.stringify(jsonOf(result, verify.formatTraceLine))}\n`);
  else {
    const lines = summaryLines(files, result);
    const colour = ({ satisfied: 'good', violated: 'bad', unknown: 'warning' } as const)[verdictOf(result)];
    host.out(`${[style(colour, lines[0] ?? ''), ...lines.slice(1)].join('\n')}\n`);
  }
  return ({ satisfied: 0, violated: 1, unknown: 2 } as const)[verdictOf(result)];
}

interface Parsers {
  readonly mechanismsOf: (engine: string, isolation: string | undefined) => Mechanisms;
  readonly parseMechanisms: (text: string) => Mechanisms;
}

function mechanismsFor(
  { engine, isolation, mechanisms }: VerifyOptions,
  { mechanismsOf, parseMechanisms }: Parsers,
): Mechanisms {
  if (mechanisms !== undefined) {
    if (engine === undefined && isolation === undefined) return parseMechanisms(mechanisms);
    throw new InputError('option/usage', '--mechanisms takes the place of --engine and --isolation');
  }
  if (engine === undefined)
    throw new InputError('option/usage', 'verify needs --engine and --isolation, or --mechanisms');
  return mechanismsOf(engine, isolation);
}

interface Verification {
  readonly state: TraceState;
  push(bytes: Uint8Array): void;
  finish(): TraceResult;
}

const progressEveryMs = 5_000;
const graceMs = 2_000;

async function readAll(files: readonly string[], verification: Verification, host: Host): Promise<TraceResult> {
  const stopShowing = showEvery(progressEveryMs, verification, host);
  try {
    const inputs = files.map((file) => (file === '-' ? untilEnough(host.openInput(file), host) : host.openInput(file)));
    const [only, ...others] = inputs;
    for await (const chunk of only !== undefined && others.length === 0 ? only : mergedTraces(inputs))
      verification.push(chunk);
    const result = verification.finish();
    if (result.counts.operations === 0) throw new InputError('trace/empty', 'there is no operation in it');
    return result;
  } catch (error) {
    throw error instanceof InputError && error.place?.file === undefined ? error.in(namesOf(files)) : error;
  } finally {
    stopShowing();
  }
}

/** A line every so often, also while nothing comes. @returns ends it */
function showEvery(everyMs: number, verification: Verification, host: Host): () => void {
  let [shownMs, operationsShown] = [performance.now(), 0];
  const timer = setInterval(() => {
    const { counts, pipeline, lag, isRecorded } = verification.state;
    const nowMs = performance.now();
    const rate = Math.round(((counts.operations - operationsShown) / (nowMs - shownMs)) * 1_000);
    const parts = [
      `${formatCount(counts.operations)} operations`,
      `${formatCount(rate)}/s`,
      `${formatCount(pipeline.waiting)} waiting, lag ${isRecorded ? `${(lag / 1e9).toFixed(3)} s` : formatCount(lag)}`,
      `${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`,
      `${formatCount(counts.violations)} violations`,
      `dependencies: ${shareText(counts.deduced, counts.uncertain)}`,
    ];
    host.err(`${parts.join(', ')}\n`);
    [shownMs, operationsShown] = [nowMs, counts.operations];
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Ctrl-C ends the recorder in front of the pipe, too: what it still writes is taken, for a while. */
async function* untilEnough(chunks: AsyncIterable<Uint8Array>, host: Host): AsyncGenerator<Uint8Array> {
  const enough = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const interrupted = async (): Promise<void> => {
    await host.untilInterrupted();
    timer = setTimeout(() => enough.abort(), graceMs);
  };
  void interrupted();
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await nextUntil(enough.signal, iterator);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Not a race: that would keep something of every piece until the interruption. */
async function nextUntil(
  enough: AbortSignal,
  iterator: AsyncIterator<Uint8Array>,
): Promise<IteratorResult<Uint8Array, undefined>> {
  const over = { done: true, value: undefined } as const;
  if (enough.aborted) return over;
  let stop = (): void => {};
  try {
    return await new Promise<IteratorResult<Uint8Array, undefined>>((resolve, reject) => {
      stop = () => resolve(over);
      enough.addEventListener('abort', stop);
      iterator.next().then(resolve, reject);
    });
  } finally {
    enough.removeEventListener('abort', stop);
  }
}

/** Of a trace in which reads were left out it cannot be said that nothing is wrong. */
function verdictOf({ counts }: TraceResult): 'satisfied' | 'violated' | 'unknown' {
  if (counts.violations > 0) return 'violated';
  return counts.skipped > 0 ? 'unknown' : 'satisfied';
}

function namesOf(files: readonly string[]): string {
  return files.map((file) => (file === '-' ? 'standard input' : file)).join(', ');
}

function summaryLines(files: readonly string[], result: TraceResult): string[] {
  const { counts, pipeline } = result;
  const verdict = verdictOf(result);
  const found =
    verdict === 'violated'
      ? `violated: ${counted(counts.violations, 'violation')}`
      : verdict === 'unknown'
        ? `unknown: ${counted(counts.skipped, 'read')} not checked: opaque statements may have written their rows, or their sessions fell too far behind`
        : 'satisfied: no violation';
  const tolerated = [
    ...(counts.unknown > 0 ? [`${counted(counts.unknown, 'transaction')} of unknown fate`] : []),
    ...(pipeline.stalled > 0 ? [`${counted(pipeline.stalled, 'session')} no longer waited for`] : []),
    ...(pipeline.late > 0 ? [`${counted(pipeline.late, 'operation')} overtaken, and not checked`] : []),
    ...(result.cut === null ? [] : [`cut off: ${counted(result.cut, 'operation')} behind its last mark not checked`]),
    ...(pipeline.moved > 0 ? [`${counted(pipeline.moved, 'operation')} moved within the clock error`] : []),
  ];
  return [
    found,
    `${namesOf(files)}: ${counted(counts.transactions, 'transaction')}, ${counted(counts.operations, 'operation')}; dependencies: ${shareText(counts.deduced, counts.uncertain)}`,
    ...(tolerated.length === 0 ? [] : [tolerated.join(', ')]),
  ];
}

function shareText(deduced: number, uncertain: number): string {
  const share = deduced + uncertain === 0 ? 0 : uncertain / (deduced + uncertain);
  return `${formatCount(deduced)} deduced, ${formatCount(uncertain)} uncertain (${(100 * share).toFixed(2)} %)`;
}

type FormatLine = (operation: TraceOperation, base: bigint) => string;

function violationLines(
  violation: SmallViolation,
  number: number,
  width: number,
  base: bigint,
  format: FormatLine,
): string[] {
  const { mechanism, reason, evidence, smallest } = violation;
  return [
    `violation ${number}: ${mechanism}`,
    ...wrap(reason, width),
    ...evidence.map(({ operation, role }) => `  ${role}: ${format(operation, base)}`),
    ...(smallest === null
      ? []
      : ['the smallest trace that shows it:', ...smallest.map((operation) => `  ${format(operation, base)}`)]),
  ];
}

function jsonOf(result: TraceResult, format: FormatLine): object {
  const { counts, pipeline, violations, base } = result;
  const parsed = (operation: TraceOperation): unknown => jsonOperation(operation, base, format);
  return {
    operations: counts.operations,
    transactions: counts.transactions,
    verdict: verdictOf(result),
    violations: violations.map(({ mechanism, transactions, rows, reason, evidence, smallest }) => ({
      mechanism,
      transactions,
      rows,
      operations: evidence.map(({ operation }) => parsed(operation)),
      roles: evidence.map(({ role }) => role),
      reason,
      smallest: smallest?.map(parsed) ?? null,
    })),
    violationCount: counts.violations,
    deduced: counts.deduced,
    uncertain: counts.uncertain,
    skipped: counts.skipped,
    unknown: counts.unknown,
    stalled: pipeline.stalled,
    moved: pipeline.moved,
    late: pipeline.late,
    cut: result.cut,
  };
}

/** As in the trace; times that a double cannot hold are strings, which the reader takes too. */
function jsonOperation(operation: TraceOperation, base: bigint, format: FormatLine): unknown {
  const text = format(operation, base).replace(
    /"start":(-?\d{16,}),"end":(-?\d{16,}|null)\}$/,
    (_, start: string, end: string) => `"start":"${start}","end":${end === 'null' ? end : `"${end}"`}}`,
  );
  return JSON.parse(text) as unknown;
}

const verifyHelp = `
The trace has an operation a line, in order of start for each session:
  {"session":"a","transaction":"t1","op":"read","reads":[["accounts/7",{"balance":30}]],"start":1,"end":2}
  {"session":"a","transaction":"t1","op":"commit","start":3,"end":4}

Examples:
  moirai verify run.trace.jsonl --engine postgres --isolation serializable
  tail -f run.trace.jsonl | moirai verify - --engine mysql --isolation 'repeatable read'
  moirai verify run.trace.jsonl --mechanisms cr=statement,me

Exit codes: 0 nothing found, 1 violation found, 2 not known (reads were left out), 3 bad input or usage,
4 a failure of moirai itself.`;
