import type { EventEmitter } from 'node:events';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import type { UnsupportedStatement } from '../evidence/index.ts';
import { notSupported, SqlError } from '../sql/model/index.ts';
import { connectTo } from './connect.ts';
import { connected, openDatabase } from '../database/sql-session.test-support.ts';
import { mergedUnsupported, UnsupportedStatements } from '../database/assumptions/unsupported-statements.ts';

const sent = (sql: string): { session: string; sql: string; place: null } => ({ session: 'a', sql, place: null });

test('a statement is one entry with a count, whatever its blanks', () => {
  const told: UnsupportedStatement[] = [];
  const statements = new UnsupportedStatements((each) => told.push(each));
  statements.note(notSupported('MERGE'), sent('merge  into t'));
  statements.note(notSupported('MERGE'), sent('merge into\n t'));
  const entry = {
    session: 'a',
    statement: 'merge into t',
    reason: 'MERGE is not supported by moirai (0A000)',
    place: null,
  };
  expect(statements.list).toEqual([{ ...entry, count: 2 }]);
  expect(told).toEqual([{ ...entry, count: 1 }]);
});

test('one error is noted once, however many hands it passes', () => {
  const statements = new UnsupportedStatements();
  const error = notSupported('MERGE');
  statements.note(error, sent('merge into t'));
  statements.note(error, sent('merge into t'));
  expect(statements.list.map(({ count }) => count)).toEqual([1]);
});

test('what the engine refuses too is no entry; a bug of ours is one', () => {
  const statements = new UnsupportedStatements();
  statements.note(new SqlError('0A000', 'FOR UPDATE is not allowed with GROUP BY clause'), sent('select 1'));
  statements.note(new SqlError('23505', 'duplicate key'), sent('insert'));
  expect(statements.list).toEqual([]);
  statements.note(new TypeError('x is undefined'), sent('select 2'));
  expect(statements.list.map(({ reason }) => reason)).toEqual(['moirai failed: x is undefined']);
});

test('entries are bounded', () => {
  const statements = new UnsupportedStatements(() => {}, 2);
  for (const sql of ['a', 'b', 'c']) statements.note(notSupported(sql), sent(sql));
  expect(statements.list.map(({ statement }) => statement)).toEqual(['a', 'b']);
});

test('a statement of many sessions is told once, also where the list is full', () => {
  const told: UnsupportedStatement[] = [];
  const statements = new UnsupportedStatements((each) => told.push(each), 2);
  for (const session of ['1', '2', '3']) statements.note(notSupported('a'), { session, sql: 'a', place: null });
  statements.note(notSupported('b'), sent('b'));
  statements.note(notSupported('c'), sent('c'));
  expect(told.map(({ statement }) => statement)).toEqual(['a', 'b']);
});

test('the lists of several runs are one list', () => {
  const entry = { session: 'a', statement: 's', reason: 'r', place: null, count: 2 };
  const other = { ...entry, session: 'b', count: 1 };
  expect(mergedUnsupported([[entry], [other, { ...entry, place: 'jobs.ts:3' }]])).toEqual([
    { ...entry, place: 'jobs.ts:3', count: 4 },
    other,
  ]);
});

describe('a database lists what its sessions were refused', () => {
  test.each([
    [
      'when it is prepared',
      'create trigger g after insert on t execute function f()',
      'CREATE TRIGGER is not supported by moirai (0A000)',
    ],
    ['when it runs', "select to_char(now(), 'RM')", 'the pattern "RM" is not supported by moirai (0A000)'],
  ])('%s', async (_when, sql, reason) => {
    const database = await openDatabase();
    const client = connected(database, {}, 'alice');
    expect(await client.outcome(sql)).toBe('0A000');
    expect(database.unsupported.list).toEqual([{ session: 'alice', statement: sql, reason, place: null, count: 1 }]);
  });

  test('also where a savepoint saves the transaction', async () => {
    const database = await openDatabase();
    const client = connected(database);
    for (const sql of [
      'begin',
      'savepoint s',
      'create trigger g after insert on t execute function f()',
      'rollback to s',
      'commit',
    ])
      await client.outcome(sql);
    expect(database.unsupported.list).toHaveLength(1);
  });

  test('and nothing of what PostgreSQL refuses itself', async () => {
    const database = await openDatabase();
    const client = connected(database);
    for (const sql of ['selec 1', 'select nothing()', 'select 1 / 0', 'select 1 group by 1 for update'])
      await client.outcome(sql);
    expect(database.unsupported.list).toEqual([]);
  });

  test.each([
    ['Europe/Berlin', 'UTC', [['alice', "TimeZone = 'Europe/Berlin' at connection"]]],
    ['Etc/UTC', 'Etc/UTC', []],
    ['GMT', 'GMT', []],
  ])('and the zone %s of a client that connects: it has %s', async (zone, effective, listed) => {
    const database = await openDatabase();
    const client = new pg.Client({
      user: 'ann',
      stream: () => connectTo(database, { name: 'alice' }),
      options: `-c TimeZone=${zone}`,
    });
    const heard: unknown[] = [];
    const { connection } = client as unknown as { connection: EventEmitter };
    connection.on('parameterStatus', (status: { parameterName: string; parameterValue: string }) => {
      if (status.parameterName === 'TimeZone') heard.push(status.parameterValue);
    });
    await client.connect();
    const shown = await client.query({ text: 'show timezone', rowMode: 'array' });
    expect(database.unsupported.list.map(({ session, statement }) => [session, statement])).toEqual(listed);
    expect([heard, shown.rows]).toEqual([[effective], [[effective]]]);
    await expect(client.query("set time zone 'Europe/Berlin'")).rejects.toMatchObject({ code: '0A000' });
    await client.end();
    database.close();
  });

  test.each(['query', 'execute'] as const)('over MySQL, by %s', async (method) => {
    const database = await openDatabase({ engine: 'mysql' });
    await connected(database).run('create table t (n int)');
    const client = await mysql.createConnection({ user: 'ann', stream: connectTo(database, { name: 'alice' }) });
    const send = (sql: string): Promise<unknown> => (method === 'query' ? client.query(sql) : client.execute(sql));
    await expect(send('update ignore t set n = 1')).rejects.toBeInstanceOf(Error);
    await expect(send('select * from missing')).rejects.toMatchObject({ errno: 1146 });
    const { list } = database.unsupported;
    expect(list.map(({ session, statement, count }) => [session, statement, count])).toEqual([
      ['alice', 'update ignore t set n = 1', 1],
    ]);
    await client.end();
    database.close();
  });
});
