/** Every schedule of an engine profile: what is seen, and when it stops. That leaving out swapped steps loses nothing is in `reduction.test.ts`. */
import type { RowDataPacket } from 'mysql2';
import { describe, expect, test } from 'vitest';
import transfer from '../../examples/sql-transfer.ts';
import { seeded } from '../../src/base/index.ts';
import { encodePath } from '../../src/program/decision-path.ts';
import { sealToken, type SqlConnection, type SqlEnd, sqlProgram } from '../../src/program/index.ts';
import { onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { exploreSql, type ExploreSqlResult, formatSqlExploration } from '../../src/explore/sql/index.ts';
import { parseProfile, type Profile } from '../../src/database/index.ts';
import { runSqlCampaign } from '../../src/campaign/sql/index.ts';
import { shapeOfSql } from '../../src/sql-program/run-steps.ts';

describe('two withdrawals that look before they take', () => {
  test('lose money at read committed whenever both look first; each failure is found again by moirai test', async () => {
    const profile = parseProfile({ engine: 'postgres' });
    const all = await exploreSql(transfer, { profile, reduces: false });
    // Both read, both update, one waits: of 24 schedules two are serial, and one is enough for each loser.
    expect(all).toMatchObject({
      schedules: 24,
      histories: 4,
      outcomes: 4,
      violations: 22,
      complete: true,
      stopped: null,
    });
    const reduced = await exploreSql(transfer, { profile });
    expect(reduced).toMatchObject({ schedules: 6, repetitions: 0, histories: 4, outcomes: 4 });
    expect(messages(reduced)).toEqual(messages(all));
    for (const { message, replay, statements } of reduced.failures) {
      const again = await runSqlCampaign(transfer, { profile, replay });
      expect(again.failure?.message).toBe(message);
      expect(again.failure?.statements).toEqual(statements);
      expect((await exploreSql(transfer, { profile, replay })).failures[0]?.message).toBe(message);
    }
  });

  test('run each schedule once where the program is trusted', async () => {
    const profile = parseProfile({ engine: 'postgres' });
    let runs = 0;
    const counted = { ...transfer, invariant: (end: SqlEnd) => ((runs += 1), transfer.invariant(end)) };
    const checked = await exploreSql(counted, { profile });
    const [runsOfChecked] = [runs, (runs = 0)];
    const known = await exploreSql(counted, { profile, isFunctionOfReads: true });
    expect({ runs, runsOfChecked }).toEqual({ runs: 6, runsOfChecked: 10 });
    expect(known).toEqual(checked);
  });

  test('budgets end in unknown', async () => {
    const profile = parseProfile({ engine: 'postgres' });
    expect(await exploreSql(transfer, { profile, schedulesMax: 3 })).toMatchObject({
      schedules: 3,
      stopped: 'schedules',
    });
    expect(await exploreSql(transfer, { profile, historiesMax: 1 })).toMatchObject({
      histories: 1,
      stopped: 'histories',
    });
    expect(await exploreSql(transfer, { profile, timeMaxMs: 0 })).toMatchObject({ stopped: 'time', complete: false });
  });
});

test('a lost update at repeatable read: InnoDB loses it, MariaDB 11.6 refuses it, and each verdict names its engine', async () => {
  const adding = (c: SqlConnection) =>
    onMysql(c, async (client) => {
      await client.query('BEGIN');
      const [[row]] = await client.query<RowDataPacket[]>('SELECT n FROM t');
      await client.query('UPDATE t SET n = ?', [Number(row?.['n']) + 1]);
      await client.query('COMMIT');
    });
  const tested = sqlProgram({
    dialect: 'mysql',
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)',
    sessions: { a: adding, b: adding },
    invariant: (end) =>
      onMysql(end, async (client) => {
        const [[row]] = await client.query<RowDataPacket[]>('SELECT n FROM t');
        return row?.['n'] === 2;
      }),
  });
  const [innodb, mariadb] = ['mysql', 'mariadb-11.6'].map((engine) => parseProfile({ engine })) as [Profile, Profile];
  const lost = await exploreSql(tested, { profile: innodb });
  expect(lost).toMatchObject({ complete: true, notRetried: 0 });
  expect(lost.violations).toBeGreaterThan(0);
  expect(formatSqlExploration(lost)).toContain('on InnoDB, repeatable read');
  const refused = await exploreSql(tested, { profile: mariadb });
  expect(refused).toMatchObject({ complete: true, invariantBroken: 0 });
  expect(refused.failures.map(({ message }) => message)).toContainEqual(expect.stringContaining('Record has changed'));
  expect(formatSqlExploration(refused)).toContain('on MariaDB 11.6, repeatable read');
  const [{ replay }] = lost.failures as [(typeof lost.failures)[number]];
  expect((await runSqlCampaign(tested, { profile: innodb, replay })).replayed?.kind).toBe('same-steps');
  // A token is of one engine.
  expect((await runSqlCampaign(tested, { profile: mariadb, replay })).replayed?.kind).toBe('other-program');
});

test('a session that connects late comes before the others in some schedules', async () => {
  const profile = parseProfile({ engine: 'postgres' });
  const finals = new Set<unknown>();
  const tested = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)',
    sessions: {
      early: (c: SqlConnection) => runAll(c, ['UPDATE t SET n = n * 2']),
      late: async (c: SqlConnection) => {
        await runAll(c, []);
        await runAll(c, ['UPDATE t SET n = n + 1']);
      },
    },
    invariant: (end) =>
      onPostgres(end, async (client) => finals.add((await client.query('SELECT n FROM t')).rows[0].n).size > 0),
  });
  expect((await exploreSql(tested, { profile })).complete).toBe(true);
  expect(finals).toEqual(new Set([1, 2]));
});

test('what passes between two connections of one session is not seen: their order counts, whatever they touch', async () => {
  const orders = new Set<unknown>();
  const tested = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0), (2, 0)',
    sessions: {
      both: async (c: SqlConnection) => {
        const order: number[] = [];
        const read = (id: number) =>
          onPostgres(c, async (client) => {
            await client.query(`SELECT n FROM t WHERE id = ${id}`);
            order.push(id);
          });
        await Promise.all([read(1), read(2)]);
        return order.join();
      },
    },
    invariant: ({ results }) => orders.add(results.both).size > 0,
  });
  expect((await exploreSql(tested, { profile: parseProfile({}) })).complete).toBe(true);
  expect(orders).toEqual(new Set(['1,2', '2,1']));
});

test('a program that changes from run to run is refused', async () => {
  let runs = 0;
  const tested = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int)',
    sessions: {
      a: (c) => runAll(c, (runs += 1) > 1 ? ['INSERT INTO t VALUES (1)'] : []),
      b: (c) => runAll(c, ['INSERT INTO t VALUES (2)', 'INSERT INTO t VALUES (3)']),
      c: (c) => runAll(c, ['INSERT INTO t VALUES (4)']),
    },
  });
  await expect(exploreSql(tested, { profile: parseProfile({}) })).rejects.toMatchObject({
    code: 'program/nondeterministic',
  });
});

test('a session that waits, without a word, is told from one that was answered at once', async () => {
  const tested = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 10)',
    sessions: {
      a: (c) => runAll(c, ['BEGIN', 'UPDATE t SET n = n + 1', 'SELECT n FROM t', 'COMMIT']),
      b: (c) => runAll(c, ['BEGIN', 'SELECT n FROM t FOR UPDATE', 'SELECT n FROM t', 'COMMIT']),
    },
  });
  const profile = parseProfile({});
  // b waits for a, or comes after it (it then reads the row once), or a waits for b.
  expect(await exploreSql(tested, { profile, reduces: false })).toMatchObject({ schedules: 6, histories: 3 });
  expect(await exploreSql(tested, { profile })).toMatchObject({ schedules: 4, histories: 3 });
});

function messages({ failures }: ExploreSqlResult): string[] {
  return failures.map(({ message }) => message).toSorted();
}

/** Runs the statements; one that fails ends the transaction it is in. */
function runAll(connection: SqlConnection, statements: readonly string[]): Promise<unknown> {
  return onPostgres(connection, async (client) => {
    const results: unknown[] = [];
    for (const sql of statements) results.push(await client.query(sql).then(({ rows }) => rows, failed));
    await client.query('ROLLBACK');
    return results;
  });
}

function failed(error: { readonly code?: string }): string {
  return error.code ?? 'error';
}

test('what a schedule drawn at random shows is among what exploring shows', { timeout: 120_000 }, async () => {
  const tested = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 10); INSERT INTO t VALUES (2, 20)',
    sessions: {
      a: (c) => runAll(c, ['BEGIN', 'SELECT n FROM t WHERE id = 2', 'UPDATE t SET n = n + 1 WHERE id = 1', 'COMMIT']),
      b: (c) => runAll(c, ['BEGIN', 'SELECT n FROM t WHERE id = 1', 'UPDATE t SET n = n + 1 WHERE id = 2', 'COMMIT']),
      c: (c) => runAll(c, ['SELECT sum(n) FROM t', 'DELETE FROM t WHERE id = 2']),
    },
  });
  for (const isolation of ['read committed', 'repeatable read']) {
    const profile = parseProfile({ engine: 'postgres', isolation });
    const all = new Set<string>();
    await exploreSql(tested, { profile, onSeen: ({ outcomes }) => outcomes.forEach((outcome) => all.add(outcome)) });
    const chooser = seeded(7);
    const shown = new Set<string>();
    for (let run = 0; run < 60; run += 1) {
      const path = Array.from({ length: 12 }, () => chooser.choose(3));
      const replay = sealToken(encodePath(path), { shape: shapeOfSql(tested, profile), steps: [] });
      await exploreSql(tested, {
        profile,
        replay,
        onSeen: ({ outcomes }) => outcomes.forEach((outcome) => shown.add(outcome)),
      });
    }
    expect(shown.size).toBeGreaterThan(10);
    expect([...all]).toEqual(expect.arrayContaining([...shown]));
  }
});
