/**
 * The ORMs and query builders of test/drivers on real servers, recorded by the hooks: what they did is at the server's level, and almost nothing of
 * their SQL is more than the recorder understands.
 */
import mysql2 from 'mysql2';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hookMariadb, hookMysql2, hookPg, hookPostgresJs, Recording } from '../../src/capture/index.ts';
import { SessionRecorder } from '../../src/capture/session-recorder.ts';
import type { StatementEvent } from '../../src/capture/statement-event.ts';
import { monotonicNanoseconds } from '../../src/base/index.ts';
import { formatTraceHeader } from '../../src/trace/record.ts';
import { emptyHeader } from '../../src/trace/trace.ts';
import { loadParser } from '../../src/sql/index.ts';
import { mechanismsOf, TraceVerification } from '../../src/verify/index.ts';
import { drivers } from '../drivers/drivers.ts';
import type { Driver, Served, Shop } from '../drivers/shop.ts';
import { stepsOf } from '../drivers/shop-steps.ts';
import { startMariadb } from '../support/mariadb-server.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { linesOf } from './shop.ts';

const servers = { postgres: await startedOrSkipped(startPostgres), mysql: await startedOrSkipped(startMariadb) };
const connectionFile: string = new URL('../../node_modules/mariadb/lib/connection.js', import.meta.url).href;

beforeAll(async () => {
  await loadParser();
  await onPostgres('postgres', 'CREATE ROLE root SUPERUSER LOGIN', 'CREATE ROLE ann SUPERUSER LOGIN');
});
afterAll(async () => {
  await servers.postgres?.stop();
  await servers.mysql?.stop();
});

async function onPostgres(database: string, ...texts: string[]): Promise<void> {
  if (servers.postgres === undefined) return;
  const client = new pg.Client({ host: '127.0.0.1', port: servers.postgres.port, user: 'postgres', database });
  await client.connect();
  for (const text of texts) await client.query(text);
  await client.end();
}

async function newDatabase(dialect: Driver['dialect']): Promise<void> {
  if (dialect === 'postgres') {
    const names = ['test', 'shop'];
    return onPostgres(
      'postgres',
      ...names.flatMap((name) => [`DROP DATABASE IF EXISTS ${name}`, `CREATE DATABASE ${name}`]),
    );
  }
  const client = mysql2.createConnection({ host: '127.0.0.1', port: servers.mysql?.port ?? 0, user: 'root' }).promise();
  for (const text of ['DROP DATABASE IF EXISTS test', 'CREATE DATABASE test']) await client.query(text);
  await client.end();
}

/**
 * Transactions of another level than the server's, and a step that asks the mock database itself; TypeORM would change its tables on these
 * servers again and again.
 */
const left = (driver: Driver, step: string): boolean =>
  step === 'isolation' || step === 'lock wait' || (driver.name === 'TypeORM' && step === 'tables kept');

/**
 * After a definition the tables are asked for, by postgres.js on another connection than the application's, and after the next one again: what
 * is sent meanwhile is not completed.
 */
async function settled(shop: Shop): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await shop.titles('nobody', 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

interface Recorded {
  readonly trace: string;
  /** SELECT, INSERT, UPDATE, DELETE of which more may have happened than the trace names; texts of those that write. */
  readonly opaque: number;
  readonly opaqueWrites: readonly string[];
}

async function recorded(driver: Driver, completesReads: boolean): Promise<Recorded> {
  let trace = `${formatTraceHeader({ ...emptyHeader, hasMarks: true })}\n`;
  let opaque = 0;
  const opaqueWrites: string[] = [];
  let now: string | null = null;
  const write = (line: string): void => {
    trace += line;
    if (!line.includes('"opaque":') || !/^\s*(?:select|insert|update|delete)\b/i.test(now ?? '')) return;
    opaque += 1;
    if (line.includes('"opaque":"writes"')) opaqueWrites.push(now ?? '');
  };
  const warn = (message: string): void => expect.fail(message);
  const recording = new Recording({ write, now: monotonicNanoseconds, warn, completesReads });
  const prototype = SessionRecorder.prototype as { record: (this: SessionRecorder, event: StatementEvent) => void };
  const { record } = prototype;
  prototype.record = function tell(event) {
    now = event.sql;
    record.call(this, event);
    now = null;
  };
  const { default: connectionClass } = (await import(connectionFile)) as { default: { prototype: object } };
  const unhook = [
    hookPg(pg as never, recording),
    hookMysql2(mysql2, recording),
    hookMariadb(connectionClass, recording),
    hookPostgresJs(postgres as never, recording),
    () => (prototype.record = record),
  ];
  try {
    const served = { host: '127.0.0.1', port: servers[driver.dialect]?.port ?? 0 } as Served;
    const shop = await driver.open(served);
    for (const { name, run } of stepsOf(driver)) {
      if (!left(driver, name)) await run(shop, served, driver);
      if (name.startsWith('tables')) await settled(shop);
    }
    await shop.close();
  } finally {
    for (const undo of unhook) undo();
  }
  recording.end();
  return { trace, opaque, opaqueWrites };
}

const clients = drivers.filter(({ how }) => !how.includes('streams'));

const cases = [
  ...clients.map((driver) => ({ ...driver, driver, completes: false })),
  ...clients.map((driver) => ({ ...driver, driver, completes: true })),
];
/** Of those that go without. */
const before = new Map<Driver, Seen>();

interface Seen {
  /** How many reads name. */
  readonly rows: number;
  readonly opaque: number;
  readonly opaqueWrites: readonly string[];
}

/**
 * What a trace of completed reads does not tell better than one without, though it should. Most of the shop's statements go by title: without the
 * keys, which nobody asked for, they say nothing of rows.
 */
function worse(
  { name, dialect }: Driver,
  after: Seen,
  { rows, opaque }: Seen = { rows: 0, opaque: 0, opaqueWrites: [] },
): string[] {
  if (dialect === 'postgres') {
    const writes = after.opaqueWrites.filter((text) => !text.includes('knex_'));
    return after.opaque < opaque ? writes : [`${after.opaque} opaque`, ...writes];
  }
  // These have functions of their own for values, and ask for the keys anyway.
  const isLeft = name.startsWith('Drizzle') || name === 'Sequelize';
  return after.rows > rows || isLeft ? [] : [`${after.rows} rows`];
}

describe.each(cases)('$name, $dialect, $how; completed: $completes', ({ driver, completes }) => {
  test.skipIf(servers[driver.dialect] === undefined)('is recorded', async () => {
    await newDatabase(driver.dialect);
    const { trace, ...rest } = await recorded(driver, completes);
    const seen = { ...rest, rows: linesOf(trace).flatMap(({ reads = [] }) => reads).length };
    const violations: string[] = [];
    const level = driver.dialect === 'postgres' ? 'read committed' : 'repeatable read';
    const verification = new TraceVerification({
      mechanisms: mechanismsOf(driver.dialect, level),
      onViolation: ({ reason }) => violations.push(reason),
    });
    verification.push(new TextEncoder().encode(trace));
    const { counts, cut } = verification.finish();
    expect([violations, cut]).toEqual([[], null]);
    expect(counts.operations).toBe(linesOf(trace).length);
    if (completes) expect(worse(driver, seen, before.get(driver))).toEqual([]);
    else before.set(driver, seen);
  });
});
