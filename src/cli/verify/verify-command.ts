/** `moirai verify`: does a trace of timed operations agree with what the database promises? */
import type { Command } from '@commander-js/extra-typings';
import { type Conclusion, conclusionJson, exitCodeOf, gapText } from '../../evidence/index.ts';
import { counted, type ReportData, type Styler, wrap } from '../../report/index.ts';
import type { SmallViolation, TraceResult, Violation } from '../../verify/index.ts';
import type { TraceOperation } from '../../trace/index.ts';
import type { ExitCode, Host, Ending } from '../host.ts';
import { reportFiles, withReport } from '../page/report-file.ts';
import { shellWord } from '../options/invocation.ts';
import { wholeNumber } from '../options/option-values.ts';
import { runInterruptibly } from '../interruption/run-interruptibly.ts';
import { appearance } from '../output/style.ts';
import { printEnding } from '../modules/user-program.ts';
import { verifyPage } from './verify-page.ts';
import { namesOf, readAll, shareText } from './verify-input.ts';

interface VerifyOptions {
  readonly engine?: string;
  readonly isolation?: string;
  readonly mechanisms?: string;
  readonly buffer?: number;
  readonly clockError: number;
  readonly maxViolations: number;
  readonly report: string | null;
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
    .option('--report <file>', 'write what was found as one HTML page: the violations on a time axis, step by step')
    .option('--json', 'print one JSON object and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', verifyHelp)
    .action(async (files, { json = false, report, ...options }) => {
      end(await verifyCommand(files, { ...options, json, report: reportFiles({ report }).report }, host));
    });
}

/** Ctrl-C ends the recorder in front of the pipe, too: what it still writes is taken, for a while. */
const graceMs = 500;

async function verifyCommand(files: readonly string[], options: VerifyOptions, host: Host): Promise<ExitCode> {
  const { formatTraceLine } = await import('../../trace/index.ts');
  const verify = await import('../../verify/index.ts');
  const mechanisms = verify.mechanismsFor(options);
  const { style, width } = appearance(host, options.color);
  let print = host.out;
  let shown = 0;
  const numbers = new Map<SmallViolation, number>();
  const verification = new verify.TraceVerification({
    mechanisms,
    clockError: options.clockError,
    violationsMax: options.maxViolations,
    ...(options.buffer === undefined ? {} : { bufferMax: options.buffer }),
    onViolation: (violation) => {
      shown += 1;
      host.foundViolation();
      numbers.set(violation, shown);
      if (options.json) return;
      const lines = violationLines(violation, shown, width, verification.base, formatTraceLine);
      print(`${[style('bad', lines[0] ?? ''), ...lines.slice(1)].join('\n')}\n\n`);
    },
    onAnother: (another, first) => {
      if (!options.json) print(`${anotherLines(another, numbers.get(first) ?? 0, width).join('\n')}\n\n`);
    },
  });
  const texts = { formatTraceLine, style, cutText: verify.cutText };
  const endingOf = (result: TraceResult, isWhole: boolean): Ending =>
    verifyEnding(files, result, verify.conclusionOfTrace(result, isWhole), options, texts);
  const work = async (quiet: Host): Promise<ExitCode> => {
    print = quiet.out;
    const result = await readAll(files, verification, quiet, verify.readTraces);
    // What an interrupted recorder wrote is whole where it says so itself.
    const isWhole = !host.interruption.aborted || verification.state.isRecorded;
    const conclusion = verify.conclusionOfTrace(result, isWhole);
    const data = (): ReportData => pageOf(files, result, conclusion, options, verify.cutText);
    const ending = await withReport(endingOf(result, isWhole), data, {
      report: options.report,
      prints: !options.json,
      host: quiet,
    });
    return printEnding(ending, quiet);
  };
  const grace = files.includes('-') ? { graceMs } : {};
  return runInterruptibly(host, () => endingOf(verification.soFar, false), work, grace);
}

/** What the trace is compared with, as it was asked for. */
function asked({ engine, isolation, mechanisms }: VerifyOptions): string {
  return [engine, isolation, mechanisms].filter((part) => part !== undefined).join(', ');
}

/** What a report is made with. */
interface Texts {
  readonly formatTraceLine: FormatLine;
  readonly style: Styler;
  readonly cutText: (cut: number, result: TraceResult) => string;
}

function verifyEnding(
  files: readonly string[],
  result: TraceResult,
  conclusion: Conclusion,
  options: VerifyOptions,
  { formatTraceLine, style, cutText }: Texts,
): Ending {
  const code = exitCodeOf(conclusion);
  if (options.json) {
    const report = pageOf(files, result, conclusion, options, cutText);
    return { out: `${JSON.stringify({ ...jsonOf(result, conclusion, formatTraceLine), report })}\n`, err: '', code };
  }
  const [first = '', ...rest] = summaryLines(files, result, conclusion, cutText);
  const colours = { satisfied: 'good', violated: 'bad', unknown: 'warning', 'at-fault': 'bad' } as const;
  return { out: `${[style(colours[conclusion.kind], first), ...rest].join('\n')}\n`, err: '', code };
}

/** For the HTML report. */
function pageOf(
  files: readonly string[],
  result: TraceResult,
  conclusion: Conclusion,
  options: VerifyOptions,
  cutText: Texts['cutText'],
): ReportData {
  return verifyPage(result, conclusion, {
    heading: `moirai verify ${files.map(shellWord).join(' ')}`,
    database: asked(options),
    summary: summaryLines(files, result, conclusion, cutText),
  });
}

function summaryLines(
  files: readonly string[],
  result: TraceResult,
  conclusion: Conclusion,
  cutText: Texts['cutText'],
): string[] {
  const { counts, pipeline } = result;
  const found =
    conclusion.kind === 'unknown'
      ? `unknown: ${conclusion.gaps.map(gapText).join('; ')}`
      : conclusion.kind === 'satisfied'
        ? 'satisfied: no violation'
        : `violated: ${counted(counts.violations, 'violation')}`;
  const tolerated = [
    ...(counts.unknown > 0 ? [`${counted(counts.unknown, 'transaction')} of unknown fate`] : []),
    ...(pipeline.stalled > 0 ? [`${counted(pipeline.stalled, 'session')} no longer waited for`] : []),
    ...(pipeline.late > 0 ? [`${counted(pipeline.late, 'operation')} overtaken, and not checked`] : []),
    ...(result.cut === null || conclusion.kind === 'unknown' ? [] : [cutText(result.cut, result)]),
    ...(pipeline.moved > 0 ? [`${counted(pipeline.moved, 'operation')} moved within the clock error`] : []),
  ];
  return [
    found,
    `${namesOf(files)}: ${counted(counts.transactions, 'transaction')}, ${counted(counts.operations, 'operation')}; dependencies: ${shareText(counts.deduced, counts.uncertain)}`,
    ...(tolerated.length === 0 ? [] : [tolerated.join(', ')]),
    ...(conclusion.kind === 'satisfied' ? conclusion.assumed.map((clause) => `assumed: ${clause}`) : []),
  ];
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

function anotherLines({ mechanism, reason }: Violation, number: number, width: number): string[] {
  return [`violation ${number}, also found by ${mechanism}`, ...wrap(reason, width)];
}

function jsonOf(result: TraceResult, conclusion: Conclusion, format: FormatLine): object {
  const { counts, pipeline, violations, base } = result;
  const parsed = (operation: TraceOperation): unknown => jsonOperation(operation, base, format);
  return {
    operations: counts.operations,
    transactions: counts.transactions,
    ...conclusionJson(conclusion),
    violations: violations.map(({ mechanism, transactions, rows, reason, evidence, smallest, alsoFoundBy }) => ({
      mechanism,
      transactions,
      rows,
      operations: evidence.map(({ operation }) => parsed(operation)),
      roles: evidence.map(({ role }) => role),
      reason,
      smallest: smallest?.map(parsed) ?? null,
      alsoFoundBy: alsoFoundBy.map((other) => ({ mechanism: other.mechanism, rows: other.rows, reason: other.reason })),
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

Ctrl-C ends it with the violations so far and how much was checked; a second Ctrl-C ends at once.
Exit codes: 0 nothing found, 1 violation found, 2 not known (reads were left out, or the trace is cut off), 3 bad input or usage,
4 a failure of moirai itself.`;
