/** `moirai convert`: a history from one format into another. */
import type { Command } from '@commander-js/extra-typings';
import { exitCodes } from './options/exit-codes.ts';
import { formatNames } from './options/option-values.ts';
import { InputError, stopText } from '../base/index.ts';
import { formatNamed, formatOfName, historyFormats } from '../history/index.ts';
import { counted } from '../report/index.ts';
import { readCompact } from './files/history-input.ts';
import type { ExitCode, Host, Ending } from './host.ts';
import { runInterruptibly } from './interruption/run-interruptibly.ts';
import { printEnding } from './modules/user-program.ts';

export function addConvert(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('convert')
    .description('Writes a history in another format.')
    .argument('<input>', 'a history; - is standard input')
    .argument('<output>', 'the file to write; - is standard output')
    .option('--from <name>', `format of the input: ${formatNames}; without it the input says it itself`)
    .option('--to <name>', `format of the output: ${writtenFormatNames}; without it the name of the file says it`)
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', convertHelp)
    .action(async (input, output, { from, to }) => {
      const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      end(await convertCommand(input, output, given, host));
    });
}

interface ConvertOptions {
  /** Absent: by what is in the file. */
  readonly from?: string;
  /** Absent: by what the file is called. */
  readonly to?: string;
}

/** @throws InputError */
async function convertCommand(
  input: string,
  output: string,
  { from, to }: ConvertOptions,
  host: Host,
): Promise<ExitCode> {
  const format = to === undefined ? formatOfName(output) : formatNamed(to);
  if (format.write === undefined)
    throw new InputError('history/format', `the format ${format.name} can be read, but not written`);
  const write = format.write;
  let isWriting = false;
  let isInterrupted = false;
  // While a file is written, only the writer can leave things as they were.
  const soFar = (): Ending | null => {
    isInterrupted = true;
    return isWriting ? null : notWritten(output);
  };
  return runInterruptibly(host, soFar, async (quiet) => {
    const history = await readCompact(input, quiet, from);
    isWriting = output !== '-';
    try {
      await quiet.writeOutput(
        output,
        unlessStopped(write(history), () => isInterrupted || host.interruption.aborted),
      );
    } catch (error) {
      if (error instanceof Stopped) return printEnding(notWritten(output), quiet);
      throw error;
    }
    const { transactionCount, operationCount } = history;
    quiet.err(
      `${output}: ${counted(transactionCount, 'transaction')}, ${counted(operationCount, 'operation')}, as ${format.name}\n`,
    );
    return 0;
  });
}

function notWritten(output: string): Ending {
  const what = output === '-' ? 'the history was not written whole' : `${output} was not written`;
  return { out: '', err: `${stopText('interrupted')}: ${what}\n`, code: 2 };
}

/** Thrown into the writer of a file, which then keeps the old one. */
class Stopped extends Error {}

function* unlessStopped(parts: Iterable<Uint8Array>, isStopped: () => boolean): Generator<Uint8Array> {
  for (const part of parts) {
    if (isStopped()) throw new Stopped();
    yield part;
  }
}

const writtenFormatNames = historyFormats.flatMap(({ name, write }) => (write === undefined ? [] : [name])).join(', ');

const convertHelp = `
Examples:
  moirai convert run.history.jsonl run.moirai         the binary form, for large histories
  moirai convert run.moirai - --to jsonl | head
${exitCodes}`;
