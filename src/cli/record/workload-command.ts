/** `moirai workload`: runs a workload of the literature against a real (or mock) database and records the trace. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { InputError } from '../../base/index.ts';
import type { Workload, WorkloadClient, WorkloadCounts } from '../../capture/index.ts';
import { checkWritable } from '../../files/index.ts';
import type { ExitCode, Host, Ending } from '../host.ts';
import { monotonicNanoseconds } from '../../base/index.ts';
import { seconds, wholeNumber } from '../options/option-values.ts';
import { parseServerUrl } from './record-command.ts';
import { runInterruptibly } from '../interruption/run-interruptibly.ts';
import type { TraceRecording } from '../../capture/index.ts';
import { loadDriver, type OpenClient, type WorkloadDriver } from './workload-drivers.ts';

interface WorkloadOptions {
  readonly url: string;
  readonly clients: number;
  /** Milliseconds. */
  readonly seconds: number;
  readonly seed: number;
  readonly skew: string;
  readonly scale: string;
  readonly isolation?: string;
  readonly trace?: string;
  readonly json: boolean;
}

export function addWorkload(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('workload')
    .description('Runs a workload of the literature against a database and records the trace, for moirai verify.')
    .argument('<name>', 'blindw-w, blindw-rw, blindw-rw+, ycsb-a, smallbank, tpcc, list-append or absent-rows')
    .requiredOption('--url <url>', 'the database; tables of the workload there are dropped and made anew')
    .option('--clients <n>', 'connections side by side', wholeNumber('clients', 1), 8)
    .option('--seconds <n>', `how long (default: ${defaultMs / 1_000})`, seconds('seconds'))
    .option('--seed <n>', 'draws what each client asks', wholeNumber('seed', Number.MIN_SAFE_INTEGER), 1)
    .option('--skew <theta>', "of ycsb-a's keys: 0 is uniform, below 1", '0.99')
    .option(
      '--scale <factor>',
      'how large the tables are, 1 as in the papers: the smaller, the more clients conflict',
      '1',
    )
    .option(
      '--isolation <level>',
      "of every transaction, by its name in SQL, for example 'repeatable read' (default: the server's)",
    )
    .option('--trace <file>', 'where to record; - is standard output')
    .option('--json', 'print one JSON object with the counts')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', workloadHelp)
    .action(async (name, { json = false, seconds: timeMs = defaultMs, ...options }) => {
      const state = { isRecording: false };
      const soFar = (): Ending | null => (state.isRecording ? null : { out: '', err: 'interrupted\n', code: 2 });
      const run = (quiet: Host): Promise<ExitCode> =>
        workloadCommand(name, { ...options, seconds: timeMs, json }, quiet, () => (state.isRecording = true));
      end(await runInterruptibly(host, soFar, run).catch(blame));
    });
}

const defaultMs = 10_000;

/** @param onTables the tables are made: from now on an interruption ends it with counts and a whole trace */
async function workloadCommand(
  name: string,
  options: WorkloadOptions,
  host: Host,
  onTables: () => void,
): Promise<ExitCode> {
  const capture = await import('../../capture/index.ts');
  const known = capture.workloadNames.find((each) => each === name);
  if (known === undefined)
    throw new InputError(
      'option/workload',
      `there is no workload ${name}; there are ${capture.workloadNames.join(', ')}`,
    );
  if (options.json && options.trace === '-')
    throw new InputError('option/usage', 'standard output is either the trace or the JSON object');
  const workload = capture.workloadOf(known, skewOf(options.skew), scaleOf(options.scale));
  const { dialect } = parseServerUrl(options.url);
  const isolation = isolationOf(options.isolation);
  const driver = loadDriver(dialect);
  // Before any table is dropped.
  if (options.trace !== undefined && options.trace !== '-') checkWritable(options.trace);
  const admin = await open(driver, options.url);
  await capture.loadWorkload(workload, admin);
  onTables();
  const traced = await startTrace(options.trace, driver, host);
  const counts = await runOn(driver, admin, workload, options, isolation, host).catch((error: unknown) => {
    traced?.close();
    throw error;
  });
  const failure = traced?.close() ?? null;
  const stopped = host.interruption.aborted ? 'interrupted' : null;
  report(
    {
      workload: known,
      clients: options.clients,
      seconds: options.seconds / 1_000,
      seed: options.seed,
      ...counts,
      ...(stopped === null ? {} : { stopped }),
    },
    options,
    host,
  );
  if (failure !== null) throw failure;
  return stopped === null ? 0 : 2;
}

async function runOn(
  driver: WorkloadDriver,
  admin: OpenClient,
  workload: Workload,
  options: WorkloadOptions,
  isolation: string | null,
  { interruption }: Host,
): Promise<WorkloadCounts> {
  const { runWorkload } = await import('../../capture/index.ts');
  const clients: OpenClient[] = [];
  try {
    for (let i = 0; i < options.clients; i += 1) clients.push(await open(driver, options.url));
    if (workload.isSingle === true && isolation !== null)
      for (const client of clients) await client.query(driver.setLevel(isolation));
    // The values that transactions find: a checker then knows of every value who wrote it.
    for (const { name: table } of workload.tables) await clients[0]?.query(`SELECT * FROM ${table}`);
    const until = monotonicNanoseconds() + options.seconds * 1e6;
    const running = runWorkload({
      workload,
      clients,
      begin: isolation === null ? ['BEGIN'] : driver.begin(isolation),
      seed: options.seed,
      isOver: () => interruption.aborted || monotonicNanoseconds() >= until,
      isConflict,
    });
    if (driver.needsTending) await tend(workload, admin, running);
    return await running;
  } finally {
    await Promise.allSettled([...clients, admin].map((client) => client.close()));
  }
}

function report(
  result: WorkloadCounts &
    Pick<WorkloadOptions, 'clients' | 'seconds' | 'seed'> & { readonly workload: string; readonly stopped?: string },
  { json }: WorkloadOptions,
  host: Host,
): void {
  const { workload, committed, aborted, seed, stopped } = result;
  if (json) host.out(`${JSON.stringify(result)}\n`);
  else
    host.err(
      `${workload}: ${committed} transactions committed, ${aborted} aborted; seed ${seed}${stopped === undefined ? '' : `; ${stopped}`}\n`,
    );
}

/** As long as clients run: they may wait for it. */
async function tend(workload: Workload, admin: WorkloadClient, running: Promise<unknown>): Promise<void> {
  const state = { isRunning: true };
  const over = running.then(
    () => (state.isRunning = false),
    () => (state.isRunning = false),
  );
  while (state.isRunning && workload.tend !== undefined)
    if (!(await workload.tend(admin))) await Promise.race([over, sleep(1)]);
}

function skewOf(text: string): number {
  const skew = Number(text);
  if (!(skew >= 0 && skew < 1))
    throw new InputError('option/skew', `--skew takes a number from 0 to below 1, not ${text}`);
  return skew;
}

function scaleOf(text: string): number {
  const scale = Number(text);
  if (!(scale > 0 && scale <= scaleMax))
    throw new InputError('option/scale', `--scale takes a number above 0 and up to ${scaleMax}, not ${text}`);
  return scale;
}

const scaleMax = 1_000;

const levels = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];

function isolationOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const level = text.toLowerCase().replaceAll('-', ' ');
  if (!levels.includes(level))
    throw new InputError('option/isolation', `${text} is no level of SQL: ${levels.join(', ')}`);
  return level.toUpperCase();
}

/**
 * 40001 serialization failure, 40P01 deadlock, 55P03 lock timeout, 23505 a key that another session took, 53200 no room for another lock or
 * conflict; MySQL's 1213, 1205, 1062, 1020.
 */
function isConflict(error: unknown): boolean {
  const { code, errno } = error as { code?: string; errno?: number };
  return (
    ['40001', '40P01', '55P03', '23505', '53200'].includes(code ?? '') || [1213, 1205, 1062, 1020].includes(errno ?? 0)
  );
}

/** @throws InputError `workload/connect` */
async function open(driver: WorkloadDriver, url: string): Promise<OpenClient> {
  try {
    return noting(await driver.open(url));
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const what = message === '' || message === undefined ? (code ?? '') : message;
    throw new InputError('workload/connect', `no connection to ${url.replace(/:[^:@/]*@/, ':...@')}: ${what}`);
  }
}

/** What a server or the way to it has answered: no fault of ours. */
const serverErrors = new WeakSet<object>();

/** @throws InputError `workload/server`, where a server is to blame */
function blame(error: unknown): never {
  if (typeof error !== 'object' || error === null || !serverErrors.has(error)) throw error;
  const { message } = error as Error;
  throw new InputError(
    'workload/server',
    `the server stopped answering: ${message}; the trace holds what it did before`,
  );
}

function noting({ query, close }: OpenClient): OpenClient {
  return {
    query: async (sql, ...values) => {
      try {
        return await query(sql, ...values);
      } catch (error) {
        if (typeof error === 'object' && error !== null) serverErrors.add(error);
        throw error;
      }
    },
    close,
  };
}

/** The hooks that `moirai/record` has, around the drivers that are used here. */
async function startTrace(
  path: string | undefined,
  driver: WorkloadDriver,
  host: Host,
): Promise<Pick<TraceRecording, 'close'> | null> {
  if (path === undefined) return null;
  const { startTraceRecording } = await import('../../capture/index.ts');
  const { loadParser } = await import('../../sql/index.ts');
  await loadParser();
  const { recording, close } = await startTraceRecording(path, (message) => host.err(`${message}\n`));
  const unhook = await driver.hook(recording);
  return {
    close: () => {
      unhook();
      return close();
    },
  };
}

const workloadHelp = `
Tables are dropped and made anew before the recording begins. It needs the driver of the database: npm install pg, or npm install mysql2.

Examples:
  moirai workload blindw-rw --url postgres://localhost/test --clients 16 --seconds 30 --trace run.trace.jsonl
  moirai workload smallbank --url mysql://root@localhost/test --isolation serializable --trace - | moirai verify - --engine mysql --isolation serializable

Ctrl-C ends it with the counts so far and a trace that is whole. A second Ctrl-C ends it at once.

Exit codes: 0 it ran and the trace is whole, 2 interrupted, 3 bad input or usage, a server at fault, or the trace could not be written whole, 4 a failure of
moirai itself.
`;
