/**
 * Real, fixed races of npm libraries, installed at exact versions into a folder of their own: found before the fix, proven after it. Without a registry the
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
import { build, root, runBuilt, runProcess } from './support/cli.ts';
import { startPostgres } from './support/postgres-server.ts';
import { serversAreRequired } from './support/server-process.ts';

const source = join(root, 'examples/real-bugs');
const folder = await installed();

/** Each with words of its cause, or the number of schedules by which it is proven right. */
const programs = [
  ['knex-0.95.11', 'each saw no row in knex_migrations_lock'],
  ['knex-0.95.12', 'each saw no row in knex_migrations_lock'],
  ['knex-3.3.0', 'each saw no row in knex_migrations_lock'],
  ['sequelize-6.7.0', "saw no row in users where name = 'ada'"],
  ['sequelize-6.8.0', 6],
  ['node-pg-migrate-5.10.0', "table_name = 'pgmigrations'"],
  ['node-pg-migrate-6.0.0', 8],
  ['kysely-0.29.2', 'bob saw no row in kysely_migration, alice inserted one'],
  ['kysely-0.29.3', 6],
  ['postgres-migrations-3.0.2', "bob saw no row in pg_class where relname = 'migrations'"],
  ['postgres-migrations-4.0.0', 10],
] as const;

test.skipIf(folder === null).each(programs)('%s', async (name, cause) => {
  const { code, out, err } = await runBuilt(['explore', join(folder ?? '', `${name}.mjs`)]);
  const isRight = typeof cause === 'number';
  // On a busy machine there are lines of progress.
  const warnings = err.split('\n').filter((line) => !/^.+: [\d,]+ (?:of [\d,]+ )?\w+/.test(line));
  expect({ code, warnings: warnings.join('\n') }).toEqual({ code: isRight ? 0 : 1, warnings: '' });
  const text = out.replaceAll(/\s+/g, ' ');
  expect(text).toContain(isRight ? `all ${cause} schedules satisfy the invariant` : cause);
  expect(text).toMatch(isRight ? /whatever the timing of statements, this program holds/ : /Cause: /);
});

/** The same programs with a real server: both sessions at once, nothing scheduled. Prints how many of a hundred runs went wrong. */
test.runIf(process.env['MOIRAI_HEAVY'] === '1')('on PostgreSQL', { timeout: 3_600_000 }, async () => {
  const here = join(folder ?? '', 'node_modules/moirai');
  rmSync(here, { force: true });
  symlinkSync(root, here);
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
      const module = (await import(pathToFileURL(join(folder ?? '', `${name}.mjs`)).href)) as { default: SqlProgram };
      let wrong = 0;
      for (let run = 0; run < 100; run += 1) wrong += (await isWrongOnServer(module.default, port)) ? 1 : 0;
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

async function isWrongOnServer(program: SqlProgram, port: number): Promise<boolean> {
  const { schema, sessions, sessionNames, invariant } = program;
  const client = new Client({ host: '127.0.0.1', port, user: 'app' });
  await client.connect();
  await client.query(['DROP SCHEMA public CASCADE; CREATE SCHEMA public', ...schema].join(';'));
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
  return target;
}
