/** Clients' own test suites: where they are, how they run, and which failures on moirai are known. */
import type { Dialect } from '../src/sql/model/index.ts';
import type { Checkout } from './suite-checkout.ts';
import { eachFile, mocha, postgresJs, type RunSuite } from './suite-runs.ts';

export interface ClientSuite {
  readonly dialect: Dialect;
  readonly checkout: Checkout;
  /** What its own set-up makes on a fresh server before the tests: users and databases. */
  readonly setUp: readonly string[];
  readonly run: RunSuite;
  /** The words of `reason` stand in docs/drivers.md. */
  readonly known: readonly { readonly reason: string; readonly tests: RegExp }[];
}

const kyselyCheckout: Checkout = {
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
};
const kyselyTests = 'test/node/dist';

export const suites: Readonly<Record<string, ClientSuite>> = {
  'node-postgres': {
    dialect: 'postgres',
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
    run: eachFile({
      cwd: 'packages/pg',
      folders: ['test/integration'],
      ending: '-tests.js',
      env: (port) => ({ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres', PGDATABASE: 'postgres' }),
    }),
    known: [
      { reason: 'any user and any database', tests: /^client\/(?:api|error-handling)-tests\.js$/ },
      { reason: 'COPY and LISTEN', tests: /^(?:gh-issues\/699|client\/notice)-tests\.js$/ },
      { reason: 'types that moirai lacks', tests: /^client\/(?:array|type-coercion)-tests\.js$/ },
      {
        reason: 'time limits of idle sessions',
        tests: /^client\/idle_in_transaction_session_timeout-tests\.js$/,
      },
      { reason: 'five thousand statements in five seconds', tests: /^gh-issues\/1105-tests\.js$/ },
    ],
  },
  'kysely-postgres': {
    dialect: 'postgres',
    checkout: kyselyCheckout,
    setUp: ['create role kysely superuser login', 'create database kysely_test owner kysely'],
    run: mocha(kyselyTests, 5434, { DIALECTS: 'postgres' }),
    known: [
      {
        reason: 'partitions and materialized views',
        tests: /^postgres: (?:introspect get(?:Schemas|Tables) |schema .*(?:partitioned|materialized view))/,
      },
      {
        reason: 'types that moirai lacks',
        tests: /^postgres: schema (?:(?:drop|alter) type |alter table set schema |create table .*all data types$)/,
      },
      {
        reason: 'statements that moirai lacks',
        tests:
          /^postgres: (?:select .*fetch with ties$|aggregate .*within group|explain .*with analyze$|json .*subscript|schema create table .*as expression$)/,
      },
    ],
  },
  'kysely-mysql': {
    dialect: 'mysql',
    checkout: kyselyCheckout,
    setUp: [
      "create user 'kysely'@'%' identified by 'kysely'",
      "grant all on *.* to 'kysely'@'%'",
      'create database kysely_test',
    ],
    run: mocha(kyselyTests, 3308, { DIALECTS: 'mysql' }),
    known: [
      { reason: 'ending other sessions', tests: /^mysql: cancellation .*'cancel query'$/ },
      {
        reason: 'changes of several tables',
        tests: /^mysql: (?:delete should delete from t1, t2|update should update joined )/,
      },
      { reason: 'procedures, EXPLAIN, LOAD DATA', tests: /^mysql: explain / },
      { reason: 'partitions and materialized views', tests: /^mysql: schema create table .*partitioned/ },
      {
        reason: 'single ones',
        tests: /^mysql: (?:json traversal .*json_set function|schema alter table add primary key constraint )/,
      },
      { reason: 'a time that is measured', tests: /^mysql: migration / },
    ],
  },
  'postgres.js': {
    dialect: 'postgres',
    checkout: { repository: 'porsager/postgres', tag: 'v3.4.9', packages: [], builds: [] },
    setUp: [],
    run: postgresJs,
    known: [
      { reason: 'COPY and LISTEN', tests: /listen|[Cc]opy/ },
      {
        reason: 'types that moirai lacks',
        tests: /^(?:Array of Box|Nested array n[23]|Escape in arrays|Point type.*)$/,
      },
      {
        reason: 'pg_prepared_statements',
        tests: /^(?:Automatically creates|no_prepare|prepares? |prepare:|does not prepare).*/,
      },
      { reason: 'large objects', tests: /^Large object$/ },
      {
        reason: 'a time that is measured',
        tests: /^(?:reserve connection|big query body|requests works after single connect_timeout)$/,
      },
    ],
  },
  mysql2: {
    dialect: 'mysql',
    checkout: {
      repository: 'sidorares/node-mysql2',
      tag: 'v3.23.4',
      packages: [{ path: 'package.json', keeps: ['poku', 'assert-diff', 'error-stack-parser', 'portfinder'] }],
      builds: [{ from: 'test', to: 'test', format: 'esm', extension: '.mts' }],
    },
    setUp: ['create database if not exists test'],
    run: eachFile({
      cwd: '.',
      folders: ['test/integration', 'test/global'],
      ending: '.test.mjs',
      env: (port) => ({ MYSQL_HOST: '127.0.0.1', MYSQL_PORT: String(port) }),
    }),
    known: [
      { reason: 'character sets', tests: /encoding\/|#433|track-state-change/ },
      {
        reason: 'geometry, BIT and zone of the session',
        tests: /connection\/test-(?:type-?cast|execute-type-casting|datetime)/,
      },
      {
        reason: 'a sql_mode that is not strict, and dates that are none',
        tests: /notnull-nulls|test-timestamp|#1019|invalid-date-result/,
      },
      { reason: 'widths of columns that results show', tests: /column-inspect/ },
      { reason: 'procedures, EXPLAIN, LOAD DATA', tests: /multiple-results|nocolumndef|infile/ },
      {
        reason: 'variables of the server',
        tests: /backpressure-result|execute-and-unprepare|null-bitmap|prepare-and-close|multi-result-streaming/,
      },
      { reason: 'any user and any database', tests: /error-events|regressions\/2052/ },
      { reason: 'functions that moirai lacks', tests: /typecast-field-string/ },
    ],
  },
};
