/** `moirai explore`: every history of a user's program at one level or at all of them. */
import { type Command, Option } from '@commander-js/extra-typings';
import { InputError } from '../base/index.ts';
import {
  explore,
  type ExploreOptions,
  type ExploreResult,
  formatExploration,
  formatExplorations,
} from '../explore/index.ts';
import { constrainingLevels, type ConstrainingLevel, weakestViolation } from '../isolation/index.ts';
import type { ExitCode, Host } from './host.ts';
import { seconds, storeLevel, wholeNumber } from './option-values.ts';
import { defaults, invocation, shellWord } from './replay-command.ts';
import { appearance } from './style.ts';
import { placed } from './user-code.ts';
import { UserProgram } from './user-program.ts';

interface ExploreCommandOptions {
  readonly level: ConstrainingLevel | 'all';
  readonly historiesMax: number | null;
  readonly timeMaxMs: number | null;
  readonly timeoutMs: number;
  readonly replay: string | null;
  readonly json: boolean;
  readonly color: boolean;
}

export function addExplore(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('explore')
    .description(
      'Runs a program through every history that its level allows, each exactly once: a proof, or the smallest counterexample.',
    )
    .argument('<file>', 'a module whose default export is a program: TypeScript or JavaScript')
    .option(
      '--level <level>',
      `what the store guarantees: ${constrainingLevels.join(', ')}, or all`,
      storeLevel,
      'causal' as const,
    )
    .option('--max-histories <n>', 'stop after so many; the verdict is then unknown', wholeNumber('max-histories', 1))
    .option('--max-time <seconds>', 'stop after so long; the verdict is then unknown', seconds)
    .addOption(
      new Option('--timeout <seconds>', 'for one run')
        .argParser(seconds)
        .default(defaults.timeoutMs, String(defaults.timeoutMs / 1_000)),
    )
    .option('--replay <token>', 'only the history that printed this token')
    .option('--json', 'print one JSON object (an array for --level all) and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', exploreHelp)
    .action(
      async (
        file,
        { level, timeout, maxHistories = null, maxTime = null, replay = null, json: isJson = false, color },
      ) => {
        end(
          await exploreCommand(
            file,
            { level, historiesMax: maxHistories, timeMaxMs: maxTime, timeoutMs: timeout, replay, json: isJson, color },
            host,
          ),
        );
      },
    );
}

async function exploreCommand(file: string, options: ExploreCommandOptions, host: Host): Promise<ExitCode> {
  if (options.level === 'all' && options.replay !== null) {
    throw new InputError(
      'option/replay',
      'a history is replayed at the level at which it was found: --replay needs one --level',
    );
  }
  const user = new UserProgram(file, options.timeoutMs, host);
  const progress = await host.progress(options.json);
  try {
    const program = await user.loadKeyValue();
    if (program === null) return user.late();
    const onTurn = user.onTurn();
    const levels = options.level === 'all' ? constrainingLevels : [options.level];
    const results: ExploreResult[] = [];
    for (const level of levels) {
      const onProgress: ExploreOptions['onProgress'] = ({ histories }) => progress.update(level, histories, histories);
      results.push(await explore(program, { ...limitsOf(options), level, onTurn, onProgress }));
    }
    progress.stop();
    host.out(`${options.json ? json(results, options) : text(file, results, options, host)}\n`);
    return exitCode(results);
  } catch (error) {
    throw error instanceof InputError ? placed(error, file) : error;
  } finally {
    progress.stop();
    user.stop();
  }
}

function limitsOf({ historiesMax, timeMaxMs, timeoutMs, replay }: ExploreCommandOptions): ExploreOptions {
  return {
    timeoutMs,
    ...(historiesMax === null ? {} : { historiesMax }),
    ...(timeMaxMs === null ? {} : { timeMaxMs }),
    ...(replay === null ? {} : { replay }),
  };
}

function text(file: string, results: readonly ExploreResult[], options: ExploreCommandOptions, host: Host): string {
  const look = appearance(host, options.color);
  const [result] = results;
  if (options.level === 'all' || result === undefined) return formatExplorations(results, look);
  const { counterexample, level } = result;
  if (counterexample === null) return formatExploration(result, look);
  const words = [file, '--level', level, '--replay', counterexample.replay];
  return formatExploration(result, {
    ...look,
    command: `${invocation(host)} explore ${words.map(shellWord).join(' ')}`,
  });
}

function json(results: readonly ExploreResult[], { level }: ExploreCommandOptions): string {
  const shapes = results.map((result) => {
    const { counterexample, histories, violations, complete, marks, runs, stopped, divergence } = result;
    const anomaly =
      counterexample === null
        ? null
        : (weakestViolation(counterexample.history, { abortedReads: 'constrained' })?.verdict.anomaly ?? null);
    const verdict = violations > 0 ? 'violated' : complete ? 'satisfied' : 'unknown';
    const replay = counterexample?.replay ?? null;
    const message = counterexample?.message ?? null;
    return {
      level: result.level,
      histories,
      violations,
      verdict,
      complete,
      replay,
      anomaly,
      message,
      runs,
      stopped,
      divergence,
      marks: Object.fromEntries(marks),
    };
  });
  return JSON.stringify(level === 'all' ? shapes : shapes[0]);
}

function exitCode(results: readonly ExploreResult[]): ExitCode {
  if (results.some(({ violations }) => violations > 0)) return 1;
  return results.every(({ complete }) => complete) ? 0 : 2;
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
