/** The detail of a duplicate key, which ORMs show and parse: the texts are those of PostgreSQL 15 and MariaDB 10.11 (which names the key without its table). */
import { expect, test } from 'vitest';
import { connected, openDatabase } from './sql-session.test-support.ts';

const table =
  'CREATE TABLE u (id int PRIMARY KEY, email varchar(50), "Tag" text, a int, b int, at timestamp, doc jsonb)';
const row = `INSERT INTO u VALUES (1, 'A@x', 't', 1, 2, '2026-01-01 10:00', '{"k": "v"}')`;
const again = `INSERT INTO u VALUES (2, 'a@X', 't', 1, 2, '2026-01-01 10:00', '{"k": "v"}')`;

test.each([
  ['lower(email)', '(lower(email::text))=(a@x)'],
  ['(a + b)', '((a + b))=(3)'],
  ['a, lower(email) DESC, (b * 2)', '(a, lower(email::text), (b * 2))=(1, a@x, 4)'],
  ['(at::date)', '((at::date))=(2026-01-01)'],
  ["(doc ->> 'k')", "((doc ->> 'k'::text))=(v)"],
  ['md5(b::text)', '(md5(b::text))=(c81e728d9d4c2f636f067f89cc14862c)'],
  ['"Tag"', '("Tag")=(t)'],
])('PostgreSQL, an index on %s', async (parts, key) => {
  const database = await openDatabase({ engine: 'postgres' });
  const session = connected(database);
  for (const sql of [table, `CREATE UNIQUE INDEX k ON u (${parts})`, row]) await session.run(sql);
  await expect(session.run(again)).rejects.toMatchObject({ detail: { detail: `Key ${key} already exists.` } });
  await session.run(
    again.replace("'a@X', 't', 1, 2, '2026-01-01 10:00', '{\"k\": \"v\"}'", 'NULL, NULL, NULL, NULL, NULL, NULL'),
  );
  const changed = `UPDATE u SET email = 'A@X', "Tag" = 't', a = 1, b = 2, at = '2026-01-01 10:00', doc = '{"k": "v"}' WHERE id = 2`;
  await expect(session.run(changed)).rejects.toMatchObject({ detail: { detail: `Key ${key} already exists.` } });
  database.close();
});

test('PostgreSQL, the definition of an index has an expression that is no function in brackets', async () => {
  const database = await openDatabase({ engine: 'postgres' });
  const session = connected(database);
  for (const sql of [table, 'CREATE INDEX k ON u (lower(email), (a + b), (at::date))']) await session.run(sql);
  const [definition] = await session.rows(
    "SELECT pg_get_indexdef('k'::regclass), pg_get_indexdef('k'::regclass, 3, true)",
  );
  expect(definition).toEqual([
    'CREATE INDEX k ON public.u USING btree (lower((email)::text), ((a + b)), ((at)::date))',
    '(at::date)',
  ]);
  database.close();
});

test('MySQL, a unique key on the first characters', async () => {
  const database = await openDatabase({ engine: 'mysql' });
  const session = connected(database);
  await session.run('CREATE TABLE u (id int PRIMARY KEY, email varchar(20), UNIQUE KEY k (email(3)))');
  await session.run("INSERT INTO u VALUES (1, 'abcdef')");
  await expect(session.run("INSERT INTO u VALUES (2, 'abczz')")).rejects.toThrow("Duplicate entry 'abc' for key 'u.k'");
  database.close();
});
