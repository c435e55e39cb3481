/** `moirai analyze`: the transactions of an application that can go wrong, the weakest safe level of each, and the smallest change. */
import { join, relative } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { Budget, InputError } from '../../base/index.ts';
import { conclude, exitCodeOf } from '../../evidence/index.ts';
import { makeFolder } from '../../files/index.ts';
import type { SourceOptions, Analysis, Application, Dialect, Explorer, RunCodeOptions } from '../../analyze/index.ts';
import { isSqlProgram } from '../../program/index.ts';
import { counted, type ReportData } from '../../report/index.ts';
import type { ExitCode, Host, Ending } from '../host.ts';
import { reportFiles, withReport } from '../page/report-file.ts';
import { seconds, wholeNumber } from '../options/option-values.ts';
import { moiraiVersion } from '../own-files.ts';
import { invocation, shellWord } from '../options/invocation.ts';
import { loadDefaultInTime } from '../modules/module-loading.ts';
import { runInterruptibly } from '../interruption/run-interruptibly.ts';
import { appearance } from '../output/style.ts';
import { printEnding } from '../modules/user-program.ts';
import { withExplorers } from './witness-threads.ts';

interface AnalyzeCommandOptions {
  /** Default: the database's. */
  readonly isolation: string | undefined;
  /** A file with the DDL of the database that source uses. */
  readonly schema: string | undefined;
  /** Default: the one that the source names. */
  readonly engine: string | undefined;
  /** The folder for programs; `null`: none are written. */
  readonly out: string | null;
  /** Where the HTML report goes; `null`: there is none. */
  readonly report: string | null;
  readonly json: boolean;
  /** The file for SARIF, or `true` for standard output. */
  readonly sarif: string | boolean;
  /** `GLOB:function` */
  readonly unit: readonly string[];
  /** Only what a change since this commit touches; `true`: since the main branch. */
  readonly changed: string | boolean;
  /** Print the changes as a patch of the source. */
  readonly fix: boolean;
  /** Apply the patch. */
  readonly write: boolean;
  /** Run the application's own functions. */
  readonly runCode: boolean;
  /** Milliseconds. Default: any. */
  readonly maxTime: number | undefined;
  readonly jobs: number;
  readonly color: boolean;
}

export function addAnalyze(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('analyze')
    .description(
      'Which transactions of an application can go wrong together at their isolation levels, which level each needs, and the smallest change.',
    )
    .usage('[options] <file>')
    .argument(
      '[file]',
      'a folder or file of TypeScript or JavaScript source; a trace of recorded statements (*.jsonl, -); without --schema, a module whose default export is an application or a SQL program',
    )
    .option(
      '--schema <file>',
      'the SQL that creates the tables which the source or the trace uses; a folder: its .sql files',
    )
    .option(
      '--engine <engine>',
      'the database of the source: postgres, mysql or mariadb (default: the one whose driver it imports, otherwise postgres)',
    )
    .option('--isolation <level>', "of transactions that name none (default: the database's own)")
    .option('--out <folder>', 'write each confirmed anomaly there, as a program for moirai explore')
    .option('--json', 'print one JSON object and nothing else')
    .option(
      '--sarif [file]',
      'write SARIF 2.1.0 there; without a file, print it and nothing else (--sarif=FILE in doubt)',
    )
    .option(
      '--report <file>',
      'write what was found as one HTML page: transactions, anomalies with their statements, changes',
    )
    .option('--fix', 'print the proven changes as a patch of the source, and nothing else')
    .option('--write', 'with --fix: change the source')
    .option(
      '--unit <glob:function>',
      'a function that is a unit, beside those that are found; any number',
      (one: string, all: readonly string[]) => [...all, one],
      [] as readonly string[],
    )
    .option(
      '--changed [base]',
      'only what a change touches since a commit, the main branch where none is given (--changed=BASE in doubt)',
    )
    .option(
      '--run-code',
      "import the source and run its functions on a mock database, also those of anomalies: with the source's own effects on files and processes",
    )
    .option(
      '--max-time <seconds>',
      'for trying anomalies; those that are not tried by then are listed as possible',
      seconds('max-time'),
    )
    .option('--jobs <n>', 'threads, for trying anomalies', wholeNumber('jobs', 1), 1)
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', analyzeHelp)
    .action(
      async (
        given,
        {
          out = null,
          json = false,
          sarif = false,
          fix = false,
          write = false,
          runCode = false,
          changed = false,
          report,
          unit,
          ...others
        },
      ) => {
        const { file, ...values } = withFile(given, { sarif, changed });
        end(
          await analyzeInterruptibly(
            file,
            {
              ...others,
              schema: others.schema,
              engine: others.engine,
              isolation: others.isolation,
              maxTime: others.maxTime,
              out,
              report: reportFiles({ report }).report,
              json,
              fix,
              write,
              runCode,
              unit,
              ...values,
            },
            host,
          ),
        );
      },
    );
}

type OptionalValues = Pick<AnalyzeCommandOptions, 'sarif' | 'changed'>;

/**
 * `--sarif src/`: the parser takes the word behind an option as its value. Where that leaves no file to analyze, the word is the file.
 * @throws InputError where there is none, or two words may be it
 */
function withFile(file: string | undefined, values: OptionalValues): OptionalValues & { readonly file: string } {
  if (file !== undefined) return { ...values, file };
  const { sarif, changed } = values;
  if (typeof sarif === 'string' && typeof changed === 'string')
    throw new InputError(
      'option/usage',
      `which of ${sarif} and ${changed} is analyzed? Join the other to its option: --sarif=${sarif} or --changed=${changed}`,
    );
  if (typeof sarif === 'string') return { changed, sarif: true, file: sarif };
  if (typeof changed === 'string') return { sarif, changed: true, file: changed };
  throw new InputError('option/usage', "missing required argument 'file'");
}

/** Nothing is known before the source is read; the analysis ends by itself with what it has. */
function analyzeInterruptibly(file: string, options: AnalyzeCommandOptions, host: Host): Promise<ExitCode> {
  const why = 'interrupted before the source was read';
  const unknown = { file, verdict: 'unknown', gaps: [why], assumed: [] };
  const ending: Ending = { out: options.json ? `${JSON.stringify(unknown)}\n` : '', err: `${file}: ${why}\n`, code: 2 };
  let isRead = false;
  const work = (quiet: Host): Promise<ExitCode> =>
    withExplorers(options.jobs, quiet.interruption, (explorers) =>
      analyzeCommand({ file, explorers }, options, quiet, () => (isRead = true)),
    );
  return runInterruptibly(host, () => (isRead ? null : ending), work);
}

async function analyzeCommand(
  { file, explorers }: { readonly file: string; readonly explorers: readonly Explorer[] },
  options: AnalyzeCommandOptions,
  host: Host,
  onRead: () => void,
): Promise<ExitCode> {
  checkOutputs(options);
  // Loading these costs time that other commands do without.
  const { analyze, analysisJson, analysisReport, analysisSarif, formatAnalysis } = await import(
    '../../analyze/index.ts'
  );
  const { defaultIsolation, isolationNamed } = await import('../../database/index.ts');
  const found = await placingSchema(file, options.schema, host, () => applicationIn(file, options, host));
  if ('code' in found) return printEnding(found, host);
  const { application: all, source, traffic } = found;
  const isolation = isolationNamed(options.isolation ?? defaultIsolation[all.dialect]);
  const application = options.changed === false ? all : await changedPart(all, source, options, host);
  onRead();
  const limits = {
    isolation,
    signal: host.interruption,
    isPart: options.changed !== false,
    explorers,
    ...(options.maxTime === undefined ? {} : { timeMaxMs: options.maxTime }),
  };
  const budget = new Budget(limits);
  const read = await placingSchema(file, options.schema, host, () => analyze(application, limits));
  const { leftMs } = budget;
  const left = { ...limits, ...(leftMs === Infinity ? {} : { timeMaxMs: leftMs }) };
  const analysis = options.runCode ? await checkedByCode({ application, analysis: read, source }, left, host) : read;
  const files = await writePrograms(analysis, options.out, host);
  const { sarif } = options;
  const log = sarif === false ? '' : sarifText(analysisSarif(analysis, { version: moiraiVersion(), files }));
  if (typeof sarif === 'string') await host.writeOutput(sarif, [new TextEncoder().encode(log)]);
  if (options.fix) {
    if (source === null)
      throw new InputError('analyze/fix', '--fix changes source: moirai analyze src/ --schema schema.sql --fix');
    const { fixSource } = await import('./analyze-fix.ts');
    const after = await fixSource(
      { source, units: application.units, analysis, options: limits, writes: options.write },
      host,
    );
    return exitCodeOf(conclude((options.write ? after : analysis).evidence));
  }
  const shown = files.map((name) => (name === null ? null : shellWord(name)));
  const data = (): ReportData =>
    analysisReport(analysis, {
      heading: `moirai analyze ${shellWord(file)}`,
      database: `${all.dialect}, ${isolation}`,
      files: shown,
      invocation: invocation(host),
    });
  if (sarif === true) host.out(log);
  else if (options.json) host.out(`${JSON.stringify({ ...analysisJson(analysis, files), report: data() })}\n`);
  else {
    const { style } = appearance(host, options.color);
    host.out(formatAnalysis(analysis, { style, files: shown, invocation: invocation(host) }));
    if (traffic !== null) host.out(`\n${traffic}`);
  }
  const ending: Ending = { out: '', err: '', code: exitCodeOf(conclude(analysis.evidence)) };
  const asked = { report: options.report, prints: sarif !== true && !options.json, host };
  return printEnding(await withReport(ending, data, asked), host);
}

interface FoundInSource {
  readonly application: Application;
  readonly analysis: Analysis;
  readonly source: SourceOptions | null;
}

/** @throws InputError `analyze/run-code` where there is no source */
async function checkedByCode(
  { application, analysis, source }: FoundInSource,
  options: RunCodeOptions,
  host: Host,
): Promise<Analysis> {
  if (source === null)
    throw new InputError(
      'analyze/run-code',
      '--run-code runs source: moirai analyze src/ --schema schema.sql --run-code',
    );
  const { runCode } = await import('../../analyze/index.ts');
  const { ApplicationThreads } = await import('./code/application-threads.ts');
  const threads = new ApplicationThreads(application.dialect, host);
  try {
    return await runCode(application, analysis, threads, options);
  } finally {
    await threads.close();
  }
}

/** An error of the DDL, in the file that has it; of a module it is known only which one it is. */
async function placingSchema<Result>(
  module: string,
  schema: string | undefined,
  host: Host,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'analyze/schema') throw error;
    if (schema === undefined) throw new InputError(error.code, error.message, { file: module });
    const { placeInDdl } = await import('./analyze-source.ts');
    throw new InputError(error.code, error.message, await placeInDdl(schema, error.place?.line ?? 1, host));
  }
}

function sarifText(log: object): string {
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** @throws InputError where two options would print */
function checkOutputs({ json, sarif, fix, write, report }: AnalyzeCommandOptions): void {
  const printing = [...(json ? ['--json'] : []), ...(sarif === true ? ['--sarif'] : []), ...(fix ? ['--fix'] : [])];
  if (printing.length > 1) {
    const hint = sarif === true ? ': give --sarif a file' : '';
    throw new InputError('analyze/output', `${printing.join(' and ')} each print their own${hint}`);
  }
  if (fix && report !== null)
    throw new InputError('option/report', '--fix prints a patch and no report: leave one of them out');
  if (write && !fix) throw new InputError('analyze/fix', '--write applies the patch of --fix: give both');
}

/** The units that the change touches and all that conflict with them; the schema and what is no code touch all. */
async function changedPart(
  application: Application,
  source: SourceOptions | null,
  { changed, schema }: AnalyzeCommandOptions,
  host: Host,
): Promise<Application> {
  if (source === null)
    throw new InputError(
      'analyze/changed',
      '--changed reads source: moirai analyze src/ --schema schema.sql --changed',
    );
  const { unitsOfChange } = await import('../../analyze/index.ts');
  const { changedLines } = await import('./git-changes.ts');
  const lines = await changedLines(host.git, changed === true ? null : String(changed));
  const schemaFile = relative('', schema ?? '').replaceAll('\\', '/');
  if (lines.some(({ file }) => file === schemaFile || file.startsWith(`${schemaFile.replace(/\/$/, '')}/`)))
    return application;
  // A package that changes its version changes no unit.
  const inSource = lines.filter(({ file }) => source.files.has(file) && !file.endsWith('package.json'));
  const { application: part, touched } = await unitsOfChange(application, inSource);
  host.err(
    `the change touches ${counted(touched.length, 'unit')}; with what conflicts or is not understood, ${part.units.length} of ${counted(application.units.length, 'unit')}\n`,
  );
  return part;
}

interface Read {
  readonly application: Application;
  /** `null`: a module that is an application, a SQL program or a trace. */
  readonly source: SourceOptions | null;
  /** What was inferred from statements that ran. */
  readonly traffic: string | null;
}

/** What is said instead where a module does not load in time. */
async function applicationIn(file: string, options: AnalyzeCommandOptions, host: Host): Promise<Read | Ending> {
  const { schema, engine } = options;
  const { isTraceFile, readProgram, readTrace } = await import('./analyze-traffic.ts');
  if (await isTraceFile(file, host)) return { source: null, ...(await readTrace(file, schema, host)) };
  const { readSource, schemaOf } = await import('./analyze-source.ts');
  const needed = await schemaOf(file, schema, host);
  if (needed !== null) {
    const { applicationFromSource, parseEntryPoint } = await import('../../analyze/source/index.ts');
    const dialect = engine === undefined ? undefined : engineNamed(engine);
    const read = await readSource({ path: file, schema: needed, engine: dialect }, host);
    if (read.found !== null) host.err(`${read.found}\n`);
    const source = { ...read.source, entryPoints: options.unit.map(parseEntryPoint) };
    const application = applicationFromSource(source);
    const assumed = [...(read.assumed === null ? [] : [read.assumed]), ...(application.assumed ?? [])];
    return { application: { ...application, assumed }, source, traffic: null };
  }
  const { isApplication } = await import('../../analyze/index.ts');
  const loaded = await loadDefaultInTime(file, 'application', { timeoutMs: 0, json: options.json }, host);
  if ('ending' in loaded) return loaded.ending;
  const { found } = loaded;
  if (isApplication(found)) return { application: found, source: null, traffic: null };
  if (isSqlProgram(found)) return { source: null, ...(await readProgram(found, file)) };
  throw new InputError(
    'analyze/application',
    'the default export is no application and no SQL program; it should say: export default application({ ... }). To analyze source, give its --schema',
    { file },
  );
}

/** MariaDB 11.6 has another REPEATABLE READ by default, of which no rules are known. */
const dialects: Readonly<Record<string, Dialect>> = { postgres: 'postgres', mysql: 'mysql', mariadb: 'mysql' };

function engineNamed(name: string): Dialect {
  const dialect = Object.hasOwn(dialects, name) ? dialects[name] : undefined;
  if (dialect !== undefined) return dialect;
  throw new InputError('analyze/engine', `there is no engine ${name}; there are ${Object.keys(dialects).join(', ')}`);
}

/** @returns the file of each anomaly, those of units last; `null` for those that are not confirmed */
async function writePrograms(
  analysis: Analysis,
  folder: string | null,
  host: Host,
): Promise<readonly (string | null)[]> {
  const anomalies = [...analysis.anomalies, ...analysis.unitAnomalies];
  if (folder === null) return anomalies.map(() => null);
  const { formatProgram, programFileName } = await import('../../analyze/index.ts');
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

  moirai analyze src/ --schema schema.sql
  moirai analyze src/ --schema schema.sql --sarif moirai.sarif
  moirai analyze run.trace.jsonl --schema schema.sql
  moirai analyze app.ts --out moirai-findings
  moirai explore moirai-findings/1-lost-update.program.ts`;
