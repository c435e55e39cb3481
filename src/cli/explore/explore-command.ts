/** `moirai explore`: its options, and which kind of program it was given. */
import type { Command } from '@commander-js/extra-typings';
import { Option } from '../commander.ts';
import { InputError } from '../../base/index.ts';
import { baseLevels } from '../../explore/index.ts';
import { constrainingLevels } from '../../isolation/index.ts';
import { isSqlProgram } from '../../program/index.ts';
import { openSaved } from './explore-checkpoint.ts';
import { estimateExploration, refuseWithEstimate } from './explore-estimate.ts';
import type { ExploreCommandOptions } from './explore-options.ts';
import { refuseWithRemedies } from './explore-remedies.ts';
import { exploreSqlProgram } from './explore-sql.ts';
import type { ExitCode, Host } from '../host.ts';
import { recordedRun } from '../failures/kept-failures.ts';
import { seconds, storeLevel, wholeNumber } from '../options/option-values.ts';
import { defaults } from '../options/invocation.ts';
import { reportFiles } from '../page/report-file.ts';
import { placed } from '../modules/user-code.ts';
import { printEnding, UserProgram } from '../modules/user-program.ts';
import { exploreOnCommand, refuseWithServer } from './explore-on.ts';
import { exploreKeyProgram } from './explore-keys.ts';

export function addExplore(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('explore')
    .description(
      'Runs a program through every history that its level allows, each exactly once: a proof, or the smallest counterexample.',
    )
    .argument('<file>', 'a module whose default export is a program: TypeScript or JavaScript')
    .option('--level <level>', `what the store guarantees: ${constrainingLevels.join(', ')}, or all`, storeLevel)
    .option('--engine <engine>', 'for SQL programs: postgres, mysql or mariadb-11.6, with every timing of statements')
    .option('--isolation <level>', "for SQL programs: the engine's level of transactions that name none")
    .option('--granularity <unit>', 'for SQL programs at a --level: cell or row')
    .addOption(
      new Option(
        '--plans <which>',
        'for SQL programs on an engine: the access paths that a server is likely to take, or every combination of those that it may take',
      )
        .choices(['likely', 'all'] as const)
        .default('likely' as const),
    )
    .option(
      '--remedies',
      'for SQL programs on an engine: explore what may mend a program that fails (FOR UPDATE, a unique index, a stronger level)',
    )
    .option('--max-histories <n>', 'stop after so many; the verdict is then unknown', wholeNumber('max-histories', 1))
    .option('--max-time <seconds>', 'stop after so long; the verdict is then unknown', seconds('max-time'))
    .option('--max-steps <n>', 'decisions that one search for a commit order may take', wholeNumber('max-steps', 1))
    .option('--max-violations <n>', 'kinds of violations to show', wholeNumber('max-violations', 1), 5)
    .option('--estimate', 'say how many histories to expect, after 100 random probes, and explore nothing')
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
        .argParser(seconds('timeout'))
        .default(defaults.timeoutMs, String(defaults.timeoutMs / 1_000)),
    )
    .option(
      '--on <url>',
      'every order of statements on a real server: postgres://USER:PASSWORD@HOST:PORT or mysql://...',
    )
    .option('--no-reduction', 'with --on: also orders that differ in steps without a conflict only')
    .option('--replay <token>', 'only the history that printed this token')
    .option('--checkpoint <file>', 'write there where the exploration stands: every 30 s, and where it ends')
    .option('--resume <file>', 'continue from a checkpoint')
    .option('--no-failures', 'do not keep failing runs in .moirai/failures')
    .option('--report <file>', 'write what was found as one HTML page: the failing runs, drawn, step by step')
    .option(
      '--summary <file>',
      'add what was found to a Markdown file, such as the job summary of GitHub ($GITHUB_STEP_SUMMARY)',
    )
    .option('--junit <file>', 'write what was found as JUnit XML: a test case for each level')
    .option('--json', 'print one JSON object (an array for --level all) and nothing else')
    .option('--dot', 'print the counterexamples for Graphviz, and nothing else')
    .option('--mermaid', 'print the counterexamples for Mermaid, and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', exploreHelp)
    .action(async (file, given) => {
      const { level, engine, isolation, granularity, plans, timeout, maxHistories = null, maxTime = null } = given;
      const { maxSteps = null, maxViolations, estimate = false, failFast = false, jobs, base, rerun = false } = given;
      const { replay = null, json: isJson = false, dot = false, mermaid = false, color, remedies = false } = given;
      const { checkpoint = null, resume = null, report, summary, junit } = given;
      if (given.on !== undefined) {
        const { replay: token, checkpoint: written, resume: read, plans: which } = given;
        const ofMock = { level, engine, granularity, estimate, rerun, dot, mermaid, remedies, report, summary, junit };
        refuseWithServer({ ...ofMock, replay: token, checkpoint: written, resume: read, 'max-steps': given.maxSteps });
        refuseWithServer({ plans: which === 'all', jobs: jobs > 1 });
        const search = { kind: 'every', reduces: given.reduction, schedulesMax: maxHistories } as const;
        const asked = { isolation, search, timeMaxMs: maxTime, timeoutMs: timeout, failsFast: failFast, json: isJson };
        end(await exploreOnCommand(file, given.on, { ...asked, color }, host));
        return;
      }
      if (!given.reduction) throw new InputError('option/reduction', '--no-reduction goes with --on');
      const options: ExploreCommandOptions = {
        level: level ?? 'causal',
        plans,
        remedies,
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
        recorded: null,
        checkpoint,
        resume,
        files: reportFiles({ report, summary, junit }),
        json: isJson,
        color,
      };
      refuseCombinations(options);
      end(await exploreCommand(file, options, given.failures ? host : { ...host, failures: null }));
    });
}

/** @throws InputError `option/drawing` */
function drawingOf(asked: { dot: boolean; mermaid: boolean; json: boolean }): 'dot' | 'mermaid' | null {
  if ([asked.dot, asked.mermaid, asked.json].filter(Boolean).length > 1)
    throw new InputError('option/drawing', 'of --json, --dot and --mermaid only one can be printed');
  if (asked.dot) return 'dot';
  return asked.mermaid ? 'mermaid' : null;
}

/** @throws InputError `option/replay`, `option/jobs`, `option/plans`, `option/estimate` */
function refuseCombinations(options: ExploreCommandOptions): void {
  const { level, replay, jobs, plans } = options;
  if (options.estimates) refuseWithEstimate(options);
  if (options.remedies) refuseWithRemedies(options);
  if (plans === 'all' && replay !== null)
    throw new InputError('option/plans', 'a replay takes the access paths of its token; leave out --plans');
  if (level === 'all' && replay !== null) {
    throw new InputError(
      'option/replay',
      'a history is replayed at the level at which it was found: --replay needs one --level',
    );
  }
  if (jobs > 1 && replay !== null)
    throw new InputError('option/jobs', '--jobs shares out a whole search, and --replay is one run');
}

async function exploreCommand(file: string, asked: ExploreCommandOptions, host: Host): Promise<ExitCode> {
  const options = { ...asked, recorded: await recordedRun(host, file, asked.replay) };
  const saved = await openSaved(file, options, host);
  const user = new UserProgram(file, options, host);
  const progress = await host.progress(options.json);
  try {
    const program = await user.load();
    if (program === null) return user.late();
    const ending = options.estimates
      ? await estimateExploration(program, options, host, user)
      : isSqlProgram(program)
        ? await exploreSqlProgram(file, options, host, program, progress, user, saved)
        : await exploreKeyProgram(file, options, host, program, progress, user, saved);
    progress.stop();
    user.stop();
    return printEnding(ending, host);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw placed(error, error.code === 'explore/checkpoint' ? (options.resume ?? file) : file);
  } finally {
    progress.stop();
    user.stop();
    saved.release();
  }
}

const exploreHelp = `
Reads see what the level allows, as in moirai test; here nothing is left to chance. Exponential in the number of transactions:
three sessions of three are fine.

Examples:
  moirai explore cart.ts
  moirai explore cart.ts --level all
  moirai explore cart.ts --level serializable --max-time 60
  moirai explore transfer.ts --isolation serializable --plans all
  moirai explore transfer.ts --remedies
  moirai explore transfer.ts --on postgres://postgres@localhost
  moirai explore cart.ts --checkpoint cart.checkpoint --max-time 3600
  moirai explore cart.ts --checkpoint cart.checkpoint --resume cart.checkpoint

Ctrl-C ends it with the verdict so far, and a second one at once.

Ctrl-C and --max-time end it with what is known so far; a second Ctrl-C ends at once.
Exit codes: 0 all histories satisfy the invariant, 1 some violate it, 2 not known (out of time or budget), 3 bad input or usage,
4 a failure of moirai itself.`;
