import { describe, expect, test } from 'vitest';
import { seeded } from '../base/index.ts';
import { drawing } from '../mockdb/index.ts';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../program/index.ts';
import { parseProfile, type ProfileOptions } from '../database/index.ts';
import { constrainingLevels } from '../isolation/index.ts';
import { type Dialect, everyEngineLevel, onMysql, onPostgres } from './engines.test-support.ts';
import { runSqlProgram, type SqlRun } from './sql-run.ts';
import { operationsOfStatements } from './statement-operations.ts';

/** Each statement names the rows that it touches, and both sessions touch the same ones. */
const statements = [
  'BEGIN',
  'SELECT n FROM t WHERE id = 1',
  'UPDATE t SET n = n + 1 WHERE id = 2',
  'SELECT n FROM t WHERE id IN (1, 3)',
  'INSERT INTO t (id, n) SELECT 4, 0 FROM t WHERE id = 3 AND NOT EXISTS (SELECT * FROM t WHERE id = 4)',
  'COMMIT',
  'SELECT n FROM t WHERE id = 2',
  'DELETE FROM t WHERE id = 3',
];

function idsIn(sql: string): string[] {
  return [...sql.matchAll(/(?:id = |IN \(|, |SELECT )(\d)/g)].map(([, id]) => `t/${id}`);
}

function program(dialect: Dialect): SqlProgram {
  const sendAll = async (query: (sql: string) => Promise<unknown>): Promise<void> => {
    for (const sql of statements) await query(sql).catch(() => query('ROLLBACK'));
  };
  const run = {
    postgres: (c: SqlConnection) => onPostgres(c, (client) => sendAll((sql) => client.query(sql))),
    mysql: (c: SqlConnection) => onMysql(c, (client) => sendAll((sql) => client.query(sql))),
  }[dialect];
  return sqlProgram({
    dialect,
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)',
    sessions: { a: run, b: run },
    invariant: () => true,
  });
}

async function runOf(asked: ProfileOptions, seed: number): Promise<Extract<SqlRun, { kind: 'finished' }>> {
  const decisions = drawing({ chooser: seeded(seed) });
  const profile = parseProfile(asked);
  const run = await runSqlProgram(program(profile.dialect), {
    profile,
    seed,
    decisions,
    abortRate: 0,
    timeoutMs: 10_000,
    isLogged: true,
  });
  if (run.kind !== 'finished') throw new Error('it did not end');
  return run;
}

const engineLevels = everyEngineLevel.map(
  ([engine, isolation]) => [`${engine}, ${isolation}`, { engine, isolation }] as const,
);
const axiomaticLevels = constrainingLevels.map((level) => [`any behaviour of ${level}`, { level }] as const);

describe('an operation belongs to the statement that names its row', () => {
  test.each<readonly [string, ProfileOptions]>([...engineLevels, ...axiomaticLevels])('%s', async (_, asked) => {
    let placed = 0;
    let overlapping = 0;
    for (let seed = 0; seed < 10; seed += 1) {
      const run = await runOf(asked, seed);
      const history = run.history();
      const places = operationsOfStatements(run.statements, history, run.operationTimes());
      run.statements.forEach(({ sql, connectionName }, s) => {
        for (const { transaction, operation } of places[s] ?? []) {
          const { session, operations } = history.transactions[transaction] ?? { session: -1, operations: [] };
          expect(history.sessions[session]).toBe(connectionName);
          expect(idsIn(sql)).toContain(operations[operation]?.key.replace(/ where .*/, ''));
        }
      });
      const all = history.transactions.flatMap(({ operations }) => operations);
      expect(places.flat()).toHaveLength(all.length);
      placed += all.length;
      overlapping += run.statements.some(({ waitedFor }) => waitedFor !== null) ? 1 : 0;
    }
    expect(placed).toBeGreaterThan(60);
    expect(overlapping).toBeGreaterThan(0);
  });
});
