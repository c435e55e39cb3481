import { expect, test } from 'vitest';
import { analyze } from './analyze.ts';
import type { Step, Transaction } from './application.ts';
import { abort, application, argument, branch, column, expression, statement, transaction } from './builder.ts';
import { schema, withdraw } from './withdrawals.test-support.ts';

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

test.each([
  ['the end first', 'starts_on < $3 AND ends_on > $2'],
  ['the start first', '$2 < ends_on AND $3 > starts_on'],
])('a booking of days that overlap another: its end is after its start, %s', async (_order, overlaps) => {
  const bookings = `CREATE TABLE rooms (id int PRIMARY KEY);
    CREATE TABLE bookings (id serial PRIMARY KEY, room int NOT NULL REFERENCES rooms, starts_on date NOT NULL, ends_on date NOT NULL)`;
  const given = [argument('room'), argument('from'), argument('to')];
  const book = (...before: readonly Step[]) =>
    transaction('book', null, [
      ...before,
      statement(`SELECT id FROM bookings WHERE room = $1 AND ${overlaps}`, given, 'taken'),
      branch(expression('<>', { kind: 'row-count', statement: 'taken' }, 0), [abort()]),
      statement('INSERT INTO bookings (room, starts_on, ends_on) VALUES ($1, $2, $3)', given),
    ]);
  const unguarded = await analyze(application({ schema: bookings, units: { book: [book()] } }), {
    isolation: 'read committed',
  });
  expect(unguarded.anomalies).toMatchObject([{ status: { kind: 'confirmed', anomaly: 'internal' } }]);
  const lock = statement('SELECT id FROM rooms WHERE id = $1 FOR UPDATE', [argument('room')], 'room');
  const guarded = await analyze(application({ schema: bookings, units: { book: [book(lock)] } }), {
    isolation: 'read committed',
  });
  expect(guarded.anomalies.map(({ status }) => status.kind)).not.toContain('confirmed');
});

test('a row that is read by a key, then written by the key that the row has: they are one row, in a transaction and across those of a unit', async () => {
  const steps = [
    statement('SELECT id, votes FROM polls WHERE id = $1', [argument('id')], 'poll'),
    statement('UPDATE polls SET votes = $1 WHERE id = $2', [
      expression('+', column('poll', 'votes'), 1),
      column('poll', 'id'),
    ]),
  ];
  const polls = 'CREATE TABLE polls (id int PRIMARY KEY, votes int NOT NULL)';
  const inOne = application({ schema: polls, units: { vote: [transaction('vote', null, steps)] } });
  const { anomalies } = await analyze(inOne, { isolation: 'read committed' });
  expect(anomalies).toMatchObject([{ name: 'lost-update', status: { kind: 'confirmed', anomaly: 'internal' } }]);
  const { unitAnomalies } = await analyze(application({ schema: polls, units: { vote: steps } }), {
    isolation: 'read committed',
  });
  expect(unitAnomalies).toMatchObject([{ name: 'not atomic', status: { kind: 'confirmed', anomaly: 'internal' } }]);
});

test.each([
  ['a text that is made longer', 'body text NOT NULL', expression('+', column('doc', 'body'), argument('text'))],
  [
    'a day that the program compares with another',
    'body text NOT NULL, day date NOT NULL',
    expression(
      'if',
      expression('<', column('doc', 'day'), '2100-01-01'),
      expression('||', column('doc', 'body'), 'x'),
      '',
    ),
  ],
])('%s by what was read: two runs, and one is lost', async (_, columns, body) => {
  const steps = [
    statement('SELECT * FROM docs WHERE id = $1', [argument('id')], 'doc'),
    statement('UPDATE docs SET body = $2 WHERE id = $1', [argument('id'), body]),
  ];
  const docs = `CREATE TABLE docs (id int PRIMARY KEY, ${columns})`;
  const { unitAnomalies } = await analyze(application({ schema: docs, units: { append: steps } }), {
    isolation: 'read committed',
  });
  expect(unitAnomalies).toMatchObject([{ name: 'not atomic', status: { kind: 'confirmed', anomaly: 'internal' } }]);
});

test('a payment that reads whether it was made, then locks a balance that is enough for two', async () => {
  const tables =
    'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL); CREATE TABLE orders (id int PRIMARY KEY, account int NOT NULL, paid boolean NOT NULL)';
  const pay = transaction('pay', null, [
    statement('SELECT account, paid FROM orders WHERE id = $1', [argument('order')], 'order'),
    branch(column('order', 'paid'), [abort()]),
    statement('SELECT balance FROM accounts WHERE id = $1 FOR UPDATE', [column('order', 'account')], 'account'),
    branch(expression('<', column('account', 'balance'), argument('price')), [abort()]),
    statement('UPDATE accounts SET balance = balance - $1 WHERE id = $2', [
      argument('price'),
      column('order', 'account'),
    ]),
    statement('UPDATE orders SET paid = true WHERE id = $1', [argument('order')]),
  ]);
  const { anomalies } = await analyze(application({ schema: tables, units: { pay: [pay] } }), {
    isolation: 'read committed',
  });
  expect(anomalies).toMatchObject([{ status: { kind: 'confirmed', anomaly: 'internal' } }]);
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

test.each<[string, string, readonly Step[]]>([
  [
    'a clock under another name, as Drizzle sends it',
    'CREATE TABLE events (id serial PRIMARY KEY, owner int NOT NULL, created_at timestamptz NOT NULL DEFAULT now())',
    [
      statement('SELECT max(created_at) AS "lastAt" FROM events WHERE owner = $1', [argument('owner')], 'last'),
      statement('INSERT INTO events (owner) VALUES ($1) RETURNING id, created_at AS "createdAt"', [argument('owner')]),
    ],
  ],
  [
    'a text and a number that come from the number of a sequence',
    `CREATE TABLE events (id serial PRIMARY KEY, owner int NOT NULL);
      CREATE TABLE log (event int NOT NULL, name text NOT NULL)`,
    [
      statement('SELECT max(id) AS last FROM events WHERE owner = $1', [argument('owner')], 'last'),
      statement('INSERT INTO events (owner) VALUES ($1) RETURNING id AS "eventId"', [argument('owner')], 'event'),
      statement("INSERT INTO log SELECT $1, 'event-' || id FROM events WHERE id = $1", [column('event', 'eventId')]),
    ],
  ],
])('%s is not compared', async (_name, tables, steps) => {
  const app = application({ schema: tables, units: { add: [transaction('add', null, steps)] } });
  const { anomalies } = await analyze(app, { isolation: 'read committed' });
  expect(anomalies.map(({ status }) => status.kind)).toEqual(['possible']);
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
