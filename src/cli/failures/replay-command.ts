/** `moirai replay`: a failure that was kept, on the program as it is now. */
import type { Command } from '@commander-js/extra-typings';
import { campaignDefaults } from '../../campaign/index.ts';
import { InputError } from '../../base/index.ts';
import { type FailureRecord, parseFailureRecord } from '../../failures/index.ts';
import { requireKind } from '../files/file-kind.ts';
import type { ExitCode, Host } from '../host.ts';
import { moiraiVersion } from '../own-files.ts';
import { seconds, wholeNumber } from '../options/option-values.ts';
import { replayOnCommand } from './replay-on-command.ts';
import { invocation, shellWord } from '../options/invocation.ts';
import { type ReplayedFailure, replayFailure } from './replay-failure.ts';
import { appearance } from '../output/style.ts';
import { placed } from '../modules/user-code.ts';
import { UserProgram } from '../modules/user-program.ts';

/** @throws InputError `option/...` */
function refuseOfServer(given: Readonly<Record<string, unknown>>): void {
  for (const option of ['replay', 'before', 'isolation', 'repeat'] as const)
    if (given[option] !== undefined)
      throw new InputError(
        `option/${option}`,
        `--${option} goes with --on: a kept failure says itself what is replayed`,
      );
}

/** @throws InputError `option/on` */
function requireKeptFailure(file: string): void {
  if (/\.[cm]?[jt]s$/.test(file))
    throw new InputError(
      'option/on',
      `${file} is a program: moirai replay PROGRAM --on URL replays its failing run on a real server, moirai explore PROGRAM --replay TOKEN on the mock database`,
    );
}

interface ReplayOptions {
  readonly program?: string | undefined;
  readonly timeoutMs: number;
  readonly json: boolean;
  readonly color: boolean;
}

export function addReplay(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('replay')
    .description(
      'Replays a failing run: does it still fail, is it fixed, or is it another run? With --on: does a real server allow it?',
    )
    .argument(
      '<file>',
      'a failure that moirai test or moirai explore has kept in .moirai/failures; with --on also a SQL program',
    )
    .option('--on <url>', 'replay it on a real server: postgres://USER:PASSWORD@HOST:PORT or mysql://...')
    .option('--replay <token>', 'with --on and a program: the run that printed this token')
    .option('--before <file>', 'with --on: the program before a change, whose failing run gives the order')
    .option('--isolation <level>', 'with --on: of transactions that name none, or all (default: where the run fails)')
    .option('--repeat <n>', 'with --on: how often at each level', wholeNumber('repeat', 1))
    .option('--program <file>', 'the program, where it is not where it was')
    .option('--timeout <seconds>', `for the run (default: ${campaignDefaults.timeoutMs / 1_000})`, seconds('timeout'))
    .option('--json', 'print one JSON object and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', replayHelp)
    .action(async (file, { program, timeout = campaignDefaults.timeoutMs, json = false, color, on, ...onServer }) => {
      const options = { program, timeoutMs: timeout, json, color };
      if (on !== undefined) end(await replayOnCommand(file, on, { ...options, ...onServer }, host));
      else {
        refuseOfServer(onServer);
        requireKeptFailure(file);
        end(await replayCommand(file, options, host));
      }
    });
}

async function replayCommand(file: string, options: ReplayOptions, host: Host): Promise<ExitCode> {
  const bytes = await host.readInput(file);
  requireKind('failure', bytes, file);
  const record = parseFailureRecord(new TextDecoder().decode(bytes), file);
  const { timeoutMs, json } = options;
  const module = options.program ?? record.program.file;
  const user = new UserProgram(module, { timeoutMs, json }, host);
  try {
    const program = await user.load().catch((error: unknown) => {
      throw missingProgram(error, module);
    });
    if (program === null) return user.late();
    const onTurn = user.onTurn();
    const replayed = await replayFailure(program, record, { timeoutMs, onTurn: () => onTurn(null, () => 'nothing') });
    tellVersions(record, host);
    if (json) host.out(`${JSON.stringify({ file, program: module, ...replayJson(replayed) })}\n`);
    else {
      const command = `${invocation(host)} replay ${shellWord(file)}`;
      host.out(`${replayed.format({ ...appearance(host, options.color), command })}\n`);
    }
    return exitCodes[replayed.answer];
  } catch (error) {
    throw error instanceof InputError ? placed(error, module) : error;
  } finally {
    user.stop();
  }
}

const exitCodes = { 'still-fails': 1, fixed: 0, incompatible: 2 } as const;

function replayJson({ answer, text, message }: ReplayedFailure): object {
  return { answer, text, message };
}

function missingProgram(error: unknown, module: string): unknown {
  if (!(error instanceof InputError) || error.code !== 'program/missing-file') return error;
  return new InputError(error.code, 'the program of this failure is gone; --program FILE says where it is now', {
    file: module,
  });
}

/** Choices may mean something else to another version. */
function tellVersions({ versions: { moirai, node } }: FailureRecord, host: Host): void {
  const now = moiraiVersion();
  if (moirai === now && node === process.versions.node) return;
  host.err(`recorded by moirai ${moirai} on Node ${node}; this is moirai ${now} on Node ${process.versions.node}\n`);
}

const replayHelp = `
still fails    the run violates the invariant
fixed          the same steps ran and the run no longer fails; of other runs nothing is known
incompatible   the program takes other steps, and the run holds: the step is named; or it has no invariant any more; nothing is known
A step is an operation on a key or a statement with the choices of the scheduler; values and parameters are not compared.

Examples:
  moirai replay .moirai/failures/cart-3f9a1c.json
  moirai replay moirai-findings/1-lost-update.program.ts --on postgres://postgres@localhost

On a server (--on):
observed       the server does what was predicted, and no order of whole sessions on that server leaves it: exit code 1
prevented      a statement or a commit fails: 0
infeasible     a statement waits for a lock, so that the order cannot happen: 0
diverged       the program or the server did something else: 2

Exit codes: 0 fixed, 1 still fails, 2 incompatible, 3 bad input or usage, 4 a failure of moirai itself.`;
