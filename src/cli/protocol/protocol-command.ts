/** `moirai protocol`: every interleaving of a commit protocol, and the shortest way to a violation. */
import type { Command } from '@commander-js/extra-typings';
import { firstUserFrame, InputError } from '../../base/index.ts';
import { exitCodeOf } from '../../evidence/index.ts';
import { checkWritable, holdFile } from '../../files/index.ts';
import { formatHistoryLines, withEndLine } from '../../history/index.ts';
import {
  checkProtocolYielding,
  checkShape,
  formatMermaid,
  formatSvg,
  itfOf,
  ProtocolFault,
  simulateProtocol,
  type Progress,
  type Protocol,
  type ProtocolCheckOptions,
  type ProtocolCheckResult,
} from '../../protocol/index.ts';
import { formatCount, type ReportData } from '../../report/index.ts';
import { parseCommitTestLevel, type TimelessLevel } from '../../states/index.ts';
import { checkpointBytes, readCheckpoint } from './protocol-checkpoint.ts';
import type { ExitCode, Host } from '../host.ts';
import { loadDefaultInTime } from '../modules/module-loading.ts';
import { shellWord } from '../options/invocation.ts';
import { reportFiles, withReport } from '../page/report-file.ts';
import { oneOf, seconds, wholeNumber } from '../options/option-values.ts';
import { cutEnding, formatFault, formatResult, jsonOf, pageOf } from './protocol-report.ts';
import { type SourceFile, sourceOf } from '../modules/source-files.ts';
import { checkProtocolOnThreads } from './protocol-threads.ts';
import { appearance } from '../output/style.ts';
import { withCause } from '../modules/user-code.ts';
import { printEnding } from '../modules/user-program.ts';

interface ProtocolOptions {
  readonly levels: readonly TimelessLevel[];
  readonly order: 'breadth-first' | 'depth-first';
  readonly symmetry: boolean;
  readonly jobs: number;
  /** How many random behaviours; `null`: all behaviours. */
  readonly simulate: number | null;
  readonly seed: number;
  readonly deadlock: boolean;
  readonly reduction: boolean;
  readonly eventually: boolean;
  /** A checkpoint's file. */
  readonly resume: string | null;
  readonly statesMax: number;
  readonly timeoutMs: number | null;
  readonly memoryBytesMax: number;
  readonly files: OutputFiles;
  readonly report: string | null;
  readonly json: boolean;
  readonly color: boolean;
}

interface OutputFiles {
  readonly svg?: string;
  readonly mermaid?: string;
  readonly itf?: string;
  readonly checkpoint?: string;
  readonly history?: string;
}

const orders = ['breadth-first', 'depth-first'] as const;
const defaults = { statesMax: 100_000_000, memoryMegabytes: 6_000 };

export function addProtocol(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('protocol')
    .description('Explores every interleaving of a commit protocol and shows the shortest way to a violation.')
    .argument('<file>', 'a module whose default export is a protocol: TypeScript or JavaScript')
    .argument('[parameters...]', "the protocol's own parameters, such as --transactions 3")
    .allowUnknownOption()
    .option('--level <levels>', 'what the observed transactions must be at in every state; several with commas', levels)
    .option('--order <order>', `of the search: ${orders.join(', ')}`, oneOf('order', orders), orders[0])
    .option('--jobs <n>', 'threads', wholeNumber('jobs', 1), 1)
    .option('--simulate <runs>', 'random behaviours instead of all', wholeNumber('simulate', 1))
    .option('--seed <n>', 'for --simulate', wholeNumber('seed', Number.MIN_SAFE_INTEGER), 1)
    .option('--no-symmetry', 'keep states apart that differ only by names')
    .option(
      '--reduction',
      'do not interleave the steps that the protocol calls local; traces need not be shortest then',
    )
    .option('--no-deadlock', 'a state in which nothing can happen is no violation')
    .option('--states-max <n>', 'distinct states to look at', wholeNumber('states-max', 1), defaults.statesMax)
    .option('--memory <megabytes>', 'for states', wholeNumber('memory', 1), defaults.memoryMegabytes)
    .option('--timeout <seconds>', 'for the search (default: none)', seconds('timeout'))
    .option('--no-eventually', 'look at safety only')
    .option('--checkpoint <file>', 'write where the search stopped at a budget')
    .option('--resume <file>', 'continue from a checkpoint')
    .option('--svg <file>', 'write the trace as a picture')
    .option('--mermaid <file>', "write the trace as Mermaid's sequence diagram")
    .option('--itf <file>', 'write the trace in ITF, the format of Apalache and Quint')
    .option('--history <file>', 'write what clients observed, for moirai check')
    .option('--report <file>', 'write what was found as one HTML page: the trace with its messages, step by step')
    .option('--json', 'print one JSON object and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', help)
    .action(async (file, parameters, options) => {
      const {
        level = [],
        memory,
        timeout = null,
        simulate = null,
        reduction = false,
        json = false,
        svg,
        mermaid,
        itf,
        history,
        checkpoint,
        resume = null,
        report,
        ...rest
      } = options;
      const files = definedOnly({ svg, mermaid, itf, history, checkpoint });
      const given = {
        ...rest,
        simulate,
        reduction,
        resume,
        levels: level,
        memoryBytesMax: memory * 1_000_000,
        timeoutMs: timeout,
        json,
        report: reportFiles({ report }).report,
        files,
      };
      end(await protocolCommand(file, parametersOf(parameters), given, host));
    });
}

const help = `
Every parameter of the protocol is an option: --transactions 3.
What should eventually hold is not checked up to symmetry: --no-symmetry checks it, --no-eventually leaves it out; else the verdict is unknown.

Examples:
  moirai protocol examples/protocols/two-phase-locking.ts --level serializable --no-eventually
  moirai protocol examples/protocols/two-phase-locking.ts --no-symmetry
  moirai protocol examples/protocols/two-phase-locking.ts --transactions 3 --bug 1 --level serializable --svg trace.svg

Ctrl-C ends it with what is known so far; a second Ctrl-C ends at once.
Exit codes: 0 nothing found, 1 violation found, 2 not known (out of time or budget), 3 bad input or usage,
4 a failure of moirai itself.`;

async function protocolCommand(
  file: string,
  parameters: Readonly<Record<string, number>>,
  options: ProtocolOptions,
  host: Host,
): Promise<ExitCode> {
  const { checkpoint, ...others } = options.files;
  for (const path of Object.values(others)) if (path !== '-') checkWritable(path);
  const release = checkpoint === undefined || checkpoint === '-' ? () => {} : holdFile(checkpoint);
  try {
    return await searchProtocol(file, parameters, options, host);
  } finally {
    release();
  }
}

async function searchProtocol(
  file: string,
  parameters: Readonly<Record<string, number>>,
  options: ProtocolOptions,
  host: Host,
): Promise<ExitCode> {
  const hasCheckpoints = options.resume !== null || options.files.checkpoint !== undefined;
  // Before it is loaded: what is edited while the search runs is not what was searched.
  const source = hasCheckpoints ? await sourceOf(file) : [];
  const limits = { timeoutMs: options.timeoutMs ?? 0, json: options.json };
  const loaded = await loadDefaultInTime(file, 'protocol', limits, host);
  if ('ending' in loaded) return printEnding(loaded.ending, host);
  const protocol = checkShape(loaded.found);
  const startedMs = performance.now();
  const { timeoutMs, resume, ...search } = options;
  const onOneThread = options.jobs === 1 && options.order === 'breadth-first' && options.simulate === null;
  if (!onOneThread && hasCheckpoints)
    throw new InputError('option/checkpoint', 'only a breadth-first search on one thread has checkpoints');
  const report = progressLines(host, startedMs);
  let last: Progress = { states: 0, generated: 0, depth: 0, queue: 0 };
  // A step, or the search for liveness, may take long by itself.
  const watch = host.watch(Infinity, () => cutEnding(protocol.name, last, options));
  await watch.ready;
  const result = await run(file, protocol, {
    ...search,
    signal: host.interruption,
    parameters,
    ...(timeoutMs === null ? {} : { timeoutMs }),
    ...(resume === null ? {} : { resume: readCheckpoint(resume, source) }),
    progress: (progress) => report((last = progress)),
  })
    .catch((error: unknown) => {
      throw shownFault(error, host);
    })
    .finally(() => watch.stop());
  const elapsedMs = performance.now() - startedMs;
  if (!options.json) {
    const rate = Math.round((result.states / Math.max(elapsedMs, 1)) * 1_000);
    host.err(`${(elapsedMs / 1_000).toFixed(1)} s, ${formatCount(rate)} states/s\n`);
  }
  const names = { heading: `moirai protocol ${shellWord(file)}`, name: protocol.name };
  const data = (): ReportData => pageOf(result, options, names);
  const text = options.json
    ? JSON.stringify({ ...jsonOf(result, elapsedMs), report: data() })
    : formatResult(protocol.name, result, options, appearance(host, options.color).style);
  const asked = { report: options.report, prints: !options.json, host };
  const ending = { out: `${text}\n`, err: '', code: exitCodeOf(result.conclusion) };
  const code = printEnding(await withReport(ending, data, asked), host);
  await writeFiles(result, source, options.files, host);
  return code;
}

/** With the place in the user's code; the steps that lead to it are printed. */
function shownFault(error: unknown, host: Host): unknown {
  if (error instanceof ProtocolFault) host.err(formatFault(error));
  if (!(error instanceof InputError)) return error;
  const place = firstUserFrame(error.cause) ?? firstUserFrame(error);
  return place === undefined ? error : withCause(new InputError(error.code, error.message, place), error);
}

async function run(
  file: string,
  protocol: Protocol,
  options: ProtocolCheckOptions & Pick<ProtocolOptions, 'jobs' | 'symmetry' | 'simulate' | 'seed'>,
): Promise<ProtocolCheckResult> {
  const { jobs, symmetry, parameters = {}, simulate, seed } = options;
  if (simulate !== null) return simulateProtocol(protocol, { ...options, parameters, runs: simulate, seed });
  if (jobs === 1) return checkProtocolYielding(protocol, options);
  if (options.order === 'depth-first') throw new InputError('option/jobs', 'a depth-first search runs on one thread');
  return checkProtocolOnThreads(jobs, { file, parameters, symmetry }, protocol, options);
}

function levels(text: string): TimelessLevel[] {
  return text.split(',').map((name) => {
    const level = parseCommitTestLevel(name.trim());
    if (level !== 'session-snapshot-isolation' && level !== 'strict-serializable') return level;
    throw new InputError('option/level', `${level} needs sessions or times, which observed transactions do not have`);
  });
}

/** `--name value` and `--name=value`. */
function parametersOf(args: readonly string[]): Record<string, number> {
  const parameters: Record<string, number> = {};
  for (let i = 0; i < args.length; i += 1) {
    const [, dashed, own] = /^--([a-z][\w-]*)(?:=(.*))?$/i.exec(args[i] as string) ?? [];
    if (dashed === undefined) throw new InputError('option/usage', `"${args[i]}" is neither an option nor a parameter`);
    const text = own ?? args[(i += 1)];
    const name = dashed.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (text === undefined || !/^-?\d+$/.test(text)) {
      throw new InputError('option/usage', `--${dashed} should be a parameter of the protocol with a whole number`);
    }
    parameters[name] = Number(text);
  }
  return parameters;
}

const progressEveryMs = 5_000;

function progressLines(host: Host, startedMs: number): (progress: Progress) => void {
  let shownMs = startedMs;
  return ({ states, generated, depth, queue }) => {
    const nowMs = performance.now();
    if (nowMs - shownMs < progressEveryMs) return;
    shownMs = nowMs;
    const rate = Math.round((states / (nowMs - startedMs)) * 1_000);
    const parts = [
      `${formatCount(states)} states`,
      `${formatCount(generated)} generated`,
      `${formatCount(queue)} in the queue`,
    ];
    host.err(`depth ${depth}: ${parts.join(', ')}, ${formatCount(rate)} states/s\n`);
  };
}

async function writeFiles(
  { trace, checkpoint }: ProtocolCheckResult,
  source: readonly SourceFile[],
  files: OutputFiles,
  host: Host,
): Promise<void> {
  const write = async (path: string | undefined, text: () => string): Promise<void> => {
    if (path !== undefined) await host.writeOutput(path, [new TextEncoder().encode(text())]);
  };
  if (files.checkpoint !== undefined && checkpoint !== null)
    await host.writeOutput(files.checkpoint, checkpointBytes(checkpoint, source));
  if (trace === null) return;
  await write(files.svg, () => formatSvg(trace));
  await write(files.mermaid, () => formatMermaid(trace));
  await write(files.itf, () => `${JSON.stringify(itfOf(trace))}\n`);
  const { observed } = trace;
  if (observed !== null) await write(files.history, () => withEndLine('jsonl', formatHistoryLines(observed)));
}

function definedOnly(files: { readonly [N in keyof OutputFiles]: OutputFiles[N] | undefined }): OutputFiles {
  return Object.fromEntries(Object.entries(files).filter(([, file]) => file !== undefined));
}
