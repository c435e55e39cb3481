import { beforeAll, expect, test } from 'vitest';
import { loadParser } from '../sql/parse.ts';
import { DatabaseRecorder, SessionRecorder, type StatementEvent } from './recorder.ts';
import { schemaOf } from './schema.ts';
import type { StatementResult } from './statement-rows.ts';
import { column } from './statement-rows.test-support.ts';

beforeAll(() => loadParser());

const rows = [column('t', 'id', 'int', { key_position: 1 }), column('t', 'v', 'int')];

type Outcome = 'done' | 'lost' | { readonly failed: string };
type Step = readonly [sql: string, outcome?: Outcome, affected?: number];

const result = (affected: number): StatementResult => ({
  columns: ['v'],
  rowCount: 0,
  cell: () => null,
  isByName: true,
  affected,
  countsMatched: true,
  insertId: 0n,
});

/** A line for each operation: kind, transaction, rows written, whether it failed or has no end. */
function recorded(dialect: 'postgres' | 'mysql', steps: readonly Step[], closes = false): string[] {
  const lines: string[] = [];
  const database = new DatabaseRecorder(dialect, { write: (line) => lines.push(line) });
  database.learn(schemaOf(dialect, rows));
  const session = new SessionRecorder('s', database);
  for (const [i, [sql, outcome = 'done', affected = 1]] of steps.entries()) {
    const results = sql.split(';').map(() => result(affected));
    const known: StatementEvent['outcome'] =
      outcome === 'done'
        ? { kind: 'done', results }
        : outcome === 'lost'
          ? { kind: 'lost' }
          : { kind: 'failed', code: outcome.failed };
    session.record({ sql, parameters: [], start: 10 * i, end: 10 * i + 5, outcome: known });
  }
  if (closes) session.close(1000);
  database.end();
  return lines.map((line) => {
    const {
      op,
      transaction,
      savepoint,
      writes = [],
      failed,
      end,
    } = JSON.parse(line) as {
      op: string;
      transaction?: string;
      savepoint?: string;
      writes?: [string, unknown][];
      failed?: boolean;
      end: number | null;
    };
    const what = writes.map(([row]) => row).join(' ');
    return [
      op,
      transaction?.slice(2),
      savepoint,
      what,
      failed === true ? 'failed' : '',
      end === null ? 'no answer' : '',
    ]
      .filter((part) => part !== undefined && part !== '')
      .join(' ');
  });
}

const write = (id: number): string => `UPDATE t SET v = 1 WHERE id = ${id}`;

test.each<[string, 'postgres' | 'mysql', readonly Step[], string[]]>([
  ['alone in its transaction', 'postgres', [[write(1)]], ['write 1 t/1', 'commit 1']],
  ['failed alone', 'postgres', [[write(1), { failed: '40001' }]], ['write 1 failed', 'abort 1']],
  ['a transaction', 'postgres', [['BEGIN'], [write(1)], ['COMMIT']], ['begin 1', 'write 1 t/1', 'commit 1']],
  [
    'PostgreSQL commits no transaction in which a statement has failed',
    'postgres',
    [['BEGIN'], [write(1)], ['SELECT 1/0', { failed: '22012' }], ['COMMIT']],
    ['begin 1', 'write 1 t/1', 'abort 1'],
  ],
  [
    'MySQL does',
    'mysql',
    [['BEGIN'], [write(1)], [write(2), { failed: '1062' }], ['COMMIT']],
    ['begin 1', 'write 1 t/1', 'write 1 failed', 'commit 1'],
  ],
  [
    'a definition of MySQL commits, and the rows of its table may be others',
    'mysql',
    [['BEGIN'], [write(1)], ['DROP TABLE t']],
    ['begin 1', 'write 1 t/1', 'commit 1', 'write 2', 'commit 2'],
  ],
  [
    'not one of a table that only the session sees',
    'mysql',
    [['BEGIN'], [write(1)], ['CREATE TEMPORARY TABLE x (id int)'], ['DROP TEMPORARY TABLE x'], ['COMMIT']],
    ['begin 1', 'write 1 t/1', 'commit 1'],
  ],
  [
    'ANALYZE TABLE commits, too',
    'mysql',
    [['BEGIN'], [write(1)], ['ANALYZE TABLE t'], ['COMMIT']],
    ['begin 1', 'write 1 t/1', 'commit 1'],
  ],
  ['what ANALYZE runs is written', 'mysql', [[`ANALYZE ${write(1)}`]], ['write 1', 'commit 1']],
  ['and EXPLAIN ANALYZE of PostgreSQL', 'postgres', [[`EXPLAIN (ANALYZE) ${write(1)}`]], ['write 1', 'commit 1']],
  [
    'XA',
    'mysql',
    [[`XA START 'a'`], [write(1)], [`XA END 'a'`], [`XA PREPARE 'a'`], [`XA COMMIT 'a'`]],
    ['begin 1', 'write 1 t/1', 'commit 1'],
  ],
  [
    'a prepared transaction is of unknown fate',
    'postgres',
    [['BEGIN'], [write(1)], [`PREPARE TRANSACTION 'a'`], [write(2)], [`COMMIT PREPARED 'a'`]],
    ['begin 1', 'write 1 t/1', 'commit 1 no answer', 'write 2 t/2', 'commit 2'],
  ],
  [
    'a definition of PostgreSQL is a part of its transaction',
    'postgres',
    [['BEGIN'], [write(1)], ['ALTER TABLE t ALTER v TYPE text'], ['CREATE INDEX ON t (v)'], ['ROLLBACK']],
    ['begin 1', 'write 1 t/1', 'write 1', 'abort 1'],
  ],
  [
    'and of a table of which nothing was recorded it says nothing',
    'postgres',
    [['DROP TABLE t'], ['CREATE TABLE t (id int)']],
    [],
  ],
  [
    'a snapshot that is taken at once',
    'mysql',
    [['START TRANSACTION WITH CONSISTENT SNAPSHOT'], [write(1)], ['COMMIT']],
    ['read 1', 'write 1 t/1', 'commit 1'],
  ],
  [
    'InnoDB rolls back the victim of a deadlock',
    'mysql',
    [['BEGIN'], [write(1)], [write(2), { failed: '1213' }], [write(3)]],
    ['begin 1', 'write 1 t/1', 'write 1 failed', 'abort 1', 'write 2 t/3', 'commit 2'],
  ],
  [
    'a commit that fails',
    'postgres',
    [['BEGIN'], [write(1)], ['COMMIT', { failed: '40001' }]],
    ['begin 1', 'write 1 t/1', 'abort 1'],
  ],
  ['a commit that nobody answers', 'postgres', [['BEGIN'], ['COMMIT', 'lost']], ['begin 1', 'commit 1 no answer']],
  ['BEGIN in a transaction: PostgreSQL', 'postgres', [['BEGIN'], ['BEGIN'], ['ROLLBACK']], ['begin 1', 'abort 1']],
  [
    'BEGIN in a transaction: MySQL',
    'mysql',
    [['BEGIN'], ['BEGIN'], ['ROLLBACK']],
    ['begin 1', 'commit 1', 'begin 2', 'abort 2'],
  ],
  [
    'without autocommit',
    'mysql',
    [['SET autocommit = 0'], [write(1)], [write(2)], ['COMMIT'], [write(3)], ['SET autocommit = 1']],
    ['write 1 t/1', 'write 1 t/2', 'commit 1', 'write 2 t/3', 'commit 2'],
  ],
  [
    'a definition commits: MySQL',
    'mysql',
    [['BEGIN'], [write(1)], ['CREATE TABLE u (id int)']],
    ['begin 1', 'write 1 t/1', 'commit 1'],
  ],
  [
    'COMMIT AND CHAIN',
    'postgres',
    [['BEGIN'], ['COMMIT AND CHAIN'], ['ROLLBACK']],
    ['begin 1', 'commit 1', 'begin 2', 'abort 2'],
  ],
  [
    'savepoints come as they happen',
    'postgres',
    [
      ['BEGIN'],
      [write(1)],
      ['SAVEPOINT a'],
      [write(2)],
      ['SAVEPOINT b'],
      [write(3)],
      ['ROLLBACK TO b'],
      ['RELEASE a'],
      ['COMMIT'],
    ],
    [
      'begin 1',
      'write 1 t/1',
      'savepoint 1 a',
      'write 1 t/2',
      'savepoint 1 b',
      'write 1 t/3',
      'rollback-to 1 b',
      'release 1 a',
      'commit 1',
    ],
  ],
  [
    'ROLLBACK TO heals a failed transaction',
    'postgres',
    [['BEGIN'], ['SAVEPOINT a'], [write(1), { failed: '23505' }], ['ROLLBACK TO a'], [write(2)], ['COMMIT']],
    ['begin 1', 'savepoint 1 a', 'write 1 failed', 'rollback-to 1 a', 'write 1 t/2', 'commit 1'],
  ],
  [
    'a savepoint that is not there fails the transaction: PostgreSQL',
    'postgres',
    [['BEGIN'], [write(1)], ['ROLLBACK TO a', { failed: '3B001' }], ['COMMIT']],
    ['begin 1', 'write 1 t/1', 'rollback-to 1 a failed', 'abort 1'],
  ],
  [
    'and does not: MySQL',
    'mysql',
    [['BEGIN'], [write(1)], ['ROLLBACK TO a', { failed: '1305' }], ['COMMIT']],
    ['begin 1', 'write 1 t/1', 'rollback-to 1 a failed', 'commit 1'],
  ],
  [
    'names of savepoints: MySQL does not mind case',
    'mysql',
    [['BEGIN'], ['SAVEPOINT Aa'], ['ROLLBACK TO aA'], ['COMMIT']],
    ['begin 1', 'savepoint 1 aa', 'rollback-to 1 aa', 'commit 1'],
  ],
  [
    'names of savepoints: PostgreSQL does where they are quoted',
    'postgres',
    [['BEGIN'], ['SAVEPOINT "A"'], ['SAVEPOINT A'], ['ROLLBACK TO "A"'], ['COMMIT']],
    ['begin 1', 'savepoint 1 A', 'savepoint 1 a', 'rollback-to 1 A', 'commit 1'],
  ],
  [
    'a savepoint begins a transaction where MySQL commits nothing by itself',
    'mysql',
    [['SET autocommit = 0'], ['SAVEPOINT a'], [write(1)], ['ROLLBACK TO a'], ['COMMIT']],
    ['savepoint 1 a', 'write 1 t/1', 'rollback-to 1 a', 'commit 1'],
  ],
  ['and nothing where it does', 'mysql', [['SAVEPOINT a'], [write(1)]], ['write 1 t/1', 'commit 1']],
  [
    'an answer to a savepoint that never came',
    'postgres',
    [['BEGIN'], ['SAVEPOINT a', 'lost']],
    ['begin 1', 'savepoint 1 a no answer'],
  ],
  [
    'several statements of PostgreSQL are one transaction',
    'postgres',
    [[`${write(1)}; ${write(2)}`]],
    ['write 1 t/1', 'write 1 t/2', 'commit 1'],
  ],
  [
    'several statements that fail',
    'postgres',
    [[`${write(1)}; ${write(2)}`, { failed: '23505' }]],
    ['write 1 failed', 'abort 1'],
  ],
  [
    'several statements of MySQL are several',
    'mysql',
    [[`${write(1)}; ${write(2)}`]],
    ['write 1 t/1', 'commit 1', 'write 2 t/2', 'commit 2'],
  ],
  [
    'several with BEGIN and COMMIT',
    'postgres',
    [[`BEGIN; ${write(1)}; COMMIT`], [write(2)]],
    ['write 1 t/1', 'commit 1', 'write 2 t/2', 'commit 2'],
  ],
])('%s', (_name, dialect, steps, expected) => expect(recorded(dialect, steps)).toEqual(expected));

test('a client that vanishes leaves an abort without an end', () => {
  expect(recorded('postgres', [['BEGIN'], [write(1)]], true)).toEqual([
    'begin 1',
    'write 1 t/1',
    'abort 1 no answer',
    'end',
  ]);
});

test('statements wait for the schema, and for a new one after a definition', () => {
  const lines: string[] = [];
  const database = new DatabaseRecorder('postgres', { write: (line) => lines.push(line) });
  const session = new SessionRecorder('s', database);
  const event = (sql: string): StatementEvent => ({
    sql,
    parameters: [],
    start: 1,
    end: 2,
    outcome: { kind: 'done', results: [result(1)] },
  });
  session.record(event(write(1)));
  expect([database.needsSchema, lines.length]).toEqual([true, 0]);
  database.asking();
  database.learn(schemaOf('postgres', rows));
  expect([database.needsSchema, lines.length]).toEqual([false, 2]);
  session.record(event('CREATE TABLE u (id int)'));
  session.record(event(write(2)));
  session.record(event('CREATE TABLE v (id int)'));
  session.record(event(write(3)));
  expect([database.needsSchema, lines.length]).toEqual([true, 2]);
  // It is asked for after both, and before a third.
  database.asking();
  session.record(event('CREATE TABLE w (id int)'));
  session.record(event(write(4)));
  database.learn(schemaOf('postgres', rows));
  expect([database.needsSchema, lines.length]).toEqual([true, 6]);
  database.end();
  expect(lines).toHaveLength(8);
});

test('a table that is gone when the answer of its definition comes was one of rows', () => {
  const lines: string[] = [];
  const database = new DatabaseRecorder('mysql', { write: (line) => lines.push(line) });
  database.learn(schemaOf('mysql', rows));
  const session = new SessionRecorder('s', database);
  const done: StatementEvent['outcome'] = { kind: 'done', results: [result(1)] };
  session.record({ sql: write(1), parameters: [], start: 1, end: 2, outcome: done });
  // Another connection has dropped it as well, and the tables have been read since.
  database.learn(schemaOf('mysql', [column('u', 'id', 'int', { key_position: 1 })]));
  session.record({ sql: 'DROP TABLE IF EXISTS t, u', parameters: [], start: 3, end: 9, outcome: done });
  expect(JSON.parse(lines.at(-2) ?? '')).toMatchObject({ op: 'write', opaque: 'writes', tables: ['t'] });
});
