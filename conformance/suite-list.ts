/** Clients' own test suites: where they are, how they run, and which failures on moirai are known. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Checkout } from './suite-checkout.ts';

/** By name of a test (node-postgres: of a file): did it pass? */
export type SuiteResults = ReadonlyMap<string, boolean>;

export interface ClientSuite {
  readonly checkout: Checkout;
  /** What its own set-up makes on a fresh server before the tests: users and databases. */
  readonly setUp: readonly string[];
  readonly run: (folder: string, port: number) => Promise<SuiteResults>;
  /** The words of `reason` stand in docs/drivers.md. */
  readonly known: readonly { readonly reason: string; readonly tests: RegExp }[];
}

const fileMs = 40_000;
const suiteMs = 600_000;

export const suites: Readonly<Record<string, ClientSuite>> = {
  'node-postgres': {
    checkout: {
      repository: 'brianc/node-postgres',
      tag: 'pg@8.23.0',
      packages: [
        {
          path: 'package.json',
          keeps: [],
          workspaces: ['pg', 'pg-protocol', 'pg-pool', 'pg-connection-string', 'pg-cloudflare'].map(
            (name) => `packages/${name}`,
          ),
        },
        { path: 'packages/pg/package.json', keeps: ['async', 'bluebird', 'co', 'pg-copy-streams'] },
        ...['pg-protocol', 'pg-pool', 'pg-connection-string', 'pg-cloudflare'].map((name) => ({
          path: `packages/${name}/package.json`,
          keeps: [],
        })),
      ],
      builds: ['pg-protocol', 'pg-cloudflare'].map((name) => ({
        from: `packages/${name}/src`,
        to: `packages/${name}/dist`,
        format: 'cjs',
      })),
    },
    setUp: [],
    run: nodePostgresResults,
    known: [
      { reason: 'ending other sessions', tests: /error-tests|query-error-handling|gh-issues\/130/ },
      { reason: 'any user and any database', tests: /api-tests|client\/error-handling/ },
      { reason: 'COPY and LISTEN', tests: /gh-issues\/699|notice/ },
      { reason: 'types that moirai lacks', tests: /array-tests|type-coercion/ },
      { reason: 'time limits of idle sessions', tests: /idle_in_transaction/ },
      { reason: 'five thousand statements in five seconds', tests: /1105/ },
    ],
  },
  'kysely-postgres': {
    checkout: {
      repository: 'kysely-org/kysely',
      tag: 'v0.29.5',
      packages: [
        {
          path: 'package.json',
          keeps: (
            'chai chai-as-promised mocha mysql2 pg pg-cursor sinon semver std-env tarn tedious better-sqlite3 pathe remeda ' +
            '@electric-sql/pglite esbuild tsx prototype-pollution-vulnerable-lodash.merge-dont-upgrade'
          ).split(' '),
        },
      ],
      builds: [
        { from: 'src', to: 'dist', format: 'esm' },
        { from: 'test/node/src', to: 'test/node/dist', format: 'esm' },
      ],
    },
    setUp: ['create role kysely superuser login', 'create database kysely_test owner kysely'],
    run: (folder, port) => mochaResults(folder, { DIALECTS: 'postgres', MOIRAI_SUITE_PORTS: `5434:${port}` }),
    known: [
      { reason: 'MERGE', tests: /merge/ },
      { reason: 'ending other sessions', tests: /cancellation/ },
      { reason: 'partitions and materialized views', tests: /introspect|partitioned|materialized/ },
      { reason: 'types that moirai lacks', tests: /drop type|alter type|all data types|set schema/ },
      {
        reason: 'statements that moirai lacks',
        tests: /with ties|order-sensitive|explain .*analyze|subscript|as expression/,
      },
    ],
  },
};

/** Each file is a process of its own, as the suite's Makefile runs them. */
async function nodePostgresResults(folder: string, port: number): Promise<SuiteResults> {
  const cwd = join(folder, 'packages/pg');
  const tests = join(cwd, 'test/integration');
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('-tests.js'));
  const env = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres', PGDATABASE: 'postgres' };
  const results = new Map<string, boolean>();
  for (const file of files.toSorted())
    results.set(file, await isDone(process.execPath, [join(tests, file)], { cwd, env, timeoutMs: fileMs }));
  return results;
}

/** Tests that name a fixed port reach the server all the same: `redirect-ports.mjs`. */
async function mochaResults(folder: string, env: Readonly<Record<string, string>>): Promise<SuiteResults> {
  const output = join(tmpdir(), `moirai-suite-${process.pid}.json`);
  const reporter = ['--reporter', 'json', '--reporter-option', `output=${output}`];
  const args = ['--timeout', '15000', '--exit', ...reporter, 'test/node/dist/**/*.test.js'];
  const hook = `--import ${new URL('redirect-ports.mjs', import.meta.url).href}`;
  const options = { cwd: folder, env: { ...env, NODE_OPTIONS: hook }, timeoutMs: suiteMs };
  await isDone(join(folder, 'node_modules/.bin/mocha'), args, options);
  const { passes, failures } = JSON.parse(readFileSync(output, 'utf8')) as Record<string, { fullTitle: string }[]>;
  rmSync(output);
  return new Map([
    ...(passes ?? []).map(({ fullTitle }) => [fullTitle, true] as const),
    ...(failures ?? []).map(({ fullTitle }) => [fullTitle, false] as const),
  ]);
}

interface ProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

function isDone(program: string, args: readonly string[], { cwd, env, timeoutMs }: ProcessOptions): Promise<boolean> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: 'ignore',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve(code === 0));
  });
}
