/** `moirai explore`: every history of a user's program at one level or at all of them. */
import { type Command, Option } from '@commander-js/extra-typings';
import { InputError, seeded } from '../base/index.ts';
import {
  baseLevels,
  drawCounterexamples,
  estimateHistories,
  explore,
  type ExploreOptions,
  type ExploreResult,
  formatEstimate,
  formatExploration,
  formatExplorations,
} from '../explore/index.ts';
import { constrainingLevels, type ConstrainingLevel } from '../isolation/index.ts';
import { isSqlProgram, type Program } from '../program/index.ts';
import { formatDot, formatMermaid } from '../report/index.ts';
import type { ExploreCommandOptions } from './explore-options.ts';
import { exploreSqlProgram } from './explore-sql.ts';
import { exploreOnThreads } from './explore-threads.ts';
import { exitCodeOf, verdictOf } from './explore-verdict.ts';
import type { ExitCode, Host } from './host.ts';
import { seconds, storeLevel, wholeNumber } from './option-values.ts';
import { defaults, invocation, shellWord } from './replay-command.ts';
import { appearance } from './style.ts';
import { placed } from './user-code.ts';
import { UserProgram } from './user-program.ts';

export function addExplore(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('explore')
    .description(
      'Runs a program through every history that its level allows, each exactly once: a proof, or the smallest counterexample.',
    )
    .argument('<file>', 'a module whose default export is a program: TypeScript or JavaScript')
    .option('--level <level>', `what the store guarantees: ${constrainingLevels.join(', ')}, or all`, storeLevel)
    .option('--engine <engine>', 'for SQL programs: postgres or mysql, with every timing of statements')
    .option('--isolation <level>', "for SQL programs: the engine's level of transactions that name none")
    .option('--granularity <unit>', 'for SQL programs at a --level: cell or row')
    .option('--max-histories <n>', 'stop after so many; the verdict is then unknown', wholeNumber('max-histories', 1))
    .option('--max-time <seconds>', 'stop after so long; the verdict is then unknown', seconds)
    .option('--max-steps <n>', 'decisions that one search for a commit order may take', wholeNumber('max-steps', 1))
    .option('--max-violations <n>', 'kinds of violations to show', wholeNumber('max-violations', 1), 5)
    .option('--estimate', 'say first how many histories to expect, after 100 random probes')
    .option('--fail-fast', 'stop at the first violation; small prefixes of the program are tried first')
    .addOption(
      new Option(
        '--base <level>',
        'the level that is explored where --level cannot be: the same histories in more runs',
      )
        .choices(baseLevels)
        .default('causal' as const),
    )
    .option('--rerun', 'run every session in every run, also where it reads what it read before')
    .option('--jobs <n>', 'worker threads', wholeNumber('jobs', 1), 1)
    .addOption(
      new Option('--timeout <seconds>', 'for one run')
        .argParser(seconds)
        .default(defaults.timeoutMs, String(defaults.timeoutMs / 1_000)),
    )
    .option('--replay <token>', 'only the history that printed this token')
    .option('--json', 'print one JSON object (an array for --level all) and nothing else')
    .option('--dot', 'print the counterexamples for Graphviz, and nothing else')
    .option('--mermaid', 'print the counterexamples for Mermaid, and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', exploreHelp)
    .action(async (file, given) => {
      const { level, engine, isolation, granularity, timeout, maxHistories = null, maxTime = null } = given;
      const { maxSteps = null, maxViolations, estimate = false, failFast = false, jobs, base, rerun = false } = given;
      const { replay = null, json: isJson = false, dot = false, mermaid = false, color } = given;
      const options: ExploreCommandOptions = {
        level: level ?? 'causal',
        sql: { engine, isolation, level, granularity },
        historiesMax: maxHistories,
        timeMaxMs: maxTime,
        stepsMax: maxSteps,
        timeoutMs: timeout,
        violationsMax: maxViolations,
        jobs,
        estimates: estimate,
        failsFast: failFast,
        base,
        reruns: rerun,
        drawing: drawingOf({ dot, mermaid, json: isJson }),
        replay,
        json: isJson,
        color,
      };
      refuseCombinations(options);
      end(await exploreCommand(file, options, host));
    });
}

/** @throws InputError `option/drawing` */
function drawingOf(asked: { dot: boolean; mermaid: boolean; json: boolean }): 'dot' | 'mermaid' | null {
  if ([asked.dot, asked.mermaid, asked.json].filter(Boolean).length > 1)
    throw new InputError('option/drawing', 'of --json, --dot and --mermaid only one can be printed');
  if (asked.dot) return 'dot';
  return asked.mermaid ? 'mermaid' : null;
}

/** @throws InputError `option/replay`, `option/jobs` */
function refuseCombinations({ level, replay, jobs }: ExploreCommandOptions): void {
  if (level === 'all' && replay !== null) {
    throw new InputError(
      'option/replay',
      'a history is replayed at the level at which it was found: --replay needs one --level',
    );
  }
  if (jobs > 1 && replay !== null)
    throw new InputError('option/jobs', '--jobs shares out a whole search, and --replay is one run');
}

async function exploreCommand(file: string, options: ExploreCommandOptions, host: Host): Promise<ExitCode> {
  const user = new UserProgram(file, options.timeoutMs, host);
  const progress = await host.progress(options.json);
  try {
    const program = await user.load();
    if (program === null) return user.late();
    const onTurn = user.onTurn();
    if (isSqlProgram(program))
      return await exploreSqlProgram(file, options, host, program, progress, () => onTurn(0, () => 'a statement'));
    refuseSqlOptions(options);
    const results: ExploreResult[] = [];
    for (const level of options.level === 'all' ? constrainingLevels : [options.level]) {
      if (options.estimates) await tellEstimate(program, level, options, host);
      const onProgress: ExploreOptions['onProgress'] = ({ runs, expectedRuns }) =>
        progress.update(level, runs, Math.max(runs, Math.round(expectedRuns)));
      const limits = { ...limitsOf(options), level, onTurn, onProgress };
      results.push(
        options.jobs === 1
          ? await explore(program, limits)
          : await exploreOnThreads(file, program, limits, options.jobs),
      );
    }
    progress.stop();
    host.out(`${shown(file, results, options, host)}\n`);
    return exitCodeOf(results);
  } catch (error) {
    throw error instanceof InputError ? placed(error, file) : error;
  } finally {
    progress.stop();
    user.stop();
  }
}

function refuseSqlOptions({ sql }: ExploreCommandOptions): void {
  for (const option of ['engine', 'isolation', 'granularity'] as const) {
    if (sql[option] !== undefined)
      throw new InputError(`option/${option}`, `--${option} is for SQL programs; this program reads and writes keys`);
  }
}

/** On standard error: it is a guess, and what follows is not. */
async function tellEstimate(
  program: Program,
  level: ConstrainingLevel,
  options: ExploreCommandOptions,
  host: Host,
): Promise<void> {
  const { stepsMax, timeoutMs, base } = options;
  const limits = { level, base, timeoutMs, ...(stepsMax === null ? {} : { stepsMax }) };
  host.err(`${formatEstimate(level, await estimateHistories(program, { ...limits, chooser: seeded(1) }))}\n`);
}

function limitsOf(options: ExploreCommandOptions): ExploreOptions {
  const { historiesMax, timeMaxMs, stepsMax, timeoutMs, replay, violationsMax, failsFast, base, reruns } = options;
  return {
    base,
    reruns,
    timeoutMs,
    violationsMax,
    failsFast,
    ...(stepsMax === null ? {} : { stepsMax }),
    ...(historiesMax === null ? {} : { historiesMax }),
    ...(timeMaxMs === null ? {} : { timeMaxMs }),
    ...(replay === null ? {} : { replay }),
  };
}

function shown(file: string, results: readonly ExploreResult[], options: ExploreCommandOptions, host: Host): string {
  if (options.json) return json(results, options);
  if (options.drawing !== null) {
    const drawings = results.flatMap((result) => drawCounterexamples(result, file));
    return (options.drawing === 'dot' ? formatDot : formatMermaid)(drawings).trimEnd();
  }
  const look = appearance(host, options.color);
  const [result] = results;
  if (options.level === 'all' || result === undefined) return formatExplorations(results, look);
  const commandOf = (token: string): string => {
    const words = [file, '--level', result.level, '--replay', token];
    return `${invocation(host)} explore ${words.map(shellWord).join(' ')}`;
  };
  return formatExploration(result, { ...look, commandOf });
}

function json(results: readonly ExploreResult[], { level }: ExploreCommandOptions): string {
  const shapes = results.map((result) => {
    const { counterexample, counterexamples, histories, violations, complete, marks, runs, stopped } = result;
    return {
      level: result.level,
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
      prefix: result.prefix,
      counterexamples: counterexamples.map(({ anomaly, message, replay }) => ({ anomaly, message, replay })),
      marks: Object.fromEntries(marks),
    };
  });
  return JSON.stringify(level === 'all' ? shapes : shapes[0]);
}

const exploreHelp = `
Reads see what the level allows, as in moirai test; here nothing is left to chance. Exponential in the number of transactions:
three sessions of three are fine.

Examples:
  moirai explore cart.ts
  moirai explore cart.ts --level all
  moirai explore cart.ts --level serializable --max-time 60

Exit codes: 0 all histories satisfy the invariant, 1 some violate it, 2 not known (out of time or budget), 3 bad input or usage,
4 a failure of moirai itself.`;
