/** Spurious failures are for the sessions of the program: its schema and its invariant have no retry to test. */
import { expect, test } from 'vitest';
import { sqlProgram } from '../../program/index.ts';
import { parseProfile } from '../../database/index.ts';
import { type Dialect, onMysql, onPostgres } from '../../sql-program/engines.test-support.ts';
import { runSqlCampaign } from './sql-campaign.ts';

const update = 'UPDATE t SET n = n + 1';
const select = 'SELECT n FROM t';

test.each<Dialect>(['postgres', 'mysql'])('every statement of %s sessions fails, and no other', async (dialect) => {
  const codes = new Set<unknown>();
  const program = sqlProgram({
    dialect,
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: {
      a: async (c) => {
        const refused = (error: { readonly code?: unknown }): null => {
          codes.add(error.code);
          return null;
        };
        if (dialect === 'postgres') await onPostgres(c, (client) => client.query(update).catch(refused));
        else await onMysql(c, (client) => client.query(update).catch(refused));
      },
    },
    invariant: async (end) => {
      const rows: unknown =
        dialect === 'postgres'
          ? (await onPostgres(end, (client) => client.query(select))).rows
          : (await onMysql(end, (client) => client.query(select)))[0];
      return JSON.stringify(rows) === '[{"n":0}]' || JSON.stringify(rows);
    },
  });
  const profile = parseProfile({ engine: dialect, isolation: 'repeatable read' });
  const result = await runSqlCampaign(program, { profile, runs: 5, abortRate: 1 });
  expect(result).toMatchObject({ runs: 5, violations: 0 });
  expect([...codes]).toEqual([dialect === 'postgres' ? '40001' : 'ER_LOCK_DEADLOCK']);
});
