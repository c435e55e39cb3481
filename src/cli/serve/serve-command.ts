/** `moirai serve`: the mock database behind real ports, until it is interrupted. */
import { setFlagsFromString } from 'node:v8';
import type { Command } from '@commander-js/extra-typings';
import { seeded, InputError } from '../../base/index.ts';
import type { ServedDatabase } from '../../serve/index.ts';
import type { Profile, Replay, SqlDatabase } from '../../database/index.ts';
import { gapText } from '../../evidence/index.ts';
import { checkWritable } from '../../files/index.ts';
import { formatHistoryLines, withEndLine } from '../../history/index.ts';
import { drawing } from '../../mockdb/index.ts';
import { counted, printable } from '../../report/index.ts';
import type { ExitCode, Host } from '../host.ts';
import { checkReachable, passwordOf } from './access.ts';
import { textOf } from './text-of.ts';
import { oneOf, portNumber, rate, wholeNumber } from '../options/option-values.ts';

interface ServeOptions {
  readonly engine?: string;
  readonly isolation?: string;
  readonly level?: string;
  readonly granularity?: string;
  readonly dialect?: string;
  readonly host: string;
  readonly port?: number;
  readonly httpPort?: number;
  readonly password?: string;
  readonly passwordFile?: string;
  readonly insecure?: boolean;
  readonly seed: number;
  readonly windowMs: number;
  readonly abortRate: number;
  readonly maxConnections: number;
  readonly maxPerAddress?: number;
  readonly loginMs?: number;
  readonly idleMs: number;
  readonly computeMs: number;
  readonly init?: string;
  readonly record?: string;
  readonly choices?: string;
  readonly replay?: string;
  readonly json: boolean;
}

export function addServe(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('serve')
    .description(
      'A mock database behind a port: PostgreSQL or MySQL as it is under the worst timing (--engine), or anything a level allows (--level).',
    )
    .option('--engine <name>', 'behave as this engine does: postgres (default), mysql or mariadb-11.6')
    .option('--isolation <level>', "the engine's level where a transaction names none, for example 'repeatable read'")
    .option('--level <level>', 'instead of an engine: any behaviour of a level of the axioms, for example causal')
    .option(
      '--granularity <what>',
      'with --level: what one read reads, a row (default) or a cell',
      oneOf('granularity', ['row', 'cell']),
    )
    .option(
      '--dialect <name>',
      'with --level: speak postgres (default) or mysql',
      oneOf('dialect', ['postgres', 'mysql']),
    )
    .option('--host <address>', 'where to listen; other machines reach only what is not loopback', '127.0.0.1')
    .option('--port <n>', 'default 5432 or 3306; 0 takes a free one', portNumber('port'))
    .option('--http-port <n>', 'serve the HTTP interface there too; 0 takes a free port', portNumber('http-port'))
    .option('--password <text>', 'ask every client for it; default: let everybody in. The list of processes shows it')
    .option('--password-file <file>', 'ask every client for what is in it; also the variable MOIRAI_PASSWORD')
    .option('--insecure', 'let everybody in who reaches --host, which other machines do')
    .option('--seed <n>', 'draws every decision', wholeNumber('seed', Number.MIN_SAFE_INTEGER), 1)
    .option(
      '--window-ms <n>',
      'hold statements back so long for others to overlap with; 0: never',
      wholeNumber('window-ms', 0),
      5,
    )
    .option(
      '--abort-rate <share>',
      'share of statements at repeatable read and above that fail with 40001 for no reason',
      rate,
      0,
    )
    .option('--max-connections <n>', 'clients at a time', wholeNumber('max-connections', 1), 1_000)
    .option('--max-per-address <n>', 'of them, of one address; default: all', wholeNumber('max-per-address', 1))
    .option(
      '--login-ms <n>',
      'how long a client may take to log in; default 60000, with MySQL 10000',
      wholeNumber('login-ms', 1),
    )
    .option('--idle-ms <n>', 'how long a session of the HTTP interface may be idle', wholeNumber('idle-ms', 1), 600_000)
    .option(
      '--compute-ms <n>',
      'how long one statement may compute: others wait meanwhile',
      wholeNumber('compute-ms', 1),
      10_000,
    )
    .option('--init <file>', 'SQL to run before anybody connects')
    .option('--record <file>', 'write the history there in the end, for moirai check')
    .option('--choices <file>', 'write what was decided there in the end, for --replay')
    .option('--replay <file>', 'decide as this log of choices says')
    .option('--json', 'print one JSON object with the addresses and nothing else')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', serveHelp)
    .action(async ({ json = false, ...options }) => {
      end(await serveCommand({ ...options, json }, host));
    });
}

async function serveCommand(options: ServeOptions, host: Host): Promise<ExitCode> {
  setFlagsFromString(NO_PRETENURING);
  const { openSqlDatabase, parseProfile, profileText, settleWithin } = await import('../../database/index.ts');
  const profile = parseProfile(options);
  const replay = options.replay === undefined ? null : await replayOf(options.replay);
  const password = await passwordOf(options, host.env);
  checkReachable(options, password);
  for (const file of [options.record, options.choices]) if (file !== undefined && file !== '-') checkWritable(file);
  const database = await openSqlDatabase({
    profile,
    seed: options.seed,
    abortRate: options.abortRate,
    sessionsMax: options.maxConnections,
    computeMsMax: options.computeMs,
    settle: settleWithin(replay === null ? options.windowMs : REPLAY_WAIT_MS),
    holdsBack: options.windowMs === 0 || replay !== null ? 'never' : 'sometimes',
    decisions: replay?.decisions ?? drawing({ chooser: seeded(options.seed) }),
    ...(replay === null ? {} : { awaited: replay.awaited }),
    onUnsupported: (statement) => host.err(`${printable(gapText({ kind: 'unsupported', statement }))}\n`),
  });
  try {
    if (options.init !== undefined) await runScript(database, await textOf(options.init), options.init);
    const opened = await open(database, profile, { ...options, password }, host);
    if (replay?.isSummed === false) host.err(`assumed: ${options.replay} has no checksum: it is whole\n`);
    // The reader of the address may end us at once.
    const interrupted = host.untilInterrupted();
    tell(options, opened, profileText(profile), host);
    await interrupted;
    await opened.close();
    await writeResults(database, options, host);
    const departure = replay?.departure() ?? null;
    if (departure !== null) host.err(`the run is not the one of ${options.replay}: ${departure}\n`);
    const { size } = new Set(database.unsupported.list.map(({ statement }) => statement));
    if (options.record !== undefined && size > 0)
      host.err(`the history lacks ${counted(size, 'statement')} that moirai cannot do, named above\n`);
    return 0;
  } finally {
    database.close();
  }
}

async function open(
  database: SqlDatabase,
  { dialect }: Profile,
  options: Omit<ServeOptions, 'password'> & { readonly password: string | undefined },
  host: Host,
): Promise<ServedDatabase> {
  const { serveDatabase } = await import('../../serve/index.ts');
  const { httpPort, password, maxConnections, maxPerAddress, loginMs, idleMs } = options;
  return serveDatabase(database, {
    host: options.host,
    port: options.port ?? defaultPorts[dialect],
    connectionsMax: maxConnections,
    idleMs,
    ...(maxPerAddress === undefined ? {} : { connectionsPerAddressMax: maxPerAddress }),
    ...(loginMs === undefined ? {} : { loginMs }),
    onBug: (error) => host.err(`moirai failed, which is a bug in it: ${bugText(error)}\n`),
    ...(httpPort === undefined ? {} : { httpPort }),
    ...(password === undefined ? {} : { password }),
  });
}

/** @throws InputError `serve/file`, `choices/format`, `choices/corrupt` */
async function replayOf(file: string): Promise<Replay> {
  const { parseChoices } = await import('../../database/index.ts');
  const text = await textOf(file);
  try {
    return parseChoices(text);
  } catch (error) {
    throw error instanceof InputError ? error.in(file) : error;
  }
}

/** Both are tried before the first failure is thrown. @throws InputError `serve/record`, `file/output`, `file/locked` */
async function writeResults(database: SqlDatabase, { record, choices }: ServeOptions, host: Host): Promise<void> {
  const { formatChoices } = await import('../../database/index.ts');
  const write = async (path: string | undefined, text: () => string): Promise<void> => {
    if (path !== undefined) await host.writeOutput(path, [new TextEncoder().encode(text())]);
  };
  const ends = await Promise.allSettled([
    write(choices, () => formatChoices(database.decisions)),
    write(record, () => historyText(database)),
  ]);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function historyText(database: SqlDatabase): string {
  try {
    return withEndLine('jsonl', formatHistoryLines(database.history()));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '54000')
      throw new InputError('serve/record', error.message);
    throw error;
  }
}

/**
 * V8 allocates objects of a kind that mostly lived in its old generation at once. Of what a statement allocates, the recorder keeps some; the rest dies, but in the
 * old generation it keeps alive all that it refers to, until a full collection.
 */
const NO_PRETENURING = '--no-allocation-site-pretenuring';

/** How long a replay waits for the session whose turn it is; then it continues with the sessions that are there. */
const REPLAY_WAIT_MS = 2_000;

const defaultPorts = { postgres: 5432, mysql: 3306 } as const;

function tell(
  { seed, json, replay }: ServeOptions,
  { host: address, port, url, httpUrl }: ServedDatabase,
  what: string,
  host: Host,
): void {
  if (json) {
    host.out(`${JSON.stringify({ url, host: address, port, http: httpUrl, seed })}\n`);
    return;
  }
  host.out(`${what}\n${replay === undefined ? `seed ${seed}` : `replaying ${replay}`}\n`);
  host.out(`DATABASE_URL=${url}\n`);
  if (httpUrl !== null) host.out(`HTTP ${httpUrl}\n`);
  host.out('Ctrl-C ends it\n');
}

async function runScript(database: SqlDatabase, sql: string, file: string): Promise<void> {
  const session = database.connect({ user: 'init', database: '', parameters: new Map(), onParameter: () => {} });
  try {
    for (const statement of session.split(sql)) await session.execute(session.prepare(statement), []);
    database.start();
  } catch (error) {
    throw new InputError('serve/init', error instanceof Error ? error.message : String(error), { file });
  } finally {
    session.close();
  }
}

function bugText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const serveHelp = `
The engines allow what they allow at each level and nothing else; what is drawn is the timing. --level is the family of the papers: any
history of that level, as a replicated store might give it.

A comment that is a statement of its own speaks to moirai: /* moirai reset */, start, seed 7, level causal, strong reads on, history, choices.

Examples:
  moirai serve --engine postgres --isolation 'repeatable read' --seed 7
  moirai serve --engine mysql --port 3307 --record run.history.jsonl
  moirai serve --level causal --init schema.sql --http-port 8080
`;
