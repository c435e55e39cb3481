/** `moirai report`: the page of `--report`, from what a command printed with `--json`. */
import type { Command } from '@commander-js/extra-typings';
import { InputError } from '../../base/index.ts';
import { faultInReport, joinReports, type ReportData } from '../../report/index.ts';
import type { ExitCode, Host } from '../host.ts';
import { shellWord } from '../options/invocation.ts';
import { pageBytes } from './report-file.ts';

export function addReport(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('report')
    .description('Makes the HTML page of --report from what a command printed with --json.')
    .argument(
      '<result>',
      'what test, explore, check, verify, protocol, analyze or replay --on printed; - is standard input',
    )
    .requiredOption('-o, --output <file>', 'the page to write; - is standard output')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', reportHelp)
    .action(async (file, { output }) => {
      const data = reportIn(await host.readInput(file), file);
      await host.writeOutput(output, [await pageBytes(data)]);
      end(0);
    });
}

/** @throws InputError `report/result` */
function reportIn(bytes: Uint8Array, file: string): ReportData {
  const results = parseResult(bytes, file);
  const all: readonly unknown[] = Array.isArray(results) ? results : [results];
  const reports = all.map((result) => {
    const isResult = typeof result === 'object' && result !== null && 'report' in result;
    if (!isResult) throw notAResult('it says nothing for a report', file);
    const fault = faultInReport(result.report);
    if (fault !== null)
      throw new InputError(
        'report/result',
        `another version wrote this result: this one cannot read its field "${fault}"`,
        { file },
      );
    return result.report as ReportData; // it has the shape
  });
  if (reports.length === 0) throw notAResult('it is empty', file);
  return joinReports(reports, `moirai report ${shellWord(file)}`);
}

function parseResult(bytes: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw notAResult('it is no JSON', file);
  }
}

function notAResult(why: string, file: string): InputError {
  return new InputError(
    'report/result',
    `this is not what test, explore, check, verify, protocol, analyze or replay --on print with --json when they end: ${why}`,
    { file },
  );
}

const reportHelp = `
Examples:
  moirai explore transfer.ts --json > result.json
  moirai report result.json -o transfer.html
  moirai check runs/ --json | moirai report - -o runs.html

Exit codes: 0 the page is written, whatever the result; 3 bad input or usage, 4 a failure of moirai itself.`;
