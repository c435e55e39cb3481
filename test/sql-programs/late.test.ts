/** What did not end in time has a name: a session, the invariant, a check. */
import { describe, expect, test } from 'vitest';
import {
  type SqlProgram,
  sqlProgram,
  type SqlProgramDefinition,
  type SqlSessionFunction,
} from '../../src/program/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import { onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { exploreSql } from '../../src/explore/sql/explore-sql.ts';
import { conclusionOf } from '../../src/sql-program/run-evidence.ts';
import { runSqlCampaign } from '../../src/campaign/sql/sql-campaign.ts';

const profile = parseProfile({ engine: 'postgres' });
const never = (): Promise<never> => new Promise(() => {});

function programWith(definition: Partial<SqlProgramDefinition<Record<string, SqlSessionFunction>>>): SqlProgram {
  return sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: { a: (c) => onPostgres(c, (client) => client.query('UPDATE t SET n = n + 1')) },
    invariant: () => true,
    ...definition,
  });
}

/** Made anew for each tool. */
const programs: readonly (readonly [string, () => SqlProgram])[] = [
  ['the invariant', () => programWith({ invariant: never })],
  [
    'session "b"',
    () =>
      programWith({
        sessions: {
          a: (c) => onPostgres(c, (client) => client.query('UPDATE t SET n = n + 1')),
          // `a` waits for its lock, or has ended.
          b: (c) =>
            onPostgres(c, async (client) => {
              await client.query('BEGIN');
              await client.query('UPDATE t SET n = n + 1');
              await never();
            }),
        },
      }),
  ],
  [
    'the determinism check',
    () => {
      let runs = 0;
      return programWith({
        sessions: {
          a: (c) =>
            onPostgres(c, async (client) => {
              await client.query('UPDATE t SET n = n + 1');
              runs += 1;
              if (runs > 1) await never();
            }),
        },
      });
    },
  ],
];

describe.each(programs)('%s', (what, made) => {
  const limits = { profile, timeoutMs: 1_000, waitMs: 20 };

  test('in test', async () => {
    const result = await runSqlCampaign(made(), limits);
    expect(result.timeout).toBe(what);
    expect(conclusionOf(result)).toMatchObject({ kind: 'unknown' });
    expect(result.evidence.cut[0]?.split(': ')[0]).toBe(`${what} did not end in time`);
  });

  test('in explore', async () => {
    const result = await exploreSql(made(), limits);
    expect(result.stopped).toMatchObject({ late: what });
    expect(conclusionOf(result)).toMatchObject({ kind: 'unknown' });
  });
});

const add = 'UPDATE t SET n = n + 1';

/** The session's second connection waits for the first. */
const waitsForItself: SqlSessionFunction = (c) =>
  onPostgres(c, async (client) => {
    await client.query('BEGIN');
    await client.query(add);
    await onPostgres(c, (second) => second.query(add));
    await client.query('COMMIT');
  });

const waiting = (holder: string, waiter: string): string =>
  `session "a" did not end in time: session "${waiter}" waits for row lock on t 1, which ${holder}, whose transaction is open, holds: ${add}`;

test('a statement that waits for another connection of its session is named, with the lock', async () => {
  const limits = { profile, timeoutMs: 500, waitMs: 20 };
  const made = (): SqlProgram => programWith({ sessions: { a: waitsForItself, b: waitsForItself } });
  const [tested, explored] = [await runSqlCampaign(made(), limits), await exploreSql(made(), limits)];
  const own = 'another connection of its own';
  expect(tested.evidence.cut).toContain(waiting(own, 'b'));
  expect(explored.evidence.cut).toContain(waiting(own, 'a'));
});

test('a statement that waits for a session that awaits something else is named, with the lock', async () => {
  const sessions: Record<string, SqlSessionFunction> = {
    a: (c) =>
      onPostgres(c, async (client) => {
        await client.query('BEGIN');
        await client.query(add);
        await never();
      }),
    b: (c) => onPostgres(c, (client) => client.query(add)),
  };
  const { evidence } = await exploreSql(programWith({ sessions }), { profile, timeoutMs: 500, waitMs: 20 });
  expect(evidence.cut).toContain(waiting('session "a"', 'b'));
});
