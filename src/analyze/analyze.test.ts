import { describe, expect, test } from 'vitest';
import { conclude } from '../evidence/index.ts';
import { analysisJson } from './analysis-json.ts';
import { analysisSarif } from './analysis-sarif.ts';
import { formatAnalysis, participants } from './analysis-text.ts';
import { analyze, type Analysis } from './analyze.ts';
import { changesText } from './changes.ts';
import { abort, application, argument, branch, column, expression, statement, transaction } from './builder.ts';
import type { Step, Transaction, UnitStep } from './application.ts';
import type { IsolationName } from '../sql/index.ts';

const schema =
  'CREATE TABLE accounts (id int PRIMARY KEY, owner text NOT NULL, balance int NOT NULL CHECK (balance >= 0))';
const read = (id: string, result: string): Step =>
  statement('SELECT balance FROM accounts WHERE id = $1', [argument(id)], result);

function analyzed(
  units: Readonly<Record<string, readonly UnitStep[]>>,
  isolation: IsolationName = 'read committed',
  limits: { readonly stepsMax?: number; readonly schedulesMax?: number; readonly timeMaxMs?: number } = {},
): Promise<Analysis> {
  return analyze(application({ schema, units }), { isolation, ...limits });
}

const withdraw = (level: IsolationName | null): UnitStep =>
  transaction('withdraw', level, [
    read('id', 'account'),
    branch(expression('>=', column('account', 'balance'), argument('amount')), [
      statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
        argument('id'),
        expression('-', column('account', 'balance'), argument('amount')),
      ]),
    ]),
  ]);

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

test('values that nothing decides are of the types of their columns: a clock, a day, a choice of short codes, a rate below one', async () => {
  const votes = `CREATE TABLE votes (
    id int PRIMARY KEY, phone int NOT NULL, at timestamptz NOT NULL, day date NOT NULL, state char(2) NOT NULL, rate numeric(4, 4) NOT NULL)`;
  const clock = { kind: 'unknown', reason: 'the time' } as const;
  const vote = transaction('vote', null, [
    statement('SELECT count(*) AS n FROM votes WHERE phone = $1', [argument('phone')], 'given'),
    branch(expression('<', column('given', 'n'), 1), [
      statement('INSERT INTO votes VALUES ($1, $2, $3, $4, $5, $6)', [
        argument('id'),
        argument('phone'),
        clock,
        argument('day'),
        expression('if', expression('<', column('given', 'n'), 1), argument('state'), 'XX'),
        expression('floor', argument('rate')),
      ]),
    ]),
  ]);
  const { anomalies } = await analyze(application({ schema: votes, units: { vote: [vote] } }), {
    isolation: 'read committed',
  });
  expect(anomalies).toMatchObject([{ name: 'write-skew', status: { kind: 'confirmed', anomaly: 'internal' } }]);
});

test('what statements fill from a clock or by chance is not compared', async () => {
  const tables = `${schema}; CREATE TABLE log (account int NOT NULL, at timestamptz NOT NULL, token text NOT NULL)`;
  const logged: Step = statement('INSERT INTO log VALUES ($1, now(), $2 || random())', [
    argument('id'),
    argument('token'),
  ]);
  const clock: Step = statement('SELECT current_timestamp, now(), clock_timestamp() AS at', [], 'clock');
  const { steps } = withdraw(null) as Transaction;
  const app = application({
    schema: tables,
    units: { withdraw: [transaction('withdraw', null, [clock, ...steps, logged])] },
  });
  const { anomalies } = await analyze(app, { isolation: 'read committed' });
  expect(anomalies).toMatchObject([{ status: { kind: 'confirmed', schedules: 6, violations: 4 } }]);
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

test('a number that two transactions compute alike and one of them inserts: not confirmed', async () => {
  const tables = 'CREATE TABLE notes (id int PRIMARY KEY, owner int NOT NULL)';
  const note = transaction('note', null, [
    statement('SELECT max(id) AS last FROM notes WHERE owner = $1', [argument('owner')], 'found'),
    branch(expression('is null', column('found', 'last')), [abort()]),
    statement('INSERT INTO notes VALUES ($1, $2)', [expression('+', column('found', 'last'), 1), argument('owner')]),
  ]);
  const { anomalies } = await analyze(application({ schema: tables, units: { note: [note] } }), {
    isolation: 'read committed',
  });
  expect(anomalies).toMatchObject([{ status: { kind: 'possible' } }]);
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

describe('a unit of several transactions', () => {
  const coupon = (...around: readonly Step[]): Readonly<Record<string, readonly UnitStep[]>> => ({
    coupon: around.length > 0 ? [transaction('use', null, around)] : [...useCoupon],
  });
  const useCoupon = [
    statement('SELECT balance, used FROM accounts WHERE id = $1', [argument('id')], 'found'),
    branch(expression('<', column('found', 'used'), column('found', 'balance')), [
      statement('UPDATE accounts SET used = used + 1 WHERE id = $1', [argument('id')]),
    ]),
  ];
  const tables = 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL, used int NOT NULL)';
  const ofTables = (units: Readonly<Record<string, readonly UnitStep[]>>): Promise<Analysis> =>
    analyze(application({ schema: tables, units }), { isolation: 'read committed' });

  test('that writes because of what it read before: confirmed on the last use that is left, and mended by a transaction around it', async () => {
    const analysis = await ofTables(coupon());
    const { anomalies, unitAnomalies, evidence } = analysis;
    expect(anomalies).toEqual([]);
    expect(unitAnomalies).toMatchObject([
      {
        name: 'not atomic',
        transactions: ['coupon'],
        status: { kind: 'confirmed', anomaly: 'internal', schedules: 6, violations: 4 },
        fix: { changes: [{ kind: 'around', transaction: 'coupon' }, { kind: 'lock' }], isProven: true },
      },
    ]);
    expect(conclude(evidence).kind).toBe('violated');
    const text = formatAnalysis(analysis, { style: (_, shown) => shown, files: [null], invocation: 'moirai' });
    expect(text).toContain(
      'across the statements of a unit: nothing makes them one transaction\n\n1. not atomic: coupon',
    );
    expect(text).toContain('with one transaction around coupon and FOR UPDATE at ');
    expect(analysisJson(analysis, ['1.ts'])).toMatchObject({
      anomalies: [],
      unitAnomalies: [{ units: ['coupon'], status: 'confirmed', program: '1.ts', fix: { holds: true, proven: true } }],
    });
    const sarif = analysisSarif(analysis, { version: '1', files: ['1.ts'] });
    expect(sarif).toMatchObject({ runs: [{ results: [{ ruleId: 'not-atomic', level: 'error' }] }] });
  });

  test('in one transaction it is no unit of several', async () => {
    const { anomalies, unitAnomalies } = await ofTables(coupon(...useCoupon));
    expect([anomalies.length, unitAnomalies.length]).toEqual([1, 0]);
  });

  const remove = statement('DELETE FROM accounts WHERE id = $1', [argument('id')]);
  const add: Step = statement('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [argument('id')]);
  const look: Step = statement('SELECT balance FROM accounts WHERE id = $1', [argument('id')], 'found');
  test.each<[string, Readonly<Record<string, readonly UnitStep[]>>]>([
    ['a page that reads twice', { page: [look, look], add: [add] }],
    ['a write that depends on no read', { both: [look, add] }],
    [
      'a row that is gone when it is written',
      { change: [look, branch(expression('is null', column('found', 'balance')), [], [add])], remove: [remove] },
    ],
  ])('%s: no finding', async (_, units) => {
    const { unitAnomalies, evidence } = await ofTables(units);
    expect(unitAnomalies.map(({ transactions }) => transactions)).toEqual([]);
    expect(conclude(evidence).kind).toBe('satisfied');
  });

  test('a transaction around the unit that needs it, and around no other', async () => {
    const { unitAnomalies, evidence } = await ofTables({
      empty: [
        statement('SELECT used FROM accounts WHERE id = $1', [argument('id')], 'found'),
        branch(expression('=', column('found', 'used'), 0), [
          statement('UPDATE accounts SET balance = 0 WHERE id = $1', [argument('id')]),
        ]),
      ],
      deposit: [
        look,
        statement('UPDATE accounts SET used = used + 1, balance = balance + 1 WHERE id = $1', [argument('id')]),
      ],
    });
    expect(unitAnomalies).toMatchObject([
      { transactions: ['empty', 'deposit'], status: { kind: 'confirmed' }, fix: { isProven: true } },
    ]);
    const changes = unitAnomalies[0]?.fix?.changes ?? [];
    expect(changes.map((change) => [change.kind, change.transaction])).toEqual([
      ['around', 'empty'],
      ['lock', 'empty'],
    ]);
    const seen = 'no write of deposit depends on what an earlier transaction of it read: no such value was seen';
    expect(evidence.assumed).toContain(seen);
  });

  test('a row that another unit inserts was not there when it was checked: no finding', async () => {
    const { unitAnomalies } = await ofTables({
      ...coupon(),
      open: [statement('INSERT INTO accounts VALUES ($1, $2, 0)', [argument('id'), argument('balance')])],
    });
    expect(unitAnomalies.map(({ transactions }) => transactions)).toEqual([['coupon']]);
  });

  describe('a row that was found and that another unit then writes as a whole', () => {
    const row = [argument('id'), argument('balance')];
    const insert = 'INSERT INTO accounts VALUES ($1, $2, 0)';
    test.each<[string, UnitStep]>([
      ['deleted and inserted again', transaction('set', null, [remove, statement(insert, row)])],
      ['upserted', statement(`${insert} ON CONFLICT (id) DO UPDATE SET balance = $2, used = 0`, row)],
    ])('%s: confirmed, and mended by a transaction around the first', async (_, set) => {
      const copy = statement('UPDATE accounts SET used = $2 WHERE id = $1', [
        argument('id'),
        column('found', 'balance'),
      ]);
      const change = [look, branch<UnitStep>(expression('is null', column('found', 'balance')), [], [copy])];
      const app = application({ schema: tables, units: { change, set: [set] } });
      const { unitAnomalies } = await analyze(app, { isolation: 'repeatable read', schedulesMax: 20 });
      expect(unitAnomalies).toMatchObject([
        {
          transactions: ['change', 'set'],
          status: { kind: 'confirmed' },
          fix: { changes: [{ kind: 'around' }], isProven: true },
        },
      ]);
    });
  });

  test('a transaction around a unit that deletes and inserts a row again is not enough for one that waits for the row', async () => {
    const insert = statement('INSERT INTO accounts VALUES ($1, $2, 0)', [argument('id'), column('found', 'balance')]);
    const app = application({ schema: tables, units: { replace: [look, remove, insert], add: [add] } });
    const { unitAnomalies } = await analyze(app, { isolation: 'read committed', schedulesMax: 1 });
    const levels = unitAnomalies.flatMap(({ fix }) =>
      (fix?.changes ?? []).flatMap((change) => (change.kind === 'level' ? [[change.transaction, change.level]] : [])),
    );
    expect(levels).toContainEqual(['add', 'repeatable read']);
  });

  test('units for which no time was left are named', async () => {
    const app = application({ schema: tables, units: coupon() });
    const { unitAnomalies, evidence } = await analyze(app, { isolation: 'read committed', timeMaxMs: 0 });
    expect(unitAnomalies).toEqual([]);
    expect(evidence.cut).toContain('not searched for anomalies across their transactions: coupon');
  });

  test('what another one writes between the check and the write is lost with the row', async () => {
    const { unitAnomalies } = await ofTables({
      close: [look, branch(expression('=', column('found', 'balance'), 0), [remove])],
      add: [
        transaction('add', null, [
          look,
          branch<Step>(expression('is null', column('found', 'balance')), [abort()], [add]),
        ]),
      ],
    });
    expect(unitAnomalies).toMatchObject([{ transactions: ['close', 'add'], status: { kind: 'confirmed' } }]);
  });
});

test('the program of an anomaly has the tables that it needs: its own, their parents, and rows that refer to them', async () => {
  const { anomalies } = await analyze(
    application({
      schema: `
        CREATE TYPE mood AS ENUM ('good', 'bad');
        CREATE TABLE owners (id int PRIMARY KEY, mood mood);
        CREATE TABLE branches (id int PRIMARY KEY);
        CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
        ALTER TABLE accounts ADD COLUMN owner int REFERENCES owners;
        CREATE TABLE audit (account int REFERENCES accounts);
        CREATE TABLE fees (account int REFERENCES accounts);
        CREATE INDEX of_branches ON branches (id);
        INSERT INTO owners VALUES (7, 'good');
        INSERT INTO accounts VALUES (7, 70, 7);
        INSERT INTO audit VALUES (7);`,
      units: { withdraw: [withdraw(null)] },
    }),
    { isolation: 'read committed' },
  );
  const [found] = anomalies;
  const program = found?.status.kind === 'confirmed' ? found.status.program : null;
  expect(program?.schema[0]?.match(/(?<=TABLE |TYPE |INDEX |INTO )\w+/g)).toEqual([
    'mood',
    'owners',
    'accounts',
    'accounts',
    'audit',
    'owners',
    'accounts',
    'audit',
  ]);
  expect(program?.state).toEqual([
    'SELECT "id", "mood" FROM "owners" ORDER BY 1, 2',
    'SELECT "id", "balance", "owner" FROM "accounts" ORDER BY 1, 2, 3',
    'SELECT "account" FROM "audit" ORDER BY 1',
  ]);
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

describe('a search that ends at its limit', () => {
  test('for a split: nothing is proven, and the answer says so', async () => {
    const { anomalies, evidence } = await analyzed({ withdraw: [withdraw('repeatable read')] }, undefined, {
      stepsMax: 1,
    });
    const reason = 'the search for a witness ended after 1 step';
    expect(anomalies).toMatchObject([{ transactions: ['withdraw'], status: { kind: 'possible', reason }, fix: null }]);
    expect(conclude(evidence).kind).toBe('unknown');
  });

  test('parts without a table in common are searched one by one', async () => {
    const parts = Array.from({ length: 40 }, (_, at) => `items_${at}`);
    const added = (table: string): UnitStep =>
      statement(`UPDATE ${table} SET amount = amount + $2 WHERE id = $1`, [argument('id'), argument('by')]);
    const { transactions, evidence } = await analyze(
      application({
        schema: parts.map((table) => `CREATE TABLE ${table} (id int PRIMARY KEY, amount int)`).join(';\n'),
        units: Object.fromEntries(parts.map((table) => [table, [added(table)]])),
      }),
      { isolation: 'read committed', stepsMax: 10 },
    );
    expect(new Set(transactions.map(({ weakest }) => weakest))).toEqual(new Set(['read committed']));
    expect(conclude(evidence).kind).toBe('satisfied');
  });

  test('for all witnesses: those that are not tried are possible, and named', async () => {
    const { anomalies, evidence } = await analyzed({ withdraw: [withdraw(null)] }, undefined, { timeMaxMs: 0 });
    const reason = 'no witness was tried: stopped by --max-time';
    expect(anomalies).toMatchObject([{ transactions: ['withdraw'], status: { kind: 'possible', reason } }]);
    expect(conclude(evidence)).toMatchObject({ kind: 'unknown' });
  });

  test('for rows and arguments: the schedules of all that are tried count together', async () => {
    const register = transaction('register', 'read committed', [
      statement('SELECT count(*) AS n FROM accounts WHERE balance > 1000000', [], 'rich'),
      statement('UPDATE accounts SET balance = balance + $2 WHERE id = $1', [argument('id'), column('rich', 'n')]),
    ]);
    const { anomalies } = await analyzed({ register: [register] }, undefined, { schedulesMax: 4 });
    const reason = 'the search for a witness ended after 4 schedules';
    expect(anomalies).toMatchObject([{ status: { kind: 'possible', reason } }]);
  });
});
