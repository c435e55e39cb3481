import { beforeAll, expect, test } from 'vitest';
import { formatAccess } from './access.ts';
import { application, argument, statement } from './builder.ts';
import { formatValue } from './format-application.ts';
import { readSchema, type Schema } from './schema.ts';
import { accessesOf } from './statement-accesses.ts';

const schema = `
  CREATE TABLE users (id int PRIMARY KEY, email text NOT NULL UNIQUE, name text);
  CREATE TABLE orders (user_id int REFERENCES users ON DELETE CASCADE, n int, total int, PRIMARY KEY (user_id, n));
  CREATE TABLE notes (id serial PRIMARY KEY, text text);
  CREATE VIEW names AS SELECT name FROM users;
  CREATE FUNCTION public.abs(users) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;`;

const mysqlSchema = `
  CREATE TABLE users (id int PRIMARY KEY, email varchar(64) NOT NULL UNIQUE, name text, changed timestamp NOT NULL DEFAULT now() ON UPDATE now());
  CREATE TABLE orders (user_id int, n int, total int, PRIMARY KEY (user_id, n), FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE);`;

let tables: Schema;
let mysqlTables: Schema;
beforeAll(async () => {
  tables = await readSchema(application({ schema, units: {} }));
  mysqlTables = await readSchema({ dialect: 'mysql', schema: mysqlSchema });
});

function notBuiltIn(name: string): string {
  return `not understood: it calls ${name}, a function that is not built in: what it reads and writes is not known`;
}

/** Moments apart by `then`. */
function accesses(sql: string, schemaOf = tables): string {
  const found = accessesOf(statement(sql, [argument('p'), argument('q')]), schemaOf);
  if (found.kind === 'not-understood') return `not understood: ${found.reason}`;
  return found.moments.map((moment) => moment.map((one) => formatAccess(one, formatValue)).join(', ')).join(' then ');
}

test.each([
  ['a row by its key', 'SELECT name FROM users WHERE id = $1', 'read users[p] {id name}'],
  ['by another unique key', 'SELECT name FROM users WHERE email = $1', 'read users[p] {email name}'],
  ['by a constant', "SELECT name FROM users WHERE id = 7 AND name <> 'x'", 'read users[7] {id name}'],
  [
    'by both columns of a key, in any order',
    'SELECT * FROM orders WHERE $2 = n AND user_id = $1',
    'read orders[p, q] {n total user_id}',
  ],
  ['by a part of a key', 'SELECT total FROM orders WHERE user_id = $1', 'read orders[*] {total user_id}'],
  ['by a key in a disjunction', "SELECT name FROM users WHERE id = $1 OR name = 'x'", 'read users[*] {id name}'],
  ['by a list', 'SELECT name FROM users WHERE id IN ($1, $2)', 'read users[p] {id name}, read users[q] {id name}'],
  ['whatever a condition finds', 'SELECT count(*) FROM users WHERE name LIKE $1', 'read users[*] {name}'],
  [
    'through a join',
    'SELECT u.name FROM orders o JOIN users u ON u.id = o.user_id WHERE o.user_id = $1 AND o.n = $2',
    'read orders[p, q] {n user_id}, read users[orders.user_id(p, q)] {id name}',
  ],
  [
    'the kept side of an outer join',
    'SELECT u.name FROM users u LEFT JOIN orders o ON u.id = $1',
    'read users[*] {id name}, read orders[*] {}',
  ],
  [
    'a subquery',
    'SELECT name FROM users WHERE id = $1 AND EXISTS (SELECT 1 FROM orders WHERE total > 5)',
    'read users[p] {id name}, read orders[*] {total}',
  ],
  ['what a driver asks the catalog', 'SELECT oid FROM pg_type JOIN pg_catalog.pg_namespace n ON true', ''],
  ['a lock', 'SELECT name FROM users WHERE id = $1 FOR UPDATE', 'lock users[p] {id name}'],
  [
    'SKIP LOCKED: the rows that it takes, and not which others there are',
    'SELECT id FROM users WHERE name = $1 FOR UPDATE SKIP LOCKED',
    'lock users[some] {id name}',
  ],
  [
    'rows by a subquery with SKIP LOCKED',
    'DELETE FROM orders WHERE (user_id, n) IN (SELECT user_id, n FROM orders LIMIT 2 FOR UPDATE SKIP LOCKED)',
    'lock orders[some] {n user_id} then update orders[some] {n user_id} -> +{n total user_id}',
  ],
  [
    'SKIP LOCKED of shared locks is any condition',
    'SELECT id FROM users WHERE name = $1 FOR SHARE SKIP LOCKED',
    'read users[*] {id name}',
  ],
  ['a shared lock', 'SELECT name FROM users WHERE id = $1 FOR SHARE', 'read users[p] {id name}'],
  [
    'a lock on what a condition finds',
    'SELECT id FROM users WHERE name = $1 FOR UPDATE',
    'read users[*] {id name} then lock users[*] {id name}',
  ],
  [
    'an atomic update',
    'UPDATE orders SET total = total + 1 WHERE user_id = $1 AND n = $2',
    'update orders[p, q] {n total user_id} -> {total}',
  ],
  ['a blind update', 'UPDATE users SET name = $2 WHERE id = $1', 'update users[p] {id} -> {name}'],
  [
    'an update of what a condition finds',
    'UPDATE users SET name = NULL WHERE name = $1',
    'read users[*] {name} then update users[*] {name} -> {name}',
  ],
  [
    'an update by what a subquery reads of the same row',
    'UPDATE users SET name = (SELECT email FROM users WHERE id = $1) WHERE id = $1',
    'read users[p] {email id} then update users[p] {email id} -> {name}',
  ],
  [
    'a delete with its children',
    'DELETE FROM users WHERE id = $1',
    'read orders[*] {user_id} then update users[p] {id} -> +{email id name}, update orders[*] {user_id} -> +{n total user_id}',
  ],
  [
    'an insert under both keys',
    "INSERT INTO users VALUES ($1, $2, 'x')",
    'update users[p] {} -> +{email id name}, update users[q] {} -> +{email id name}',
  ],
  [
    'an insert with its parent',
    'INSERT INTO orders VALUES ($1, $2, 0)',
    'update orders[p, q] {} -> +{n total user_id}, read users[p] {}',
  ],
  ['an insert with a key of a sequence', 'INSERT INTO notes (text) VALUES ($1)', 'update notes[new] {} -> +{id text}'],
  ['a view', 'SELECT * FROM names', 'not understood: names is not a table'],
  [
    'a WITH that writes',
    'WITH d AS (DELETE FROM notes RETURNING id) SELECT * FROM d',
    'not understood: a WITH that writes',
  ],
  ['a function with effects', 'SELECT pg_advisory_xact_lock($1)', 'not understood: the function pg_advisory_xact_lock'],
  ['a function that the schema does not have', 'SELECT transfer($1)', notBuiltIn('transfer')],
  ['a function of rows', 'SELECT * FROM transfer($1)', notBuiltIn('transfer')],
  ['a function beside a column', 'SELECT id, debit(id) FROM users WHERE id = $1', notBuiltIn('debit')],
  ['a function in a value', "INSERT INTO users VALUES ($1, app.lower($2), 'x')", notBuiltIn('lower')],
  ['an own form of a function that is built in', 'SELECT abs($1)', notBuiltIn('abs')],
  [
    'functions that are built in or of an extension',
    "UPDATE users SET name = upper($2) || pg_catalog.lower('X') || uuid_generate_v4() WHERE id = $1",
    'update users[p] {id} -> {name}',
  ],
  [
    'what is no statement of rows',
    'LOCK TABLE users',
    'not understood: LOCK is neither SELECT, INSERT, UPDATE nor DELETE',
  ],
  ['a syntax error', 'SELEC 1', 'not understood: syntax error at or near "SELEC"'],
])('%s', (_name, sql, text) => expect(accesses(sql)).toBe(text));

test.each([
  ['names without regard to case', 'SELECT Name FROM users WHERE ID = ?', 'all: read users[p] {id name}'],
  [
    'a database that the schema does not create',
    'SELECT name FROM app.users WHERE id = ?',
    'all: read users[p] {id name}',
  ],
  ['a list, which one ? may be', 'SELECT name FROM users WHERE id IN (?)', 'all: read users[*] {id name}'],
  [
    'LIMIT of an UPDATE, and what changes with the row',
    'UPDATE users SET Name = ? WHERE id = ? LIMIT 1',
    'none: update users[q] {id} -> {changed name}',
  ],
  [
    'rows that are looked at one by one',
    "UPDATE users SET name = ? WHERE id IN (1, 2) AND email <> 'x'",
    'none: read users[1] {email id}, read users[2] {email id} then update users[1] {email id} -> {changed name}, update users[2] {email id} -> {changed name}',
  ],
  [
    'what FOR UPDATE locks, and a subquery that it does not',
    'SELECT name FROM users WHERE id = ? AND EXISTS (SELECT 1 FROM orders WHERE n = 1) FOR UPDATE',
    'some: read orders[*] {n} then lock users[p] {id name}',
  ],
  ['FOR SHARE', 'SELECT name FROM users WHERE id = ? LOCK IN SHARE MODE', 'none: read users[p] {id name}'],
  [
    'REPLACE, which deletes what is in the way',
    "REPLACE INTO users (id, email) VALUES (?, 'x')",
    "none: read orders[*] {user_id}, read users[p] {}, read users['x'] {} then update users[p] {} -> +{changed email id name}, update users['x'] {} -> +{changed email id name}, update orders[*] {user_id} -> +{n total user_id}",
  ],
  ['a function that is not built in', 'UPDATE users SET name = next_name(?) WHERE id = ?', notBuiltIn('next_name')],
  [
    'functions that are built in',
    "SELECT COALESCE(name, UPPER(email), IF(id = 1, 'a', SUBSTRING('b', 1))), COUNT(*) FROM users WHERE id = ?",
    'all: read users[p] {email id name}',
  ],
  ['a lock by name', "SELECT get_lock('a', 1)", 'not understood: the function get_lock'],
])("MySQL's %s", (_, sql, expected) => {
  const found = accessesOf(statement(sql, [argument('p'), argument('q')]), mysqlTables);
  const view = found.kind === 'understood' ? `${found.readsSnapshot}: ` : '';
  expect(`${view}${accesses(sql, mysqlTables)}`).toBe(expected);
});

test.each([
  ['numbers that the library binds', '$2 OFFSET $3', [argument('p'), '1', 0], true],
  ['none', '0', [argument('p')], false],
  ['as many as an argument says', '$2', [argument('p'), argument('n')], false],
  ['those behind the first', '1 OFFSET $2', [argument('p'), 1], false],
])('LIMIT of a SELECT by key, %s: may it leave out the row?', (_which, limit, parameters, findsOneRow) => {
  const sql = `SELECT name FROM users WHERE (id = $1 AND 1=1) LIMIT ${limit}`;
  expect(accessesOf(statement(sql, parameters), tables)).toMatchObject({
    findsOneRow,
    moments: [[{ row: { kind: 'key' }, mayMiss: false }]],
  });
});

test.each(['2=1', '$2 = 1', 'NULL = NULL', "'a' <> 'a'", 'false'])('a condition that may be false: %s', (condition) => {
  const read = statement(`SELECT name FROM users WHERE id = $1 AND ${condition}`, [argument('p'), argument('q')]);
  expect(accessesOf(read, tables)).toMatchObject({ moments: [[{ mayMiss: true }]] });
});
