/** `moirai protocol`: every interleaving of a commit protocol, and the shortest way to a violation. */
import { writeFile } from 'node:fs/promises';
import type { Command } from '@commander-js/extra-typings';
import { InputError } from '../base/index.ts';
import { formatHistory, formatHistoryLines } from '../history/index.ts';
import {
  checkProtocol,
  checkProtocolOn,
  checkShape,
  formatLanes,
  formatMermaid,
  formatSteps,
  formatSvg,
  itfOf,
  simulateProtocol,
  type Progress,
  type Protocol,
  type ProtocolCheckOptions,
  type ProtocolCheckResult,
} from '../protocol/index.ts';
import { formatCount } from '../report/index.ts';
import { parseCommitTestLevel, type TimelessLevel } from '../states/index.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint-file.ts';
import type { ExitCode, Host } from './host.ts';
import { loadDefault } from './load-program.ts';
import { oneOf, seconds, wholeNumber } from './option-values.ts';
import { startThreads } from './protocol-threads.ts';
import { appearance } from './style.ts';

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
    .option('--timeout <seconds>', 'for the search (default: none)', seconds)
    .option('--no-eventually', 'look at safety only')
    .option('--checkpoint <file>', 'write where the search stopped at a budget')
    .option('--resume <file>', 'go on from a checkpoint')
    .option('--svg <file>', 'write the trace as a picture')
    .option('--mermaid <file>', "write the trace as Mermaid's sequence diagram")
    .option('--itf <file>', 'write the trace in ITF, the format of Apalache and Quint')
    .option('--history <file>', 'write what clients observed, for moirai check')
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
        files,
      };
      end(await protocolCommand(file, parametersOf(parameters), given, host));
    });
}

const help = `
Every parameter of the protocol is an option: --transactions 3.

Examples:
  moirai protocol examples/protocols/two-phase-locking.ts --level serializable
  moirai protocol examples/protocols/two-phase-locking.ts --transactions 3 --bug 1 --level serializable --svg trace.svg

Exit codes: 0 nothing found, 1 violation found, 2 not known (out of time or budget), 3 bad input or usage,
4 a failure of moirai itself.`;

async function protocolCommand(
  file: string,
  parameters: Readonly<Record<string, number>>,
  options: ProtocolOptions,
  host: Host,
): Promise<ExitCode> {
  const protocol = checkShape(await loadDefault(file, 'protocol'));
  const startedMs = performance.now();
  const { timeoutMs, resume, ...search } = options;
  const onOneThread = options.jobs === 1 && options.order === 'breadth-first' && options.simulate === null;
  if (!onOneThread && (resume !== null || options.files.checkpoint !== undefined))
    throw new InputError('option/checkpoint', 'only a breadth-first search on one thread has checkpoints');
  const result = await run(file, protocol, {
    ...search,
    parameters,
    ...(timeoutMs === null ? {} : { timeoutMs }),
    ...(resume === null ? {} : { resume: readCheckpoint(resume) }),
    progress: progressLines(host, startedMs),
  });
  const elapsedMs = performance.now() - startedMs;
  if (!options.json) {
    const rate = Math.round((result.states / Math.max(elapsedMs, 1)) * 1_000);
    host.err(`${(elapsedMs / 1_000).toFixed(1)} s, ${formatCount(rate)} states/s\n`);
  }
  await writeFiles(result, options.files);
  const text = options.json
    ? JSON.stringify(jsonOf(result, elapsedMs))
    : formatResult(protocol.name, result, options, host);
  host.out(`${text}\n`);
  return { satisfied: 0, violated: 1, unknown: 2 }[result.verdict] as ExitCode;
}

async function run(
  file: string,
  protocol: Protocol,
  options: ProtocolCheckOptions & Pick<ProtocolOptions, 'jobs' | 'symmetry' | 'simulate' | 'seed'>,
): Promise<ProtocolCheckResult> {
  const { jobs, symmetry, parameters = {}, simulate, seed } = options;
  if (simulate !== null) return simulateProtocol(protocol, { ...options, parameters, runs: simulate, seed });
  if (jobs === 1) return checkProtocol(protocol, options);
  if (options.order === 'depth-first') throw new InputError('option/jobs', 'a depth-first search runs on one thread');
  const { threads, stop } = startThreads(jobs, { file, parameters, symmetry });
  try {
    return await checkProtocolOn(threads, protocol, options);
  } finally {
    await stop();
  }
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

async function writeFiles({ trace, checkpoint }: ProtocolCheckResult, files: OutputFiles): Promise<void> {
  if (files.checkpoint !== undefined && checkpoint !== null) writeCheckpoint(files.checkpoint, checkpoint);
  if (trace === null) return;
  if (files.svg !== undefined) await writeFile(files.svg, formatSvg(trace));
  if (files.mermaid !== undefined) await writeFile(files.mermaid, formatMermaid(trace));
  if (files.itf !== undefined) await writeFile(files.itf, `${JSON.stringify(itfOf(trace))}\n`);
  if (files.history !== undefined && trace.observed !== null) {
    await writeFile(files.history, formatHistoryLines(trace.observed));
  }
}

function jsonOf({ trace, ...result }: ProtocolCheckResult, elapsedMs: number): object {
  const { states, generated, depth, verdict, complete, violation, reason, symmetry } = result;
  return {
    states,
    generated,
    depth,
    verdict,
    complete,
    trace: trace?.steps ?? null,
    violation,
    reason,
    symmetry,
    warnings: result.warnings,
    ends: result.ends,
    queue: result.queue,
    collisionProbability: result.collisionProbability,
    seconds: elapsedMs / 1_000,
    megabytes: process.resourceUsage().maxRSS / 1_000,
    observed: trace?.observed ? formatHistory(trace.observed) : null,
  };
}

function formatResult(name: string, result: ProtocolCheckResult, options: ProtocolOptions, host: Host): string {
  const { style } = appearance(host, options.color);
  const { states, generated, depth, symmetry, trace, queue } = result;
  const renamings = symmetry === 1 ? '' : `, up to ${formatCount(symmetry)} renamings`;
  const left = queue > 0 ? `, ${formatCount(queue)} not yet expanded` : '';
  const lines = [
    `${style('name', name)}: ${formatCount(states)} distinct states${renamings}, ${formatCount(generated)} generated, depth ${depth}${left}`,
    `a collision of fingerprints, which would hide a state, has probability ${result.collisionProbability.toExponential(1)}`,
    verdictLine(result, options, style),
    ...result.warnings.map((warning) => style('warning', `warning: ${warning}`)),
  ];
  if (trace === null) return lines.join('\n');
  const observed =
    trace.observed === null ? [] : ['', 'what clients observed:', formatHistory(trace.observed).trimEnd()];
  return [...lines, '', ...formatSteps(trace), '', ...formatLanes(trace), ...observed].join('\n');
}

function verdictLine(
  { verdict, violation, reason, trace }: ProtocolCheckResult,
  { levels: asked, simulate, seed }: ProtocolOptions,
  style: ReturnType<typeof appearance>['style'],
): string {
  if (reason === 'runs-limit')
    return style('warning', `unknown: no violation in ${simulate} random behaviours of seed ${seed}`);
  if (verdict === 'unknown') return style('warning', `unknown: ${reason} reached`);
  if (violation === null) {
    const at = asked.length === 0 ? '' : `, observed transactions at ${asked.join(', ')}`;
    return style('good', `satisfied in every state${at}`);
  }
  if (violation.kind === 'sometimes') return style('bad', `violated: "${violation.name}" holds in no reachable state`);
  const after = trace === null ? '' : ` after ${trace.steps.length} steps (${trace.states.length} states)`;
  return style(
    'bad',
    `violated${after}: ${violation.kind} ${violation.kind === 'deadlock' ? '' : `"${violation.name}"`}`.trimEnd(),
  );
}

function definedOnly(files: { readonly [N in keyof OutputFiles]: OutputFiles[N] | undefined }): OutputFiles {
  return Object.fromEntries(Object.entries(files).filter(([, file]) => file !== undefined));
}
