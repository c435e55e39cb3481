/** `moirai convert`: a history from one format into another. */
import { InputError } from '../base/index.ts';
import { formatNamed, formatOfName } from '../history/index.ts';
import { counted } from '../report/index.ts';
import { readCompact } from './history-input.ts';
import type { ExitCode, Host } from './host.ts';

export interface ConvertOptions {
  /** Absent: by what is in the file. */
  readonly from?: string;
  /** Absent: by what the file is called. */
  readonly to?: string;
}

/** @throws InputError */
export async function convertCommand(
  input: string,
  output: string,
  { from, to }: ConvertOptions,
  host: Host,
): Promise<ExitCode> {
  const format = to === undefined ? formatOfName(output) : formatNamed(to);
  if (format.write === undefined)
    throw new InputError('history/format', `the format ${format.name} can be read, but not written`);
  const history = await readCompact(input, host, from);
  await host.writeOutput(output, format.write(history));
  const { transactionCount, operationCount } = history;
  host.err(
    `${output}: ${counted(transactionCount, 'transaction')}, ${counted(operationCount, 'operation')}, as ${format.name}\n`,
  );
  return 0;
}
