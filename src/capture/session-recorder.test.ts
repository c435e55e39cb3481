import { beforeAll, describe, expect, test } from 'vitest';
import { TraceReader } from '../trace/reader.ts';
import { formatTraceHeader } from '../trace/record.ts';
import type { TraceStatement } from '../trace/statement.ts';
import { emptyHeader } from '../trace/trace.ts';
import { loadParser } from '../sql/parse.ts';
import { DatabaseRecorder } from './database-recorder.ts';
import { SessionRecorder } from './session-recorder.ts';
import type { StatementEvent } from './statement-event.ts';
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

describe('kept statements', () => {
  function kept(dialect: 'postgres' | 'mysql', events: readonly Partial<StatementEvent>[]): TraceStatement[] {
    const lines: string[] = [];
    const database = new DatabaseRecorder(dialect, { write: (line) => lines.push(line), keepsStatements: true });
    database.learn(schemaOf(dialect, rows));
    const session = new SessionRecorder('s', database);
    for (const event of events)
      session.record({
        sql: '',
        parameters: [],
        start: 1,
        end: 2,
        outcome: { kind: 'done', results: [result(1)] },
        ...event,
      });
    database.end();
    const statements: TraceStatement[] = [];
    const reader = new TraceReader({ onOperation: () => undefined, onStatement: (one) => statements.push(one) });
    reader.push(new TextEncoder().encode(`${formatTraceHeader(emptyHeader)}\n${lines.join('')}`));
    reader.finish();
    return statements;
  }
  const read = (cells: readonly (readonly unknown[])[]): StatementEvent['outcome'] => ({
    kind: 'done',
    results: [{ ...result(0), columns: ['v', 'w'], rowCount: cells.length, cell: (row, at) => cells[row]?.[at] }],
  });

  test('each with its transaction, its values and what came back', () => {
    const found = kept('postgres', [
      { sql: 'SET search_path TO public' },
      { sql: 'BEGIN ISOLATION LEVEL SERIALIZABLE' },
      { sql: 'SELECT v, w FROM t WHERE id = $1', parameters: [7n], outcome: read([[30, new Date(0)]]) },
      { sql: 'UPDATE t SET v = 3', outcome: { kind: 'failed', code: '40001' } },
      { sql: 'COMMIT' },
      { sql: 'UPDATE t SET v = 4 WHERE id = 1', outcome: { kind: 'lost' } },
    ]);
    expect(found.map(({ sql, transaction, code }) => [sql.split(' ')[0], transaction, code])).toEqual([
      ['SET', null, null],
      ['BEGIN', 's/1', null],
      ['SELECT', 's/1', null],
      ['UPDATE', 's/1', '40001'],
      ['COMMIT', 's/1', null],
      ['UPDATE', 's/2', null],
    ]);
    expect(found.map(({ result: answer }) => answer?.count)).toEqual([0, 0, 1, undefined, 0, undefined]);
    expect(found[2]).toMatchObject({
      dialect: 'postgres',
      parameters: ['7'],
      result: { columns: ['v', 'w'], rows: [[30, '1970-01-01T00:00:00.000Z']] },
      isShortened: false,
    });
  });

  test('MySQL: a definition ends a transaction and is in its own; statements in one text are each kept', () => {
    const found = kept('mysql', [
      { sql: 'BEGIN' },
      { sql: `${write(1)}; ${write(2)}`, outcome: { kind: 'done', results: [result(1), result(1)] } },
      { sql: 'CREATE TABLE u (id int)' },
      { sql: write(3) },
    ]);
    expect(found.map(({ transaction }) => transaction)).toEqual(['s/1', 's/1', 's/1', 's/1', 's/2']);
  });

  test('what is long is shortened, and says so', () => {
    const sql = `SELECT v, w FROM t WHERE v = '${'x'.repeat(20_000)}'`;
    const long = 'y'.repeat(1_001);
    const many = Array.from({ length: 200 }, (_, i) => [i, 'z'.repeat(900)]);
    const [text, value, list, few] = kept('postgres', [
      { sql },
      { sql: write(1), parameters: [long, Buffer.from('m'), { a: 1 }, [1, null]] },
      { sql: 'SELECT v, w FROM t', outcome: read(many) },
      { sql: 'SELECT v, w FROM t', outcome: read(many.slice(0, 2)) },
    ]);
    expect([text?.sql.length, text?.isShortened]).toEqual([10_000, true]);
    expect([value?.parameters, value?.isShortened]).toEqual([[{ length: 1_001 }, '\\x6d', '{"a":1}', [1, null]], true]);
    expect([list?.result?.count, list?.result?.rows.length, list?.isShortened]).toEqual([200, 72, true]);
    expect([few?.result?.rows.length, few?.isShortened]).toEqual([2, false]);
  });
});
