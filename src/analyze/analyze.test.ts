import { describe, expect, test } from 'vitest';
import { conclude } from '../evidence/index.ts';
import { participants } from './analysis-text.ts';
import { analyze, type Analysis } from './analyze.ts';
import type { Step, UnitStep } from './application.ts';
import { abort, application, argument, branch, column, expression, statement, transaction } from './builder.ts';
import { changesText } from './changes.ts';
import type { IsolationName } from '../sql/index.ts';
import { analyzed, read, schema, withdraw } from './withdrawals.test-support.ts';

describe('a withdrawal that reads, then writes', () => {
  test('at read committed: a lost update of two of it, confirmed, and mended by a lock', async () => {
    const { anomalies, transactions, evidence } = await analyzed({ withdraw: [withdraw(null)] });
    expect(anomalies).toMatchObject([
      {
        name: 'lost-update',
        transactions: ['withdraw'],
        status: { kind: 'confirmed', anomaly: 'internal' },
        fix: { changes: [{ kind: 'lock' }], isProven: true },
      },
    ]);
    expect(transactions).toMatchObject([
      { level: 'read committed', weakest: 'repeatable read', changes: [{ kind: 'lock' }] },
    ]);
    expect(conclude(evidence).kind).toBe('violated');
  });

  test('that two handlers run: listed once, with both names', async () => {
    const { anomalies, transactions } = await analyzed({ desk: [withdraw(null)], machine: [withdraw(null)] });
    expect(anomalies).toMatchObject([{ transactions: ['desk'], alike: [['machine']], status: { kind: 'confirmed' } }]);
    expect(anomalies.map(participants)).toEqual(['desk with itself and machine with itself']);
    expect(anomalies.map(({ fix }) => changesText(fix?.changes ?? []))).toEqual([
      expect.stringMatching(/^FOR UPDATE at \S+$/),
    ]);
    expect(transactions.map(({ changes }) => changes.length)).toEqual([1, 1]);
  });

  test('at repeatable read: robust', async () => {
    const { anomalies, evidence } = await analyzed({ withdraw: [withdraw('repeatable read')] });
    expect(anomalies).toEqual([]);
    expect(conclude(evidence).kind).toBe('satisfied');
  });

  test('in one statement: robust at read committed', async () => {
    const { evidence } = await analyzed({
      withdraw: [
        statement('UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND balance >= $2', [
          argument('id'),
          argument('amount'),
        ]),
      ],
    });
    expect(conclude(evidence).kind).toBe('satisfied');
  });
});

/** PostgreSQL 15 answers UPDATE 0 there: the row that it waits for is deleted, and the new one is none of its snapshot. */
test('an update by key of a row that another transaction deletes and inserts again is lost at read committed', async () => {
  const id = argument('id');
  const replace = transaction('replace', 'repeatable read', [
    statement('SELECT balance FROM accounts WHERE id = $1 FOR UPDATE', [id], 'account'),
    statement('DELETE FROM accounts WHERE id = $1', [id]),
    statement("INSERT INTO accounts VALUES ($1, 'new', $2)", [id, column('account', 'balance')]),
  ]);
  const pay = (level: IsolationName): UnitStep =>
    transaction('pay', level, [statement('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [id])]);
  const { anomalies } = await analyzed({ replace: [replace], pay: [pay('read committed')] });
  expect(anomalies).toMatchObject([{ transactions: ['pay', 'replace'], status: { kind: 'confirmed' } }]);
  expect((await analyzed({ replace: [replace], pay: [pay('repeatable read')] })).anomalies).toEqual([]);
});

/** The row of `locks` orders two of `settle`, but before `open` has made it there is none to lock: both then add to one total. */
test('a change is proven without the rows that other transactions insert, too', async () => {
  const sum = 'SELECT sum FROM totals WHERE id = 1';
  const settle = transaction('settle', null, [
    statement('SELECT rate FROM fees WHERE id = $1', [argument('fee')], 'fee'),
    statement('SELECT id FROM locks WHERE id = 1 FOR UPDATE'),
    statement(sum, [], 'total'),
    statement('UPDATE totals SET sum = $1 WHERE id = 1', [expression('+', column('total', 'sum'), 1)]),
  ]);
  const open = statement('INSERT INTO locks VALUES (1)');
  const tables = `CREATE TABLE fees (id int PRIMARY KEY, rate int NOT NULL);
    CREATE TABLE locks (id int PRIMARY KEY); CREATE TABLE totals (id int PRIMARY KEY, sum int NOT NULL)`;
  const app = application({ schema: tables, units: { settle: [settle], open: [open] } });
  const { anomalies } = await analyze(app, { isolation: 'read committed', timeMaxMs: 0 });
  expect(anomalies[0]).toMatchObject({
    transactions: ['settle'],
    status: { kind: 'possible' },
    fix: { changes: [{ kind: 'lock', sql: sum }], isProven: true },
  });
});

describe('a set has witnesses of several kinds: one that runs is looked for', () => {
  const tables = `${schema}; CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE counters (id int PRIMARY KEY, next int NOT NULL)`;
  const add: Step = statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
    argument('id'),
    expression('+', column('account', 'balance'), 1),
  ]);
  test.each<[string, readonly Step[]]>([
    [
      'two of one number fail, two of different numbers lose an update',
      [
        statement('SELECT next FROM counters WHERE id = $1', [argument('counter')], 'found'),
        statement('UPDATE counters SET next = next + 1 WHERE id = $1', [argument('counter')]),
        statement('INSERT INTO orders VALUES ($1 * 100 + $2)', [argument('counter'), column('found', 'next')]),
        read('id', 'account'),
        add,
      ],
    ],
  ])('%s', async (_name, steps) => {
    const app = application({ schema: tables, units: { order: [transaction('order', null, steps)] } });
    const { anomalies } = await analyze(app, { isolation: 'read committed' });
    expect(anomalies).toMatchObject([{ status: { kind: 'confirmed', anomaly: 'internal' } }]);
  });
});

describe('an UPDATE with RETURNING that finds no row', () => {
  const take = (whenMissed: readonly Step[]): UnitStep =>
    transaction('take', null, [
      statement(
        'UPDATE items SET stock = stock - 1 WHERE id = $1 AND stock > 0 RETURNING id',
        [argument('id')],
        'item',
      ),
      branch<Step>(expression('is null', column('item', 'id')), whenMissed, []),
      statement('INSERT INTO sales (item) VALUES ($1)', [argument('id')]),
    ]);
  const count = transaction('count', null, [
    statement('UPDATE items SET stock = $2 WHERE id = $1', [argument('id'), argument('stock')]),
    statement('SELECT count(*) AS n FROM sales WHERE item = $1', [argument('id')]),
  ]);
  const tables = `CREATE TABLE items (id int PRIMARY KEY, stock int NOT NULL);
    CREATE TABLE sales (id serial PRIMARY KEY, item int NOT NULL)`;
  const ofSales = (whenMissed: readonly Step[]): Promise<Analysis> =>
    analyze(application({ schema: tables, units: { take: [take(whenMissed)], count: [count] } }), {
      isolation: 'read committed',
      schedulesMax: 4,
    });

  test('what follows its throw holds the lock of the row: robust', async () => {
    const { anomalies, evidence } = await ofSales([abort()]);
    expect(anomalies).toEqual([]);
    expect(conclude(evidence).kind).toBe('satisfied');
  });

  test('what follows without one does not', async () => {
    const { anomalies } = await ofSales([]);
    expect(anomalies.map(({ transactions }) => transactions)).toContainEqual(['take', 'count']);
  });
});

test('write skew of a pair at repeatable read', async () => {
  const drain = (from: string, name: string): UnitStep =>
    transaction(name, null, [
      read('a', 'first'),
      read('b', 'second'),
      branch(expression('>=', expression('+', column('first', 'balance'), column('second', 'balance')), 150), [
        statement('UPDATE accounts SET balance = 0 WHERE id = $1', [argument(from)]),
      ]),
    ]);
  const { anomalies, transactions } = await analyzed({ drain: [drain('a', 'drain')] }, 'repeatable read');
  expect(anomalies).toMatchObject([{ name: 'write-skew', status: { kind: 'confirmed' } }]);
  expect(transactions).toMatchObject([{ weakest: 'serializable' }]);
  expect(anomalies[0]?.fix?.changes.length).toBeGreaterThan(0);
});

test('what is not understood is listed, and nothing is proven', async () => {
  const { notUnderstood, evidence, transactions } = await analyzed({
    odd: [statement('SELECT pg_advisory_lock(1)')],
    other: [statement('SELECT * FROM nowhere')],
  });
  expect(notUnderstood.map(({ reason }) => reason)).toEqual([
    'the function pg_advisory_lock',
    'the schema has no table nowhere',
  ]);
  expect(transactions.map(({ weakest }) => weakest)).toEqual([null, null]);
  expect(conclude(evidence).kind).toBe('unknown');
});

test('160 transactions: their 682,800 sets of at most three are not held at once', async () => {
  const names = Array.from({ length: 160 }, (_, at) => `t${at}`);
  const tables = names.map((name) => `CREATE TABLE ${name} (id int PRIMARY KEY);`).join('');
  const units = Object.fromEntries(names.map((name) => [name, [statement(`SELECT id FROM ${name}`)]]));
  const { evidence } = await analyze(application({ schema: tables, units }), { isolation: 'read committed' });
  expect(conclude(evidence).kind).toBe('satisfied');
});

test('a schema that does not run', async () => {
  const broken = application({ schema: 'CREATE TABLE', units: {} });
  await expect(analyze(broken, { isolation: 'read committed' })).rejects.toThrow('the schema does not run');
});
