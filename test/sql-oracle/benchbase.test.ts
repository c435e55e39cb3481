/** BenchBase's tables and statements run as they are, in both dialects, and answer as the real servers do where these are there. */
import { describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/sql/model/index.ts';
import { startMariadb } from '../support/mariadb-server.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import type { Statement } from './answer.ts';
import { benchmarks } from './benchbase.ts';
import { differenceText, firstDifference, mockClient, realClient } from './compare.ts';

const dialects = ['postgres', 'mysql'] as const;
const starts = { postgres: startPostgres, mysql: startMariadb } as const;

function statementsOf(name: string, dialect: Dialect): Statement[] {
  const benchmark = benchmarks.find((each) => each.name === name);
  const tables = (benchmark?.tables(dialect) ?? []).map((sql) => ({ sql }));
  const steps = (benchmark?.steps(dialect) ?? []).map(([sql, ...values]) => ({
    sql: placed(sql, dialect),
    values: values.length === 0 ? undefined : values,
  }));
  return [...tables, ...steps];
}

/** PostgreSQL numbers its parameters. */
function placed(sql: string, dialect: Dialect): string {
  let number = 0;
  return dialect === 'mysql' ? sql : sql.replaceAll('?', () => `$${++number}`);
}

test('nine benchmarks', () => {
  expect(benchmarks.map(({ name }) => name)).toEqual(
    'tpcc smallbank voter wikipedia tatp seats twitter epinions ycsb'.split(' '),
  );
});

describe.each(dialects)('%s', (dialect) => {
  test.each(benchmarks.map(({ name }) => name))('%s runs', async (name) => {
    const client = await mockClient(dialect);
    const failed: string[] = [];
    for (const statement of statementsOf(name, dialect)) {
      const answer = await client.ask(statement);
      if (answer.kind === 'error') failed.push(`${statement.sql}: ${answer.code}`);
    }
    await client.end();
    // A seat that is taken is the one error that is meant.
    expect(failed).toEqual(
      name === 'seats' ? [expect.stringMatching(dialect === 'mysql' ? /: 1062$/ : /: 23505$/)] : [],
    );
  });

  test('and answers as the server does', { timeout: 60_000 }, async ({ skip }) => {
    const server = await startedOrSkipped(starts[dialect]);
    if (server === undefined) return skip('no server');
    const real = await realClient(dialect, server.port);
    try {
      for (const { name } of benchmarks) {
        const statements = statementsOf(name, dialect).map((each) => ({ ...each, form: name, isWrite: false }));
        const difference = await firstDifference(dialect, real, { setUp: [], statements });
        expect(difference === undefined ? '' : differenceText(difference)).toBe('');
      }
    } finally {
      await real.end();
      await server.stop();
    }
  });
});
