/** `moirai explore` for a program of keys: every history at one level, or at all of them, and what is shown of them. */
import { type ExploreCommandOptions, refuseSqlOptions } from './explore-options.ts';
import type { Host, Ending } from '../host.ts';
import { type Program, requireUsed } from '../../program/index.ts';
import { withReports } from '../page/report-file.ts';
import type { Progress } from '../output/progress.ts';
import { type Cut, cutEvidence, type UserProgram, withKept } from '../modules/user-program.ts';
import type { SavedExploration } from './explore-checkpoint.ts';
import { InputError, Budget } from '../../base/index.ts';
import {
  type ExploreResult,
  type ExploreCheckpoint,
  type ExploreOptions,
  explorationReport,
  explore,
  drawCounterexamples,
  formatExplorations,
  formatExploration,
} from '../../explore/index.ts';
import { exitCodeOf, verdictOf } from './explore-verdict.ts';
import { type ConstrainingLevel, constrainingLevels } from '../../isolation/index.ts';
import { exploreOnThreads } from './explore-threads.ts';
import { keepFailures } from '../failures/kept-failures.ts';
import { foundByExplore } from '../failures/found-failures.ts';
import { formatDot, formatMermaid, type ReportData } from '../../report/index.ts';
import { appearance } from '../output/style.ts';
import { invocation, shellWord } from '../options/invocation.ts';
import { conclusionJson, conclude, noEvidence } from '../../evidence/index.ts';
import { answerJson } from '../output/json.ts';

export async function exploreKeyProgram(
  file: string,
  options: ExploreCommandOptions,
  host: Host,
  program: Program,
  progress: Progress,
  user: UserProgram,
  saved: SavedExploration,
): Promise<Ending> {
  refuseSqlOptions(options);
  if (options.level === 'all' && (options.checkpoint !== null || options.resume !== null))
    throw new InputError(
      'option/checkpoint',
      'a checkpoint of a program of keys is of one level: it needs one --level',
    );
  const budget = new Budget({ timeMaxMs: options.timeMaxMs ?? Infinity, signal: host.interruption });
  const onTurn = user.onTurn();
  const results: ExploreResult[] = [];
  let current: (() => ExploreResult) | null = null;
  let checkpoint: () => ExploreCheckpoint | null = () => null;
  const ending = (all: readonly ExploreResult[]): Ending => {
    return { out: `${shown(file, all, options, host)}\n`, err: '', code: exitCodeOf(all) };
  };
  user.onCut((cut) => {
    saved.write(checkpoint());
    return saved.ended(ending([...results, ...(current === null ? [] : [cutResult(current(), cut)])]));
  });
  for (const level of options.level === 'all' ? constrainingLevels : [options.level]) {
    const limits: ExploreOptions = {
      ...limitsOf(options),
      level,
      signal: host.interruption,
      timeMaxMs: budget.leftMs,
      estimateAfterMs: ESTIMATE_AFTER_MS,
      ...saved.options<ExploreCheckpoint>(),
      onStart: (soFar, standing) => {
        current = soFar;
        checkpoint = standing;
      },
      onTurn,
      onProgress: ({ runs, expectedRuns }) => progress.update(level, runs, { about: expectedRuns }),
    };
    const { jobs } = options;
    const result = await (jobs === 1 ? explore(program, limits) : exploreOnThreads(file, program, limits, jobs));
    current = null;
    results.push(result);
  }
  results.forEach(requireUsed);
  const kept = await keepFailures(host, file, foundByExplore(program, results, options));
  const prints = options.drawing === null && !options.json;
  const reportOf = (some: readonly ExploreResult[]): ReportData => pageOf(file, some, host);
  const reported = { page: () => reportOf(results), results: () => results.map((result) => reportOf([result])) };
  const asked = { files: options.files, prints, host };
  return saved.ended(await withReports(withKept(ending(results), prints ? kept : null), reported, asked));
}

/** For the HTML report. */
function pageOf(file: string, results: readonly ExploreResult[], host: Host): ReportData {
  const commandOf = ({ level }: ExploreResult, token: string): string => replayLine(file, level, token, host);
  return explorationReport(results, { heading: `moirai explore ${shellWord(file)}`, commandOf });
}

/** The result so far of an exploration that was cut off. */
function cutResult(result: ExploreResult, cut: Cut): ExploreResult {
  const stopped = cut.kind === 'interrupted' ? 'interrupted' : cut.timeout;
  return { ...result, complete: false, stopped, evidence: cutEvidence(result.evidence, cut) };
}

function limitsOf(options: ExploreCommandOptions): ExploreOptions {
  const { historiesMax, stepsMax, timeoutMs, replay, violationsMax, failsFast, base, reruns } = options;
  return {
    base,
    reruns,
    timeoutMs,
    violationsMax,
    failsFast,
    ...(stepsMax === null ? {} : { stepsMax }),
    ...(historiesMax === null ? {} : { historiesMax }),
    ...(replay === null ? {} : { replay }),
  };
}

function shown(file: string, results: readonly ExploreResult[], options: ExploreCommandOptions, host: Host): string {
  if (options.json) return json(results, options, (result) => pageOf(file, [result], host));
  if (options.drawing !== null) {
    const drawings = results.flatMap((result) => drawCounterexamples(result, file));
    return (options.drawing === 'dot' ? formatDot : formatMermaid)(drawings).trimEnd();
  }
  const look = appearance(host, options.color);
  const [result] = results;
  if (options.level === 'all' || result === undefined) return formatExplorations(results, look);
  const commandOf = (token: string) => replayLine(file, result.level, token, host);
  const { recorded } = options;
  return formatExploration(result, { ...look, commandOf, ...(recorded === null ? {} : { recorded }) });
}

function replayLine(file: string, level: ConstrainingLevel, token: string, host: Host): string {
  const words = [file, '--level', level, '--replay', token];
  return `${invocation(host)} explore ${words.map(shellWord).join(' ')}`;
}

function json(
  results: readonly ExploreResult[],
  { level, recorded }: ExploreCommandOptions,
  reportOf: (result: ExploreResult) => ReportData,
): string {
  const shapes = results.map((result) => {
    const { counterexample, counterexamples, histories, violations, complete, marks, runs, stopped } = result;
    return {
      level: result.level,
      ...conclusionJson(conclude(result.replayed === null ? result.evidence : noEvidence)),
      histories,
      violations,
      verdict: verdictOf(result),
      complete,
      replay: counterexample?.replay ?? null,
      anomaly: counterexample?.anomaly ?? null,
      message: counterexample?.message ?? null,
      runs,
      stopped,
      divergence: result.divergence,
      ...answerJson(result, recorded),
      prefix: result.prefix,
      counterexamples: counterexamples.map(({ anomaly, message, replay }) => ({ anomaly, message, replay })),
      marks: Object.fromEntries(marks),
      estimate: estimateJson(result),
      report: reportOf(result),
    };
  });
  return JSON.stringify(level === 'all' ? shapes : shapes[0]);
}

/** Of histories at the level. */
function estimateJson({ estimate }: ExploreResult): object | null {
  if (estimate === null) return null;
  const { histories, runs, runsError, probes } = estimate;
  return { histories, runs, error: runsError, probes };
}

/** What takes longer is worth an estimate. */
const ESTIMATE_AFTER_MS = 2_000;
