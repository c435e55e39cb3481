/** SQL programs that decide by randomness or time are refused, always, by test and by explore, with the source named; one that hands such values on is run. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../src/program/index.ts';
import { onMysql, onPostgres } from '../src/sql-program/engines.test-support.ts';
import { exploreSql } from '../src/explore/sql/index.ts';
import { parseProfile } from '../src/database/index.ts';
import { runSqlCampaign } from '../src/campaign/sql/index.ts';

const profile = parseProfile({ engine: 'postgres' });

function writing(value: () => unknown, sessions: readonly string[] = ['a', 'b']): SqlProgram {
  const write = (c: SqlConnection) =>
    onPostgres(c, async (client) => {
      await client.query('UPDATE t SET v = $1', [value()]);
      return (await client.query('SELECT now(), random()')).rows;
    });
  return sqlProgram({
    dialect: 'postgres',
    schema: "CREATE TABLE t (v text); INSERT INTO t VALUES ('')",
    sessions: Object.fromEntries(sessions.map((name) => [name, write])),
    invariant: () => true,
  });
}

test.each([
  ['Math.random that decides', () => (Math.random() < 0.5 ? 1 : 2), 'Math.random in session "a"'],
  ['a random that is almost never seen', () => Math.random() < 1e-9, 'Math.random in session "a"'],
  ['Date.now', () => (Date.now() < Date.UTC(2030, 0, 1) ? 'open' : 'closed'), 'Date.now in session "a"'],
  ['the day of the week', () => new Date().getDay(), 'new Date() in session "a"'],
  ['a UUID', () => randomUUID() < '8', 'crypto.randomUUID in session "a"'],
])('%s is refused, also of one session alone', async (_name, value, cause) => {
  for (const tested of [writing(value), writing(value, ['a'])]) {
    const refused = { code: 'program/nondeterministic', message: expect.stringContaining(cause) as unknown };
    await expect(runSqlCampaign(tested, { profile })).rejects.toMatchObject(refused);
    await expect(exploreSql(tested, { profile })).rejects.toMatchObject(refused);
  }
});

test.each([
  ['Math.random', () => Math.random(), 'Math.random'],
  ['Date.now', () => Date.now(), 'Date.now'],
  ['new Date', () => new Date().toISOString(), 'new Date()'],
  ['a UUID', () => randomUUID(), 'crypto.randomUUID'],
])('%s in a parameter is the same in every run, and the verdict names it', async (_name, value, source) => {
  const assumed = ['a', 'b'].map(
    (session) => `with other values of ${source} in session "${session}" the program would do the same`,
  );
  const campaign = await runSqlCampaign(writing(value), { profile, runs: 5 });
  expect(campaign).toMatchObject({ runs: 5, violations: 0 });
  expect(campaign.evidence.assumed).toEqual(expect.arrayContaining(assumed));
  const found = await exploreSql(writing(value), { profile });
  expect(found).toMatchObject({ complete: true, violations: 0, histories: 2 });
  expect(found.evidence.assumed).toEqual(expect.arrayContaining(assumed));
});

test('a word of random letters is handed on, also where a row comes back with it', async () => {
  const bytes = (): Uint8Array => crypto.getRandomValues(new Uint8Array(64));
  const word = (): string =>
    String.fromCodePoint(
      ...bytes()
        .subarray(0, 32)
        .map((byte) => 97 + (byte % 26)),
    );
  const insert = (c: SqlConnection) =>
    onPostgres(c, async (client) => {
      await client.query('INSERT INTO t (v) VALUES ($1)', [word()]);
      return (await client.query('SELECT v FROM t ORDER BY id')).rowCount;
    });
  const schema = 'CREATE TABLE t (id serial PRIMARY KEY, v text UNIQUE)';
  const tested = sqlProgram({ dialect: 'postgres', schema, sessions: { a: insert, b: insert } });
  expect(await exploreSql(tested, { profile })).toMatchObject({ complete: true, violations: 0 });
});

test('a variable of the module that outlives a run is refused', async () => {
  let count = 0;
  const refused = { code: 'program/nondeterministic', message: expect.stringContaining('outlives a run') as unknown };
  const tested = writing(() => (count += 1));
  await expect(runSqlCampaign(tested, { profile })).rejects.toMatchObject(refused);
  await expect(exploreSql(tested, { profile })).rejects.toMatchObject(refused);
});

test('what the database draws, its time, and values that change nothing are no fault', async () => {
  let log = '';
  const tested = writing(() => {
    log = `${Date.now()} ${Math.random()}`;
    return 'same';
  });
  expect(await runSqlCampaign(tested, { profile, runs: 3 })).toMatchObject({ runs: 3, violations: 0 });
  expect(await exploreSql(tested, { profile })).toMatchObject({ complete: true, violations: 0 });
  expect(log).not.toBe('');
});

test('what a schema draws, each run draws with its own seed', async () => {
  const drawn = new Set<unknown>();
  const read = (c: SqlConnection) =>
    onPostgres(
      c,
      async (client) => drawn.add((await client.query<{ v: number }>('SELECT v FROM t')).rows[0]?.v).size > 0,
    );
  const schema = 'CREATE TABLE t (v float); INSERT INTO t VALUES (random())';
  const tested = sqlProgram({ dialect: 'postgres', schema, sessions: { a: read, b: read }, invariant: () => true });
  expect(await runSqlCampaign(tested, { profile, runs: 3 })).toMatchObject({ runs: 3, violations: 0 });
  expect(drawn.size).toBe(3);
});

test('nor is what drivers do for themselves', async () => {
  const add = (c: SqlConnection) => onMysql(c, (client) => client.execute('UPDATE t SET n = n + ?', [1]));
  const tested = sqlProgram({
    dialect: 'mysql',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: { a: add, b: add },
    invariant: () => true,
  });
  const mysql = parseProfile({ engine: 'mysql' });
  expect(await runSqlCampaign(tested, { profile: mysql, runs: 3 })).toMatchObject({ runs: 3, violations: 0 });
  expect(await exploreSql(tested, { profile: mysql })).toMatchObject({ complete: true, violations: 0 });
});

/** `b` does something only where it read what `a` wrote, or only where it did not: one of the two is not in the first run. */
function conditional(when: 'seen' | 'unseen', returned: () => unknown): SqlProgram {
  return sqlProgram({
    dialect: 'postgres',
    schema: "CREATE TABLE t (v text); INSERT INTO t VALUES ('')",
    sessions: {
      a: (c) => onPostgres(c, (client) => client.query("UPDATE t SET v = 'a'")),
      b: (c) =>
        onPostgres(c, async (client) => {
          const { rows } = await client.query<{ v: string }>('SELECT v FROM t');
          return (rows[0]?.v === 'a') === (when === 'seen') ? returned() : null;
        }),
    },
    invariant: ({ results }) => results['b'] === null || typeof results['b'] === 'number' || 'b returned a text',
  });
}

test.each(['seen', 'unseen'] as const)('a source that only some runs call (%s) is refused', async (when) => {
  const refused = {
    code: 'program/nondeterministic',
    message: expect.stringContaining('Math.random in session "b"') as unknown,
  };
  const tested = conditional(when, () => (Math.random() < 0.5 ? 1 : null));
  await expect(runSqlCampaign(tested, { profile })).rejects.toMatchObject(refused);
  await expect(exploreSql(tested, { profile })).rejects.toMatchObject(refused);
});

test.each(['seen', 'unseen'] as const)(
  'a failing run (%s) that does not do the same again is refused',
  async (when) => {
    const refused = { code: 'program/nondeterministic', message: expect.stringContaining('outlives a run') as unknown };
    let count = 0;
    const tested = conditional(when, () => `call ${(count += 1)}`);
    await expect(runSqlCampaign(tested, { profile })).rejects.toMatchObject(refused);
    await expect(exploreSql(tested, { profile })).rejects.toMatchObject(refused);
  },
);

/** Two sessions that insert two rows each with keys of their own making, then do this. */
function ordering(
  key: () => string,
  then: (client: Parameters<Parameters<typeof onPostgres>[1]>[0]) => unknown,
): SqlProgram {
  const session = (c: SqlConnection) =>
    onPostgres(c, async (client) => {
      for (const item of ['x', 'y']) await client.query('INSERT INTO orders VALUES ($1, $2)', [key(), item]);
      return await then(client);
    });
  return sqlProgram({
    dialect: 'postgres',
    schema:
      'CREATE TABLE orders (id text PRIMARY KEY, item text); CREATE TABLE shelves (n int PRIMARY KEY, used boolean); ' +
      'INSERT INTO shelves SELECT n, false FROM generate_series(0, 999) n',
    sessions: { a: session, b: session },
    invariant: () => true,
  });
}

const inOrder = 'SELECT id, item FROM orders ORDER BY id';

test.each([
  ['UUIDs', () => randomUUID()],
  ['words', () => Math.random().toString(36).slice(2, 10)],
])('keys that are %s may decide the order of rows, which is returned', async (_name, key) => {
  const campaign = await runSqlCampaign(
    ordering(key, async (client) => (await client.query(inOrder)).rows as unknown),
    { profile, runs: 2 },
  );
  expect(campaign).toMatchObject({ runs: 2, violations: 0 });
});

test.each<[string, Parameters<typeof ordering>[1]]>([
  ['which row comes first', async (client) => (await client.query<{ item: string }>(inOrder)).rows[0]?.item],
  [
    'which row is changed that was there',
    (client) => client.query('UPDATE shelves SET used = true WHERE n = $1', [Math.floor(Math.random() * 1_000)]),
  ],
])('not so %s', async (_name, then) => {
  const refused = { code: 'program/nondeterministic' };
  const tested = ordering(() => randomUUID(), then);
  await expect(runSqlCampaign(tested, { profile, runs: 5 })).rejects.toMatchObject(refused);
});

test('what ORMs write into comments counts for nothing', async () => {
  let requests = 0;
  const session = (c: SqlConnection) =>
    onPostgres(c, async (client) => {
      requests += 1;
      await client.query(`UPDATE t SET n = n + 1 /* request ${requests} */ WHERE n >= 0 -- ${requests}`);
    });
  const tested = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: { a: session, b: session },
    invariant: () => true,
  });
  const explored = await exploreSql(tested, { profile });
  expect(explored).toMatchObject({ complete: true, violations: 0, outcomes: 1 });
  expect(explored.evidence.assumed).toEqual([]);
});
