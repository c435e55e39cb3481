/** `moirai analyze`: the transactions of an application that can go wrong, the weakest safe level of each, and the smallest change. */
import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { InputError } from '../base/index.ts';
import { conclude, exitCodeOf } from '../evidence/index.ts';
import type { Analysis } from '../analyze/index.ts';
import type { ExitCode, Host } from './host.ts';
import { makeFolder } from './make-folder.ts';
import { invocation, shellWord } from './replay-command.ts';
import { appearance } from './style.ts';

interface AnalyzeCommandOptions {
  readonly isolation: string;
  /** The folder for programs; `null`: none are written. */
  readonly out: string | null;
  readonly json: boolean;
  readonly color: boolean;
}

export function addAnalyze(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('analyze')
    .description(
      'Which transactions of an application can go wrong together at their isolation levels, which level each needs, and the smallest change.',
    )
    .argument('<file>', 'a module whose default export is an application: TypeScript or JavaScript')
    .option('--isolation <level>', 'of transactions that name none', 'read committed')
    .option('--out <folder>', 'write each confirmed anomaly there, as a program for moirai explore')
    .option('--json', 'print one JSON object and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', analyzeHelp)
    .action(async (file, { isolation, out = null, json = false, color }) => {
      end(await analyzeCommand(file, { isolation, out, json, color }, host));
    });
}

async function analyzeCommand(file: string, options: AnalyzeCommandOptions, host: Host): Promise<ExitCode> {
  // Loading these costs time that other commands do without.
  const { analyze, analysisJson, formatAnalysis, isApplication } = await import('../analyze/index.ts');
  const { isolationNamed } = await import('../serve/profile.ts');
  const isolation = isolationNamed(options.isolation);
  const found = await host.loadDefault(file, 'application');
  if (!isApplication(found))
    throw new InputError(
      'analyze/application',
      'the default export is no application; it should say: export default application({ ... })',
      { file },
    );
  const analysis = await analyze(found, { isolation, signal: host.interruption });
  const files = await writePrograms(analysis, options.out, host);
  if (options.json) host.out(`${JSON.stringify(analysisJson(analysis, files))}\n`);
  else {
    const { style } = appearance(host, options.color);
    const shown = files.map((name) => (name === null ? null : shellWord(name)));
    host.out(formatAnalysis(analysis, { style, files: shown, invocation: invocation(host) }));
  }
  return exitCodeOf(conclude(analysis.evidence));
}

/** @returns the file of each anomaly; `null` for those that are not confirmed */
async function writePrograms(
  { anomalies }: Analysis,
  folder: string | null,
  host: Host,
): Promise<readonly (string | null)[]> {
  if (folder === null) return anomalies.map(() => null);
  const { formatProgram, programFileName } = await import('../analyze/index.ts');
  await makeFolder(folder);
  const files: (string | null)[] = [];
  for (const [at, anomaly] of anomalies.entries()) {
    if (anomaly.status.kind === 'possible') files.push(null);
    else {
      const file = join(folder, programFileName(anomaly, at + 1));
      await host.writeOutput(file, [new TextEncoder().encode(formatProgram(anomaly, anomaly.status.program))]);
      files.push(file);
    }
  }
  return files;
}

const analyzeHelp = `
Exit codes: 0 robust: every schedule is serializable; 1 an anomaly is confirmed; 2 something was not understood, or is only possible; 3 bad input.

  moirai analyze app.ts --out moirai-findings
  moirai explore moirai-findings/1-lost-update.program.ts`;
