/** `moirai explore` for SQL programs, in this process: verdicts, exit codes, --json, replay. */
import pg from 'pg';
import { expect, test } from 'vitest';
import transfer from '../../examples/sql-transfer.ts';
import { type SqlConnection, sqlProgram } from '../../src/index.ts';
import { runHere } from '../support/cli.ts';

const add = async ({ connect }: SqlConnection): Promise<void> => {
  const client = new pg.Client({ user: 'app', stream: connect });
  await client.connect();
  await client.query('UPDATE counters SET n = n + 1');
  await client.end();
};

const files = {
  'transfer.ts': transfer,
  'atomic.ts': sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE counters (n int); INSERT INTO counters VALUES (0)',
    sessions: { a: add, b: add },
    invariant: async ({ connect, sometimes }) => {
      const client = new pg.Client({ user: 'app', stream: connect });
      await client.connect();
      const { rows } = await client.query('SELECT n FROM counters');
      await client.end();
      sometimes('counted', true);
      return rows[0].n === 2;
    },
  }),
  'stuck.ts': sqlProgram({ dialect: 'postgres', schema: [], sessions: { a: () => new Promise(() => {}) } }),
};

test('every schedule satisfies the invariant: 0', async () => {
  expect(await runHere(['explore', 'atomic.ts', '--engine', 'postgres'], files)).toEqual({
    code: 0,
    out: `all 4 schedules satisfy the invariant on PostgreSQL, read committed: whatever
  the timing of statements, this program holds
distinct histories 2, distinct outcomes 1
sometimes "counted"  in 4 schedules
`,
    err: '',
  });
});

test('each kind of failure with a run, and a command that shows it again', async () => {
  const { code, out } = await runHere(['explore', 'transfer.ts', '--isolation', 'read committed'], files);
  expect(code).toBe(1);
  expect(out).toMatch(/^6 of 8 schedules violate the invariant on PostgreSQL, read committed\ndistinct histories 4, /);
  expect(out).toContain('\n1. 120 was taken and 50 is left of 100 (3 schedules)\n');
  const token = /replay: moirai explore transfer\.ts --isolation 'read committed' --replay (?<token>\S+)/.exec(out);
  const args = ['--isolation', 'read committed', '--replay', token?.groups?.['token'] ?? ''];
  const again = await runHere(['explore', 'transfer.ts', ...args], files);
  expect(again.code).toBe(1);
  expect(again.out).toMatch(/^1 of 1 schedule violates the invariant[^]*120 was taken and 50 is left of 100/);
  // A token is the same run for `moirai test`.
  const tested = await runHere(['test', 'transfer.ts', ...args], files);
  expect(tested.out).toContain('120 was taken and 50 is left of 100');
});

test('as JSON', async () => {
  const { code, out } = await runHere(['explore', 'transfer.ts', '--json'], files);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    engine: 'postgres',
    level: 'read committed',
    verdict: 'violated',
    schedules: 8,
    histories: 4,
    complete: true,
    failures: [{ schedules: 3, anomaly: 'non-repeatable-read' }, { schedules: 3 }],
  });
});

test('what is not known: 2', async () => {
  const stopped = await runHere(['explore', 'atomic.ts', '--max-histories', '1'], files);
  expect(stopped.code).toBe(2);
  expect(stopped.out).toContain('stopped by --max-histories');
  const stuck = await runHere(['explore', 'stuck.ts', '--timeout', '0.1'], files);
  expect(stuck.code).toBe(2);
  expect(stuck.out).toContain('session "a" did not end in time');
});

test.each([
  [['--level', 'all'], 'option/level'],
  [['--engine', 'mysql'], 'program/dialect'],
  [['--engine', 'postgres', '--level', 'causal'], 'option/engine'],
  [['--jobs', '2'], 'option/jobs'],
  [['--dot'], 'option/drawing'],
])('%j is refused', async (options, code) => {
  const { code: exit, err } = await runHere(['explore', 'atomic.ts', ...options], files);
  expect(exit).toBe(3);
  expect(err).toContain(`[${code}]`);
});
