/** SQL programs that decide by randomness or time are refused, always, by test and by explore, with the source named; one that hands such values on is run. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../src/program/index.ts';
import { onMysql, onPostgres } from '../src/sql-campaign/engines.test-support.ts';
import { exploreSql, parseProfile, runSqlCampaign } from '../src/sql-campaign/index.ts';

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
