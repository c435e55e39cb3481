/** An invariant that looks past what the sessions do, or that passes over an error of its own, shows nothing. */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { conclude, gapText } from '../../src/evidence/index.ts';
import { type SqlConnection, type SqlEnd, type SqlProgram, sqlProgram } from '../../src/program/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import { onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { exploreSql } from '../../src/explore/sql/explore-sql.ts';
import { runSqlCampaign } from '../../src/campaign/sql/sql-campaign.ts';

const schema = [
  'CREATE TABLE accounts (id int PRIMARY KEY, n int)',
  'CREATE TABLE accounts_old (id int PRIMARY KEY, n int)',
  'CREATE TABLE owners (id int PRIMARY KEY)',
  'CREATE TABLE cards (id int PRIMARY KEY, owner int REFERENCES owners ON DELETE CASCADE)',
  'CREATE TABLE marks (card int REFERENCES cards ON DELETE CASCADE)',
  'CREATE VIEW all_accounts AS SELECT * FROM accounts',
  'INSERT INTO accounts VALUES (1, 0); INSERT INTO accounts_old VALUES (1, 0); INSERT INTO owners VALUES (1), (2)',
  'INSERT INTO cards VALUES (1, 2); INSERT INTO marks VALUES (1)',
];

type Invariant = (client: pg.Client, end: SqlEnd<{ a: unknown }>) => Promise<boolean>;

const increment = 'UPDATE accounts SET n = n + 1 WHERE id = 1';

let judgements = 0;

function programOf(statement: string, invariant: Invariant): SqlProgram {
  const session = (c: SqlConnection): Promise<unknown> => onPostgres(c, (client) => client.query(statement));
  return sqlProgram({
    dialect: 'postgres',
    schema,
    sessions: { a: session, b: session },
    // One that writes outside is not judged again.
    invariant: (end) => {
      judgements += 1;
      return onPostgres(end, (client) => invariant(client, end));
    },
  });
}

/** Why nothing is known, or what is taken for granted; of its sessions only what statements say. */
async function saidOf(statement: string, invariant: Invariant): Promise<readonly string[]> {
  judgements = 0;
  const program = programOf(statement, invariant);
  const { evidence } = await runSqlCampaign(program, { profile: parseProfile({ engine: 'postgres' }), runs: 2 });
  const sessions = evidence.sessions.map((each) => ({
    ...each,
    overlapped: true,
    answers: { ...each.answers, hasFound: true },
  }));
  const conclusion = conclude({ ...evidence, sessions });
  if (conclusion.kind === 'unknown') return conclusion.gaps.map(gapText);
  expect(judgements).toBeGreaterThan(1);
  return conclusion.kind === 'satisfied' ? conclusion.assumed : [conclusion.kind];
}

const looking =
  (...statements: string[]): Invariant =>
  async (client) => {
    for (const statement of statements) await client.query(statement);
    return true;
  };

const elsewhere = (table: string): string =>
  `the invariant looks only at ${table}, which no session reads or writes in any run`;
const unwritten = (table: string): string =>
  `the invariant looks only at ${table}, which no session writes: nothing they do can break it`;

test.each<[string, string, string, readonly string[]]>([
  ['a table that no session uses', increment, 'SELECT sum(n) FROM accounts_old', [elsewhere('accounts_old')]],
  ['a table of the sessions', increment, 'SELECT sum(n) FROM accounts', []],
  ['a view of it', increment, 'SELECT sum(n) FROM all_accounts', []],
  ['both', increment, 'SELECT sum(a.n) FROM accounts a JOIN accounts_old o ON a.id = o.id', []],
  ['rows of one of two aggregates', increment, 'SELECT count(*), count(*) FILTER (WHERE n = 9) FROM accounts', []],
  [
    'rows of one of two subqueries',
    increment,
    'SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM accounts WHERE n = 9)',
    [],
  ],
  [
    'rows of one side of a UNION',
    increment,
    'SELECT count(*) FROM accounts WHERE n = 9 UNION ALL SELECT count(*) FROM accounts ORDER BY 1',
    [],
  ],
  ['groups of it', increment, 'SELECT id, count(*) FROM accounts GROUP BY id', []],
  ['no table, and is not judged again', increment, 'SELECT 1', []],
  [
    'what they only read',
    'SELECT n FROM accounts WHERE id = 1',
    'SELECT sum(n) FROM accounts',
    [unwritten('accounts')],
  ],
  ['what they only lock', 'SELECT n FROM accounts FOR UPDATE', 'SELECT 1 FROM accounts', [unwritten('accounts')]],
  ['rows that a cascade deletes', 'DELETE FROM owners WHERE id = 1', 'SELECT count(*) FROM marks', []],
  ['a table after a definition', 'COMMENT ON TABLE accounts IS NULL', 'SELECT count(*) FROM marks', []],
])('the invariant looks at %s', async (_what, statement, look, said) => {
  expect(await saidOf(statement, looking(look))).toEqual(said);
});

test('an invariant that asks for results looks at what sessions do', async () => {
  const invariant: Invariant = async (client, { results }) => {
    await client.query('SELECT n FROM accounts_old');
    return results.a !== null;
  };
  expect(await saidOf(increment, invariant)).toEqual([]);
});

const passesOver =
  (statement: string): Invariant =>
  async (client) => {
    await client.query('SELECT id FROM accounts WHERE id = 1');
    try {
      return (await client.query<{ n: number }>(statement)).rows[0]?.n === 2;
    } catch {
      return true;
    }
  };

test.each([
  ['SELECT balance AS n FROM accounts', '42703 column "balance" does not exist'],
  ["SELECT n FROM accounts WHERE id = 'one'", '22P02 invalid input syntax for type integer: "one"'],
])('an error that the invariant passes over is named: %s', async (statement, failure) => {
  expect(await saidOf(increment, passesOver(statement))).toEqual([
    `the invariant holds although it sent what fails in every run: ${statement}: ${failure}`,
  ]);
});

test('not a constraint that refuses what the invariant tries', async () => {
  expect(await saidOf(increment, passesOver('INSERT INTO accounts VALUES (1, 0)'))).toEqual([]);
});

test('a statement of the invariant whose answer nothing awaits is named', async () => {
  const invariant: Invariant = async (client) => {
    void client.query('SELECT n FROM accounts WHERE id = $1', [1]);
    return true;
  };
  await expect(saidOf(increment, invariant)).rejects.toMatchObject({
    code: 'program/statement-under-way',
    message:
      'the invariant did not await a statement: is an await missing? SELECT n FROM accounts WHERE id = $1: Error: Connection terminated',
  });
});

const noRow = 'SELECT id FROM accounts WHERE id = 7';

test.each<[string, string, string, readonly string[]]>([
  [
    'the invariant finds',
    increment,
    noRow,
    [`the invariant finds no row in any run, and tests that there is none, by: ${noRow}`],
  ],
  ...[
    'SELECT count(*) FROM accounts WHERE n = 9',
    'SELECT coalesce(sum(n), 0)::int AS n FROM all_accounts WHERE id > 9',
    'SELECT max(id) FROM accounts WHERE id > 9',
    'SELECT count(*) FILTER (WHERE n = 9) FROM accounts',
    'SELECT count(DISTINCT id) FILTER (WHERE n = 9), sum(n) FILTER (WHERE n = 8) FROM accounts',
    'SELECT (SELECT count(*) FROM accounts WHERE n = 9) = 0 AS ok',
    'SELECT count(*) FROM accounts WHERE n = 9 UNION ALL SELECT count(*) FROM owners WHERE id = 9 ORDER BY 1',
    'SELECT count(*) FROM accounts WHERE id IN (SELECT id FROM accounts_old WHERE id > 9)',
  ].map((look): [string, string, string, readonly string[]] => [
    'the aggregate of the invariant finds',
    increment,
    look,
    [`the invariant finds no row in any run, and tests that there is none, by: ${look}`],
  ]),
  [
    'a session changes',
    'UPDATE accounts SET n = 1 WHERE id = 7',
    'SELECT id FROM accounts',
    ['a', 'b'].map((name) => `session "${name}" changes no row in any run by: UPDATE accounts SET n = 1 WHERE id = 7`),
  ],
  [
    'the aggregate of a session finds',
    'SELECT count(*) FROM accounts WHERE n = 9',
    'SELECT id FROM accounts',
    [
      unwritten('accounts'),
      ...['a', 'b'].map(
        (name) => `session "${name}" finds no row in any run by: SELECT count(*) FROM accounts WHERE n = 9`,
      ),
    ],
  ],
])('%s no row: that is named', async (_what, statement, look, said) => {
  expect(await saidOf(statement, looking(look))).toEqual(said);
});

const profile = parseProfile({ engine: 'postgres' });
const runsOf = (program: SqlProgram): (() => Promise<{ readonly violations: number }>)[] => [
  () => runSqlCampaign(program, { profile, runs: 5 }),
  () => exploreSql(program, { profile }),
];

test.each<[string, Invariant, string]>([
  [
    'a part of nothing',
    async (client) => (await client.query<{ sum: { n: number } }>('SELECT n FROM accounts')).rows[0]?.sum.n === 2,
    "TypeError: Cannot read properties of undefined (reading 'n')",
  ],
  [
    'a statement that is wrong',
    async (client) => (await client.query('SELECT balance FROM accounts')).rows.length === 1,
    'error: column "balance" does not exist',
  ],
])('an invariant that throws in every run is bad input: %s', async (_what, invariant, error) => {
  for (const run of runsOf(programOf(increment, invariant)))
    await expect(run()).rejects.toMatchObject({
      code: 'program/invariant-threw',
      message: `the invariant throws also when the sessions run one after another: ${error}`,
      cause: expect.any(Error) as unknown,
    });
});

test.each<[string, Invariant]>([
  [
    'only after an interleaving',
    async (client) => {
      const { rows } = await client.query<{ n: number }>('SELECT n FROM accounts WHERE n = 2');
      return (rows[0] as { n: number }).n === 2;
    },
  ],
  [
    'on purpose',
    async (client) => {
      await client.query('SELECT n FROM accounts');
      throw new Error('the books are closed');
    },
  ],
])('an invariant that throws %s finds a violation', async (_when, invariant) => {
  const increments = async (c: SqlConnection): Promise<unknown> =>
    onPostgres(c, async (client) => {
      const { rows } = await client.query<{ n: number }>('SELECT n FROM accounts WHERE id = 1');
      await client.query('UPDATE accounts SET n = $1 WHERE id = 1', [(rows[0]?.n ?? 0) + 1]);
    });
  const program = { ...programOf(increment, invariant), sessions: [increments, increments] };
  for (const run of runsOf(program)) expect((await run()).violations).toBeGreaterThan(0);
});
