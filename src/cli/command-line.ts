/** The commands and their options. What is wrong with them is one line, as for every other bad input. */
import type * as typed from '@commander-js/extra-typings';
import { Command, CommanderError } from './commander.ts';
import { formatInputError, InputError, isTruncated, unknownNameHint } from '../base/index.ts';
import { addCheck } from './check/check-command.ts';
import { addCompletion } from './completion-command.ts';
import { addConvert } from './convert-command.ts';
import { addDemo } from './demo-command.ts';
import { addDoctor } from './doctor-command.ts';
import { addAnalyze } from './analyze/analyze-command.ts';
import { addExplore } from './explore/explore-command.ts';
import type { ExitCode, Host } from './host.ts';
import { exitCodes } from './options/exit-codes.ts';
import { moiraiVersion } from './own-files.ts';
import { addReport } from './page/report-command.ts';
import { addProtocol } from './protocol/protocol-command.ts';
import { addClock } from './record/clock-command.ts';
import { addRecord } from './record/record-command.ts';
import { addServe } from './serve/serve-command.ts';
import { addReplay } from './failures/replay-command.ts';
import { addTest } from './test/test-command.ts';
import { addWorkload } from './record/workload-command.ts';
import { addVerify } from './verify/verify-command.ts';

/** Runs one command. Errors become a line on standard error and an exit code; nothing is thrown. */
export async function runCommandLine(args: readonly string[], host: Host): Promise<ExitCode> {
  try {
    return await parseAndRun(args, host);
  } catch (error) {
    return reportError(error, args.includes('--debug'), host);
  }
}

/** @returns the exit code */
export function reportError(error: unknown, isDebugging: boolean, host: Pick<Host, 'err'>): ExitCode {
  const details = isDebugging ? `${stacks(error).join('\ncaused by ')}\n` : '';
  if (error instanceof InputError) {
    host.err(`${oneLine(formatInputError(error))}\n${details}`);
    return isTruncated(error) ? 2 : 3;
  }
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  host.err(
    `moirai failed, which is a bug in it: ${oneLine(what)}${isDebugging ? '' : '; --debug for the stack'}\n${details}`,
  );
  return 4;
}

/** Of the error, of its cause, of the cause of that. */
function stacks(error: unknown): string[] {
  return error instanceof Error ? [error.stack ?? '', ...stacks(error.cause)] : [];
}

async function parseAndRun(args: readonly string[], host: Host): Promise<ExitCode> {
  let code: ExitCode = 0;
  const commands = commandsFor(host, (result) => {
    code = result;
  });
  if (args.length === 0) {
    commands.outputHelp();
    return 0;
  }
  try {
    await commands.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0; // help and version are printed and thrown
    // `help` of what is no command; elsewhere commander says so itself.
    const [, asked = ''] = args;
    if (error.code === 'commander.help') throw unknownCommand(asked, commands);
    throw new InputError('option/usage', oneLine(error.message.replace(/^error: /, '')));
  }
  return code;
}

function unknownCommand(name: string, { commands }: typed.Command): InputError {
  const hint = unknownNameHint(
    name,
    commands.map((command) => command.name()),
  );
  return new InputError('option/usage', `unknown command "${name}": ${hint}`);
}

function commandsFor(host: Host, end: (code: ExitCode) => void): typed.Command {
  const moirai = new Command('moirai')
    .description('Finds the bugs that transaction isolation hides.')
    .version(moiraiVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show what a command does and takes')
    .helpCommand('help [command]', 'the same')
    .exitOverride()
    .configureOutput({ writeOut: host.out, writeErr: () => {}, getOutHelpWidth: () => 100 })
    .addHelpText('after', generalHelp);
  addTest(moirai, host, end);
  addExplore(moirai, host, end);
  addReplay(moirai, host, end);
  addAnalyze(moirai, host, end);
  addCheck(moirai, host, end);
  addVerify(moirai, host, end);
  addConvert(moirai, host, end);
  addProtocol(moirai, host, end);
  addReport(moirai, host, end);
  addServe(moirai, host, end);
  addRecord(moirai, host, end);
  addClock(moirai, host, end);
  addWorkload(moirai, host, end);
  addDemo(moirai, host, end);
  addDoctor(moirai, host, end);
  addCompletion(moirai, host, end);
  return moirai;
}

const generalHelp = `
Examples:
  moirai demo                          the five-minute tour
  moirai test cart.ts                  1,000 runs at causal
  moirai test cart.ts --level all      a table of all levels
  moirai explore cart.ts               every history, each exactly once
  moirai replay FILE                   a failing run that was kept: does it still fail?
  moirai replay FILE --on URL          the same on your own PostgreSQL, MySQL or MariaDB
  moirai check run.history.jsonl       at which levels is this history?
  moirai report result.json -o r.html  a page of what a command printed with --json
  moirai serve --engine postgres       a mock PostgreSQL under the worst timing
  moirai record --upstream URL         a proxy that records what clients of a server read and write
  moirai doctor                        what is installed, and what is missing for which command
  moirai help test                     what a command takes
${exitCodes}`;

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}
