/**
 * Real races of npm libraries, installed at exact versions into a folder of their own: found before the fix, proven after it. Without a registry the
 * tests are skipped; with MOIRAI_REQUIRE_SERVERS=1 that is a failure.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import type { SqlProgram } from 'moirai';
import { Client } from 'pg';
import { exploreSql, formatSqlExploration } from '../src/explore/sql/index.ts';
import { parseProfile } from '../src/database/index.ts';
import { runSqlCampaign } from '../src/campaign/sql/index.ts';
import { build, root, runBuilt, runProcess } from './support/cli.ts';
import { startPostgres } from './support/postgres-server.ts';
import { serversAreRequired } from './support/server-process.ts';

const source = join(root, 'examples/real-bugs');
const folder = await installed();

/** Each with words of its cause, or the number of schedules by which it is proven right. */
const programs: readonly (readonly [name: string, cause: string | number])[] = [
  ['knex-0.95.11', 'each saw no row in knex_migrations_lock'],
  ['knex-0.95.12', 'each saw no row in knex_migrations_lock'],
  ['knex-3.3.0', 'each saw no row in knex_migrations_lock'],
  ['sequelize-6.7.0', "saw no row in users where name = 'ada'"],
  ['sequelize-6.8.0', 6],
  ['node-pg-migrate-5.10.0', "table_name = 'pgmigrations'"],
  ['node-pg-migrate-6.0.0', 8],
  ['kysely-0.29.2', 'saw no row in kysely_migration, alice inserted one'],
  ['kysely-0.29.3', 4],
  ['postgres-migrations-3.0.2', "saw no row in pg_class where relname = 'migrations'"],
  ['postgres-migrations-4.0.0', 10],
  ['pg-boss-3.2.2', "saw no row in pg_class where oid = to_regclass('pgboss.version')"],
  ['pg-boss-4.1.0', 240],
  ['dbos-4.21.6', "saw no row in workflow_schedules where schedule_name = 'nightly'"],
  ['dbos-4.22.6', 4],
  ['drizzle-0.45.2', 'each saw no row in __drizzle_migrations'],
  ['verrou-0.5.1', "saw no row in tables where table_name = 'verrou'"],
  ['verrou-0.5.2', 56],
  ['better-auth-magic-link-1.6.10', 'lost update between sessions: each read verification'],
  ['better-auth-magic-link-1.6.16', 6],
  ['better-auth-email-otp-1.6.16', 'alice deleted it; bob saw what alice wrote to verification'],
  ['better-auth-email-otp-1.6.17', 12],
  ['better-auth-reset-password-1.6.16', 'alice deleted it'],
  ['better-auth-reset-password-1.6.17', 6],
  ['better-auth-rate-limit-1.6.16', 'lost update between sessions: bob read rateLimit'],
  ['better-auth-rate-limit-1.6.17', 6],
  ['connect-session-knex-5.0.0', 'saw no row in sessions'],
  ['workflow-step-created-4.1.1', "each saw no row in workflow_events where run_id = 'wrun_1'"],
  ['workflow-step-created-4.1.5', 18],
  ['workflow-hook-token-4.1.5', "each saw no row in workflow_hooks where token = 'approval'"],
  ['agenda-6.2.6', "each saw no row in agenda_jobs where name = 'invoice'"],
  ['sequelize-slugify-1.6.2', "each saw no row in posts where slug = 'hello-world'"],
  ['keyv-postgres-1.4.11', 'two sessions make the same name at a time'],
];

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

/** A program with more of them is run twenty times at random, and explored with MOIRAI_HEAVY=1. */
const schedulesInCi = 100;

test.skipIf(folder === null).each(programs)('%s', async (name, cause) => {
  const isRight = typeof cause === 'number';
  const profile = parseProfile({ engine: 'postgres' });
  const program = await programOf(name);
  if (isRight && cause > schedulesInCi && !isHeavy) {
    const { runs, violations } = await runSqlCampaign(program, { profile, runs: 20, seed: 1 });
    expect({ runs, violations }).toEqual({ runs: 20, violations: 0 });
    return;
  }
  const result = await exploreSql(program, { profile, failsFast: !isRight });
  const text = formatSqlExploration(result, { width: Infinity }).replaceAll(/\s+/g, ' ');
  expect(text).toContain(isRight ? `all ${cause} schedules satisfy the invariant` : cause);
  expect(text).toMatch(isRight ? /whatever the timing of statements, this program holds/ : /Cause: /);
});

test.skipIf(folder === null)('the command line explores one of them', async () => {
  const { code, out, err } = await runBuilt(['explore', join(folder ?? '', 'knex-0.95.12.mjs')]);
  // On a busy machine there are lines of progress.
  const warnings = err.split('\n').filter((line) => !/^.+: [\d,]+ (?:of [\d,]+ )?\w+/.test(line));
  expect({ code, warnings: warnings.join('\n') }).toEqual({ code: 1, warnings: '' });
  expect(out).toContain('2 of 6 schedules violate the invariant');
});

/** The same programs with a real server: both sessions at once, nothing scheduled. Prints how many of a hundred runs went wrong. */
test.runIf(isHeavy)('on PostgreSQL', { timeout: 3_600_000 }, async () => {
  const server = await startPostgres();
  try {
    const { port } = server;
    const admin = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    await admin.connect();
    await admin.query('CREATE ROLE app SUPERUSER LOGIN');
    await admin.query('CREATE DATABASE app OWNER app');
    await admin.end();
    vi.stubEnv('PGDATABASE', 'app');
    const rates = new Map<string, number>();
    for (const [name] of programs) {
      const program = await programOf(name);
      let wrong = 0;
      for (let run = 0; run < 100; run += 1) wrong += (await isWrongOnServer(program, port)) ? 1 : 0;
      process.stdout.write(`${name}: ${wrong} of 100\n`);
      rates.set(name, wrong);
    }
    const isFixed = (name: string): boolean =>
      programs.some(([each, cause]) => each === name && typeof cause === 'number');
    expect([...rates].filter(([, wrong]) => wrong === 0).map(([name]) => name)).toEqual(
      [...rates.keys()].filter(isFixed),
    );
  } finally {
    vi.unstubAllEnvs();
    await server.stop();
  }
});

/** Connects to one port, whatever a driver asks for. */
class SocketTo extends Socket {
  readonly #port: number;

  constructor(port: number) {
    super();
    this.#port = port;
  }

  override connect(): this {
    return super.connect(this.#port, '127.0.0.1');
  }
}

async function programOf(name: string): Promise<SqlProgram> {
  const module = (await import(pathToFileURL(join(folder ?? '', `${name}.mjs`)).href)) as { default: SqlProgram };
  return module.default;
}

async function isWrongOnServer(program: SqlProgram, port: number): Promise<boolean> {
  const { schema, sessions, sessionNames, invariant } = program;
  const client = new Client({ host: '127.0.0.1', port, user: 'app' });
  await client.connect();
  const { rows } = await client.query(`SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)'`);
  const emptied = (rows as readonly { nspname: string }[]).map(({ nspname }) => `DROP SCHEMA ${nspname} CASCADE`);
  await client.query([...emptied, 'CREATE SCHEMA public', ...schema].join(';'));
  await client.end();
  const connection = (name: string) => ({ name, connect: () => new SocketTo(port), sometimes: () => {} });
  const ended = await Promise.allSettled(
    sessions.map((session, index) => session(connection(sessionNames[index] as string))),
  );
  if (ended.some(({ status }) => status === 'rejected')) return true;
  const results = Object.fromEntries(
    ended.map((end, index) => [sessionNames[index], end.status === 'fulfilled' ? end.value : undefined]),
  );
  return (await invariant({ ...connection('invariant'), results })) !== true;
}

/** The folder with the programs and the libraries that they import; `null`: the registry cannot be reached. */
async function installed(): Promise<string | null> {
  const lock = createHash('sha256')
    .update(readFileSync(join(source, 'package-lock.json')))
    .digest('hex');
  const target = join(tmpdir(), `moirai-real-bugs-${lock.slice(0, 12)}`);
  await build();
  if (!existsSync(target)) {
    const fresh = `${target}-${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(source, file), join(fresh, file));
    const { code, err } = await runProcess('npm', [
      'ci',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefix',
      fresh,
    ]);
    if (code !== 0) {
      rmSync(fresh, { recursive: true, force: true });
      if (serversAreRequired()) throw new Error(`the libraries could not be installed: ${err}`);
      process.stderr.write(
        `skipped: the libraries of examples/real-bugs could not be installed: ${err.slice(0, 200)}\n`,
      );
      return null;
    }
    renameSync(fresh, target);
  }
  cpSync(source, target, { recursive: true, filter: (path) => !path.includes('node_modules') });
  // Programs import it by name.
  const here = join(target, 'node_modules/moirai');
  rmSync(here, { force: true });
  symlinkSync(root, here);
  return target;
}
