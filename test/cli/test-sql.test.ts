/** `moirai test` of SQL programs: which database it chooses, what it prints, how it ends. */
import { describe, expect, test } from 'vitest';
import transfer from '../../examples/sql-transfer.ts';
import { program, sqlProgram } from '../../src/program/index.ts';
import { runHere } from '../support/cli.ts';

const keyValue = program({ sessions: { a: (session) => session.read('x') } });
const quiet = sqlProgram({
  dialect: 'mysql',
  schema: 'create table t (id int primary key)',
  sessions: { a: ({ sometimes }) => sometimes('never', false) },
});
const stuck = sqlProgram({
  dialect: 'postgres',
  schema: [],
  sessions: { free: () => 1, stuck: () => new Promise(() => {}) },
});
const files = { 'transfer.ts': transfer, 'keys.ts': keyValue, 'quiet.ts': quiet, 'stuck.ts': stuck };
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
    [['transfer.ts', '--level', 'all'], '--level all is for key-value programs'],
    [['transfer.ts', '--granularity', 'cell'], '--granularity goes with --level'],
    [['keys.ts', '--engine', 'postgres'], '--engine is for SQL programs'],
  ])('%j', async (args, message) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(message);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});
