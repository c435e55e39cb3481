/** `moirai clock`: the clock that recorders on several machines follow. */
import type { Command } from '@commander-js/extra-typings';
import type { ExitCode, Host } from '../host.ts';
import { monotonicNanoseconds } from '../../base/index.ts';
import { wholeNumber } from '../options/option-values.ts';

interface ClockOptions {
  readonly listen: number;
  readonly host: string;
}

export function addClock(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('clock')
    .description(
      'A clock for recorders on several machines, whose times are then comparable up to a bound that the traces say.',
    )
    .option('--listen <port>', 'where recorders ask; 0 takes a free port', wholeNumber('listen', 0), 0)
    .option('--host <address>', 'where to listen; other machines reach only what is not loopback', '127.0.0.1')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', clockHelp)
    .action(async (options) => {
      end(await clockCommand(options, host));
    });
}

async function clockCommand({ listen, host: address }: ClockOptions, host: Host): Promise<ExitCode> {
  const { serveClock } = await import('../../capture/index.ts');
  const server = await serveClock(address, listen, monotonicNanoseconds);
  host.err(`the clock is at ${address}:${server.port}\nCtrl-C ends it\n`);
  await host.untilInterrupted();
  server.close();
  return 0;
}

const clockHelp = `
Examples:
  moirai clock --listen 7300 --host 10.0.0.1
  moirai record --clock-source 10.0.0.1:7300 --upstream postgres://localhost:5432 --out a.trace.jsonl
  MOIRAI_CLOCK_SOURCE=10.0.0.1:7300 MOIRAI_TRACE=b.trace.jsonl node --import moirai/record app.js
  moirai verify a.trace.jsonl b.trace.jsonl --engine postgres --isolation serializable
`;
