/** `moirai test` of SQL programs: which database it chooses, what it prints, how it ends. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import transfer from '../../examples/sql-transfer.ts';
import { program, type SqlConnection, sqlProgram } from '../../src/program/index.ts';
import { onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';
import apart from '../support/apart-by-index.ts';
import { runHere } from '../support/cli.ts';
import { KeptInMemory } from '../support/kept-in-memory.ts';

const keyValue = program({ sessions: { a: (session) => session.read('x') } });
const quiet = sqlProgram({
  dialect: 'mysql',
  schema: 'create table t (id int primary key)',
  sessions: {
    a: (c) => {
      c.sometimes('never', false);
      return onMysql(c, (client) => client.query('insert into t values (1)'));
    },
  },
  invariant: () => true,
});
const stuck = sqlProgram({
  dialect: 'postgres',
  schema: [],
  sessions: { free: () => 1, stuck: () => new Promise(() => {}) },
});
const add = (c: SqlConnection) => onPostgres(c, (client) => client.query('UPDATE t SET n = n + 1'));
const reading = (c: SqlConnection) =>
  onPostgres(c, async (client) => {
    await client.query('BEGIN');
    const { rows } = await client.query<{ n: number }>('SELECT n FROM t');
    await client.query('UPDATE t SET n = $1', [(rows[0]?.n ?? 0) + 1]);
    await client.query('COMMIT');
  });
const wrong = (c: SqlConnection) => onPostgres(c, (client) => client.query('SELEC 1').catch(() => null));
const ofTable = (sessions: Record<string, (c: SqlConnection) => unknown>) =>
  sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions,
    invariant: () => true,
  });
let first: Promise<unknown> = Promise.resolve();
const evidence = {
  'silent.ts': ofTable({ a: () => 1, b: () => 2 }),
  'one-silent.ts': ofTable({ a: add, b: add, idle: () => 1 }),
  'typing-error.ts': ofTable({ a: wrong, b: add }),
  'serial.ts': ofTable({
    first: (c) => {
      first = add(c);
      return first;
    },
    second: async (c) => {
      await first;
      await add(c);
    },
  }),
  'missing-table.ts': ofTable({ a: (c) => onPostgres(c, (client) => client.query('SELECT * FROM orders')), b: add }),
  'no-user.ts': ofTable({ a: (c) => new pg.Client({ user: '', stream: c.connect }).connect(), b: add }),
  'not-retried.ts': ofTable({ a: reading, b: reading }),
};
const files = {
  ...evidence,
  'transfer.ts': transfer,
  'keys.ts': keyValue,
  'quiet.ts': quiet,
  'stuck.ts': stuck,
};
const run = (...args: string[]) => runHere(['test', ...args], files);

describe('a run that fails', () => {
  test('is told with every statement, and the command that replays it', async () => {
    const { code, out } = await run('transfer.ts', '--runs', '20');
    expect(code).toBe(1);
    expect(out).toMatch(
      /^violated in \d+ of 20 runs on PostgreSQL, read committed: 120 was taken and 30 is left of 100\n/,
    );
    expect(out).toContain('waited for row lock on accounts 1');
    const replay = /replay: moirai test transfer.ts --replay (\S+)\n$/.exec(out)?.[1] ?? '';
    const again = await run('transfer.ts', '--replay', replay);
    expect(again.code).toBe(1);
    expect(again.out).toMatch(/^still fails, by the recorded steps\n/);
    expect(again.out).toContain('violated in 1 of 1 run on PostgreSQL, read committed: 120 was taken and 30 is left');
  });

  test('of a level of the axioms', async () => {
    const { code, out } = await run('transfer.ts', '--level', 'causal', '--granularity', 'cell', '--runs', '20');
    expect(code).toBe(1);
    expect(out).toContain('any behaviour of causal (axiomatic, cell granularity), postgres dialect');
    expect(out).toMatch(/replay: moirai test transfer.ts --level causal --granularity cell --replay \S+\n$/);
  });

  test('as JSON', async () => {
    const { out } = await run('transfer.ts', '--runs', '20', '--isolation', 'Repeatable-Read', '--json');
    expect(JSON.parse(out)).toMatchObject({
      level: 'repeatable read',
      engine: 'postgres',
      runs: 20,
      seed: 1,
      replay: expect.any(String),
      message: expect.stringContaining('could not serialize access'),
    });
  });
});

test('a program that passes, with what was never tested', async () => {
  const { code, out } = await run('quiet.ts', '--runs', '3');
  expect(code).toBe(0);
  expect(out).toContain('passed 3 runs on InnoDB, repeatable read: the invariant held in every run');
  expect(out).toContain('warning: sometimes "never" held in no run');
});

test('a session that does not end: not known', async () => {
  expect(await run('stuck.ts', '--timeout', '0.1')).toEqual({
    code: 2,
    out: '',
    err: 'session "stuck" did not end within 0.1 s\n',
  });
});

describe('bad options are one line', () => {
  test.each([
    [['transfer.ts', '--engine', 'mysql'], 'the program speaks postgres and the database mysql [program/dialect]'],
    [['transfer.ts', '--engine', 'postgres', '--level', 'causal'], '--engine is a real engine and --level'],
    [['transfer.ts', '--isolation', 'snapshot'], '"snapshot" is none of the levels read uncommitted'],
    [
      ['transfer.ts', '--level', 'all'],
      '--level all is for key-value programs; a SQL program is tested on one database',
    ],
    [['transfer.ts', '--isolation', 'all'], 'every level of the engine: moirai explore transfer.ts --isolation all'],
    [['transfer.ts', '--granularity', 'cell'], '--granularity goes with --level'],
    [['keys.ts', '--engine', 'postgres'], '--engine is for SQL programs'],
  ])('%j', async (args, message) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(message);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

describe.each(['test', 'explore'])('%s: nothing green without evidence', (command) => {
  const on = 'unknown on PostgreSQL, read committed: ';
  test.each([
    ['silent.ts', [], 3, 'no session sent a statement to moirai: connect with the connection'],
    ['one-silent.ts', [], 2, `${on}session "idle" sent no statement`],
    ['typing-error.ts', [], 2, `${on}session "a" failed in every run: 42601 syntax error`],
    ['serial.ts', [], 2, `${on}sessions "first", "second" never overlapped in any run`],
    [
      'missing-table.ts',
      [],
      3,
      'session "a" fails also when the sessions run one after another: error: relation "orders"',
    ],
    ['no-user.ts', [], 3, 'session "a" fails also when the sessions run one after another: error: no PostgreSQL user'],
    ['not-retried.ts', ['--isolation', 'serializable'], 1, 'error not retried in '],
  ] as const)('%s %j: %i', async (file, options, code, text) => {
    const ended = await runHere([command, file, ...options], files);
    expect({ code: ended.code, told: (ended.out || ended.err).includes(text) ? text : ended }).toEqual({
      code,
      told: text,
    });
    if (code !== 2) return;
    const { out } = await runHere([command, file, '--json'], files);
    expect(JSON.parse(out)).toMatchObject({
      verdict: 'unknown',
      gaps: expect.arrayContaining([expect.stringContaining(text.slice(on.length))]),
    });
  });

  test('an error that was not retried is counted apart from a broken invariant', async () => {
    const { out } = await runHere([command, 'not-retried.ts', '--isolation', 'repeatable read', '--json'], files);
    const { violations, invariantBroken, notRetried } = JSON.parse(out);
    expect({ invariantBroken, isAll: notRetried === violations && violations > 0 }).toEqual({
      invariantBroken: 0,
      isAll: true,
    });
  });
});

describe('--plans all', () => {
  const serializable = ['test', 'apart.ts', '--isolation', 'serializable'];
  const programs = { 'apart.ts': apart, 'keys.ts': keyValue };

  test('draws the paths of each run, and finds what the likely ones do not show; its token replays them', async () => {
    const likely = await runHere([...serializable, '--runs', '40', '--json'], programs);
    expect(likely.code).toBe(0);
    expect(JSON.parse(likely.out)).toMatchObject({ plans: 1, violations: 0, plan: [] });
    const kept = new KeptInMemory();
    const { code, out } = await runHere([...serializable, '--runs', '40', '--plans', 'all'], programs, {
      failures: kept,
    });
    expect(code).toBe(1);
    expect(out).toContain('\nwith jobs read as a whole by: SELECT n FROM jobs WHERE owner = $1\n');
    const [, command = ''] = /\nreplay: moirai (?<command>.*)\n/.exec(out) ?? [];
    const again = { code: 1, out: expect.stringMatching(/^still fails, by the recorded steps\n/) };
    expect(await runHere(command.split(' '), programs)).toMatchObject(again);
    expect(await runHere(['replay', kept.only], { ...programs, ...kept.inputs() })).toMatchObject(again);
  });

  test('names the tables of which not every path was drawn', async () => {
    const none = 'the program has no invariant: only errors of its sessions were looked for';
    const runs = async (count: string) => {
      const { out } = await runHere([...serializable, '--plans', 'all', '--runs', count, '--json'], programs);
      return JSON.parse(out) as { plans: number; assumed: string[] };
    };
    expect(await runs('1')).toMatchObject({
      plans: 1,
      assumed: [
        none,
        'the server reads jobs by index jobs_owner, and in no other way',
        expect.stringContaining('40001 no more often than moirai'),
      ],
    });
    const many = await runs('40');
    expect(many.plans).toBe(4);
    expect(many).toMatchObject({ assumed: [] });
  });

  test.each([['apart.ts', '--replay', '2.0.00000000'], ['apart.ts', '--level', 'causal'], ['keys.ts']])(
    'is refused: %s %s',
    async (...args) => {
      const { code, err } = await runHere(['test', ...args, '--plans', 'all'], programs);
      expect(code).toBe(3);
      expect(err).toContain('[option/plans]');
    },
  );
});
