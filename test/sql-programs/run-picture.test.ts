/** The picture of a failing run of a SQL program: the lost update of two withdrawals, as one replayed schedule. */
import { describe, expect, test } from 'vitest';
import { exploreSql } from '../../src/explore/sql/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import type { RunPicture } from '../../src/report/index.ts';
import { type SqlConnection, sqlProgram } from '../../src/program/index.ts';
import { onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { sqlRunPicture } from '../../src/sql-program/run-picture.ts';

const add = (c: SqlConnection): Promise<void> =>
  onPostgres(c, async (client) => {
    await client.query('BEGIN');
    const { rows } = await client.query('SELECT n FROM t WHERE id = 1');
    await client.query('UPDATE t SET n = $1 WHERE id = 1', [rows[0].n + 1]);
    await client.query('COMMIT');
  });

const counter = sqlProgram({
  dialect: 'postgres',
  schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)',
  sessions: { a: add, b: add },
  invariant: (c) => onPostgres(c, async (client) => (await client.query('SELECT n FROM t')).rows[0].n === 2 || 'lost'),
});

async function pictures(asked: Parameters<typeof parseProfile>[0]): Promise<RunPicture[]> {
  const profile = parseProfile(asked);
  const { failures } = await exploreSql(counter, { profile });
  return failures.map((failure) => sqlRunPicture(failure, { profile, count: null, replay: null }));
}

describe('a lost update at READ COMMITTED', () => {
  test('sessions, boxes, and who read whose row', async () => {
    const [picture] = await pictures({ engine: 'postgres', isolation: 'read committed' });
    expect(picture?.sessions).toEqual(['a', 'b', 'invariant']);
    expect(picture?.transactions.map(({ name, status }) => [name, status])).toEqual([
      ['a/0', 'committed'],
      ['b/0', 'committed'],
      ['invariant/0', 'committed'],
    ]);
    const steps = picture?.steps ?? [];
    const selects = steps.filter(({ text }) => text.startsWith('SELECT n FROM t WHERE'));
    expect(selects.map(({ outcome }) => outcome)).toEqual(['(0)', '(0)']);
    for (const { reads } of selects)
      expect(reads).toEqual([
        expect.objectContaining({ key: 't/1', value: { id: 1, n: 0 }, from: null, writer: null }),
      ]);
    const updates = steps.flatMap(({ writes }, i) => (writes.length > 0 ? [i] : []));
    expect(updates).toHaveLength(2);
    const asked = steps.at(-1)?.reads;
    expect(asked).toEqual([
      expect.objectContaining({ key: 't/1', value: { id: 1, n: 1 }, writer: updates[1], sight: 'current' }),
    ]);
  });

  test('the cycle leads from the read to the write, and from one write to the other', async () => {
    const [picture] = await pictures({ engine: 'postgres', isolation: 'read committed' });
    const { cycle = [], steps = [], cause } = picture ?? {};
    expect(cause?.[0]).toMatch(/^Cause: lost update: (a|b) read t\/1, /);
    expect(cycle.map(({ relation }) => relation)).toEqual(['rw', 'ww']);
    const texts = cycle.map((edge) => edge.steps.map((step) => steps[step]?.text.split(' ')[0]));
    expect(texts).toEqual([
      ['SELECT', 'UPDATE'],
      ['UPDATE', 'UPDATE'],
    ]);
    const [rw, ww] = cycle;
    expect(rw?.steps[1]).toBe(ww?.steps[0]);
  });
});

test('at REPEATABLE READ the transaction of a failed statement is aborted', async () => {
  const found = await pictures({ engine: 'postgres', isolation: 'repeatable read' });
  const aborted = found.flatMap(({ transactions }) => transactions.filter(({ status }) => status === 'aborted'));
  expect(aborted.length).toBeGreaterThan(0);
  for (const { steps, transactions } of found) {
    const failing = steps.find(({ isError }) => isError);
    expect(failing?.outcome).toMatch(/^40001 /);
    expect(transactions[failing?.transaction ?? -1]?.status).toBe('aborted');
  }
});

test('at a level of the axioms statements have their reads and writes, and the edges their steps', async () => {
  const found = await pictures({ level: 'causal', dialect: 'postgres' });
  expect(found.length).toBeGreaterThan(0);
  for (const { steps, initial, cycle, transactions } of found) {
    expect(initial).toEqual([['t/1', { id: 1, n: 0 }]]);
    expect(transactions.slice(0, 2).map(({ status }) => status)).toEqual(['committed', 'committed']);
    const [one, two] = steps.filter(({ text }) => text.startsWith('SELECT n FROM t WHERE'));
    for (const step of [one, two])
      expect(step?.reads).toEqual([expect.objectContaining({ key: 't/1', value: { id: 1, n: 0 }, from: null })]);
    const written = steps.filter(({ writes }) => writes.length > 0);
    expect(written.map(({ text, writes }) => [text.split(' ')[0], writes])).toEqual(
      Array.from({ length: 2 }, () => ['UPDATE', [{ key: 't/1', value: { id: 1, n: 1 } }]]),
    );
    const texts = cycle.map((edge) => edge.steps.map((step) => steps[step]?.text.split(' ')[0]));
    expect(texts).toEqual([
      ['SELECT', 'UPDATE'],
      ['SELECT', 'UPDATE'],
    ]);
  }
});

test('a row that a scan of the axioms missed is read where it looked, not where its writer commits', async () => {
  const insertIfEmpty = (c: SqlConnection): Promise<void> =>
    onPostgres(c, async (client) => {
      await client.query('BEGIN');
      const { rows } = await client.query('SELECT id FROM t WHERE n = 7');
      if (rows.length === 0) await client.query('INSERT INTO t VALUES ($1, 7)', [c.name === 'a' ? 1 : 2]);
      await client.query('COMMIT');
    });
  const inserts = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int)',
    sessions: { a: insertIfEmpty, b: insertIfEmpty },
    invariant: (c) =>
      onPostgres(c, async (client) => (await client.query('SELECT id FROM t')).rows.length === 1 || 'both'),
  });
  const profile = parseProfile({ level: 'snapshot-isolation', dialect: 'postgres' });
  const { failures } = await exploreSql(inserts, { profile });
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures) {
    const { steps } = sqlRunPicture(failure, { profile, count: null, replay: null });
    const missing = steps.flatMap(({ text, reads }) =>
      reads.filter(({ value }) => value === null).map(({ key }) => `${text.split(' ')[0]} misses ${key}`),
    );
    expect(missing).toHaveLength(2);
    expect(new Set(missing)).toEqual(new Set(['SELECT misses t/1', 'SELECT misses t/2']));
  }
});
