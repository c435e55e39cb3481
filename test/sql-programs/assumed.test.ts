/** A green verdict names the index by which a server is assumed to read, where another way would lock or remember other rows. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../../src/program/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import { onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { exploreSql } from '../../src/explore/sql/explore-sql.ts';
import { runSqlCampaign } from '../../src/campaign/sql/sql-campaign.ts';

const schema =
  'CREATE TABLE accounts (id int PRIMARY KEY, owner int, n int); CREATE INDEX accounts_owner ON accounts (owner); INSERT INTO accounts VALUES (1, 7, 0)';

const read = 'SELECT n FROM accounts WHERE id = 1';
const onKey: SqlProgram = sqlProgram({
  dialect: 'postgres',
  schema,
  sessions: {
    a: (c) => onPostgres(c, (client) => client.query(read)),
    b: (c) => onPostgres(c, (client) => client.query(read)),
  },
  invariant: () => true,
});

const refusals = 'PostgreSQL at serializable answers 40001 no more often than moirai, although it locks whole pages';

test.each([
  ['read committed', []],
  ['serializable', ['the server reads accounts by index accounts_pkey, and in no other way', refusals]],
])('PostgreSQL, %s', async (isolation, assumed) => {
  const profile = parseProfile({ engine: 'postgres', isolation });
  const explored = await exploreSql(onKey, { profile });
  expect(explored.evidence.assumed).toEqual(assumed);
  expect((await runSqlCampaign(onKey, { profile, runs: 5 })).evidence.assumed).toEqual(assumed);
  expect(explored.accesses.map(({ statement }) => statement)).toEqual(assumed.length === 0 ? [] : [read]);
});

test('InnoDB: what is locked by a secondary index, not what the invariant reads', async () => {
  const program = sqlProgram({
    dialect: 'mysql',
    schema,
    sessions: {
      a: (c) => onMysql(c, (client) => client.query('UPDATE accounts SET n = 1 WHERE owner = 7')),
      b: (c) => onMysql(c, (client) => client.query('UPDATE accounts SET n = 2 WHERE id = 1')),
    },
    invariant: (end) =>
      onMysql(end, async (client) => {
        await client.query('SELECT n FROM accounts WHERE owner > 1 FOR UPDATE');
        return true;
      }),
  });
  const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: 'mysql' }) });
  expect(evidence.assumed).toEqual(['the server reads accounts by index accounts_owner, and in no other way']);
});

/** What is assumed of the rows of `statements`, which session a sends. */
async function assumedOf(
  statements: readonly string[],
  invariant = 'SELECT count(*) FROM accounts',
): Promise<string[]> {
  const program = sqlProgram({
    dialect: 'postgres',
    schema: `${schema}, (2, 7, 0), (3, 8, 0)`,
    sessions: {
      a: (c) =>
        onPostgres(c, async (client) => {
          for (const text of statements) await client.query(text);
        }),
      b: (c) => onPostgres(c, (client) => client.query('UPDATE accounts SET n = 1 WHERE id = 1')),
    },
    invariant: (end) => onPostgres(end, async (client) => (await client.query(invariant)).rows.length > 0),
  });
  const explored = await exploreSql(program, { profile: parseProfile({ engine: 'postgres' }) });
  const campaign = await runSqlCampaign(program, { profile: parseProfile({ engine: 'postgres' }), runs: 3 });
  expect(campaign.evidence.assumed).toEqual(explored.evidence.assumed);
  return [...explored.evidence.assumed];
}

const order = 'with its rows in another order (it has no ORDER BY) the program would do the same: ';
const limit = 'with other rows for its LIMIT (it has no ORDER BY) the program would do the same: ';

test.each([
  ['SELECT id FROM accounts', [order]],
  ['SELECT DISTINCT owner FROM accounts', [order]],
  ['SELECT id FROM accounts UNION SELECT 7', [order]],
  ['SELECT id FROM accounts LIMIT 1', [limit]],
  ['SELECT id FROM accounts WHERE owner = 7 LIMIT 1 FOR UPDATE SKIP LOCKED', [limit]],
  ['DELETE FROM accounts WHERE id IN (SELECT id FROM accounts WHERE owner = 7 LIMIT 1)', [limit]],
  ['UPDATE accounts SET n = 2 WHERE id = (SELECT id FROM accounts LIMIT 1 FOR UPDATE)', [limit]],
])('what SQL leaves open is named: %s', async (statement, clauses) => {
  expect(await assumedOf([statement])).toEqual(clauses.map((clause) => clause + statement));
});

test.each([
  'SELECT id FROM accounts ORDER BY id',
  'SELECT id FROM accounts WHERE owner = 8',
  'SELECT id FROM accounts ORDER BY id LIMIT 1',
  'SELECT id FROM accounts WHERE id = 2 LIMIT 1',
  'SELECT id FROM accounts LIMIT 10 OFFSET 2',
  'SELECT count(*), sum(n) FROM accounts LIMIT 1',
  'SELECT 1 FROM accounts LIMIT 1',
  'SELECT EXISTS (SELECT id FROM accounts)',
  'SELECT n FROM accounts WHERE id IN (SELECT id FROM accounts) ORDER BY n',
  'VALUES (1), (2)',
])('what SQL does not leave open, or what makes no difference, is not: %s', async (statement) => {
  expect(await assumedOf([statement])).toEqual([]);
});

test('a statement is named once, whatever its literals, and so is one of the invariant', async () => {
  const statements = ['SELECT  id FROM accounts\n WHERE n < 10', 'SELECT id FROM accounts WHERE n < 20'];
  expect(await assumedOf(statements, 'SELECT n FROM accounts')).toEqual([
    `${order}SELECT id FROM accounts WHERE n < 10`,
    `${order}SELECT n FROM accounts`,
  ]);
});

const numbered = 'CREATE TABLE jobs (id serial PRIMARY KEY, account int)';
const mysqlNumbered = 'CREATE TABLE jobs (id int AUTO_INCREMENT PRIMARY KEY, account int)';

test.each([
  ['postgres', 'INSERT INTO jobs (account) SELECT id FROM accounts', true],
  ['postgres', 'INSERT INTO jobs (account) SELECT id FROM accounts ORDER BY id', false],
  ['postgres', 'INSERT INTO jobs (id, account) SELECT id + 10, id FROM accounts', false],
  ['postgres', 'INSERT INTO jobs (account) SELECT id FROM accounts WHERE id = 1', false],
  ['mysql', 'INSERT INTO jobs (account) SELECT id FROM accounts', true],
  ['mysql', 'INSERT INTO jobs (account) SELECT id FROM accounts ORDER BY id', false],
] as const)('%s: the order in which rows get numbers: %s', async (dialect, statement, isOpen) => {
  const on = dialect === 'mysql' ? onMysql : onPostgres;
  const run = (c: SqlConnection, sql: string) =>
    on(c, (client: { query(sql: string): Promise<unknown> }) => client.query(sql));
  const program = sqlProgram({
    dialect,
    schema: `${dialect === 'mysql' ? mysqlNumbered : numbered}; ${schema}, (2, 7, 0), (3, 8, 0)`,
    sessions: { a: (c) => run(c, statement), b: (c) => run(c, 'UPDATE accounts SET n = 1 WHERE id = 1') },
    invariant: () => true,
  });
  const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: dialect }) });
  expect(evidence.assumed.filter((clause) => clause.startsWith(order))).toEqual(isOpen ? [order + statement] : []);
});

test('MySQL: UPDATE and DELETE with LIMIT, and SHOW, which says its order itself', async () => {
  const one = 'DELETE FROM accounts WHERE id = 3 LIMIT 1';
  const many = 'UPDATE accounts SET n = 1 WHERE owner = 7 LIMIT 1';
  const program = sqlProgram({
    dialect: 'mysql',
    schema: `${schema}, (2, 7, 0), (3, 8, 0)`,
    sessions: {
      a: (c) =>
        onMysql(c, async (client) => {
          for (const text of [one, 'SHOW COLUMNS FROM accounts', many]) await client.query(text);
        }),
      b: (c) => onMysql(c, (client) => client.query('UPDATE accounts SET n = 2 WHERE id = 1')),
    },
    invariant: () => true,
  });
  const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: 'mysql' }) });
  expect(evidence.assumed.filter((clause) => !clause.startsWith('the server reads'))).toEqual([limit + many]);
});

test.each([
  ['of its sessions by their own choice', 'read committed', 'BEGIN ISOLATION LEVEL SERIALIZABLE', [refusals]],
  [
    'of none: the schema and what the profile gives do not count',
    'serializable',
    'BEGIN ISOLATION LEVEL REPEATABLE READ',
    [],
  ],
])(
  'what PostgreSQL refuses and moirai does not is named where a transaction is serializable: %s',
  async (_, isolation, begin, assumed) => {
    const session = (c: SqlConnection): Promise<unknown> =>
      onPostgres(c, async (client) => {
        for (const text of [begin, read, 'COMMIT']) await client.query(text);
      });
    const program = sqlProgram({
      dialect: 'postgres',
      schema,
      sessions: { a: session, b: session },
      invariant: () => true,
    });
    const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: 'postgres', isolation }) });
    expect(evidence.assumed.filter((clause) => clause.includes('40001'))).toEqual(assumed);
  },
);

/** Seen on MariaDB 10.11: with rows of 7,000 bytes, of which a page holds two, the second is the victim; with small ones the first. */
test('InnoDB: any transaction that may be the lightest of a deadlock is its victim, and none is assumed', async () => {
  const victims = { explored: new Set<string>(), drawn: new Set<string>() };
  const program = (seen: Set<string>) => {
    const session =
      (name: string, texts: readonly string[]) =>
      (c: SqlConnection): Promise<unknown> =>
        onMysql(c, async (client) => {
          const attempt = async (): Promise<void> => {
            for (const text of ['BEGIN', ...texts, 'COMMIT']) await client.query(text);
          };
          await attempt().catch(async ({ errno }: { readonly errno?: number }) => {
            if (errno === 1213) seen.add(name);
            await attempt();
          });
        });
    const write = (id: number): string => `UPDATE accounts SET n = n + 1 WHERE id = ${id}`;
    return sqlProgram({
      dialect: 'mysql',
      schema: `${schema}, (2, 8, 0), (3, 8, 0), (9, 8, 0)`,
      sessions: {
        a: session('a', ['SELECT id FROM accounts WHERE id IN (1, 2, 3) FOR UPDATE', write(9)]),
        b: session('b', [write(9), write(1)]),
      },
      invariant: () => true,
    });
  };
  const profile = parseProfile({ engine: 'mysql' });
  const explored = await exploreSql(program(victims.explored), { profile });
  expect(explored).toMatchObject({ violations: 0, complete: true });
  const tested = await runSqlCampaign(program(victims.drawn), { profile, runs: 60 });
  for (const { assumed } of [explored.evidence, tested.evidence])
    expect(assumed.filter((clause) => clause.includes('deadlock'))).toEqual([]);
  for (const seen of Object.values(victims)) expect([...seen].toSorted()).toEqual(['a', 'b']);
});

const pages = 'no page of an InnoDB index begins with a locked row before which another session inserts';

/** Seen on MariaDB 10.11: `UPDATE ... WHERE id = 30` locks the gap before 30 where that is the first row of its page. */
test.each<[string, readonly number[], readonly string[]]>([
  ['repeatable read', [5], [pages]],
  ['repeatable read', [10], []],
  ['read committed', [5], []],
  // The search for 7 waits for the session that has inserted it.
  ['repeatable read', [7, 5], [pages]],
])('InnoDB at %s, insertions of %j: a page that begins with a locked row is named', async (isolation, ids, assumed) => {
  const session =
    (texts: readonly string[]) =>
    (c: SqlConnection): Promise<unknown> =>
      onMysql(c, async (client) => {
        for (const text of ['BEGIN', ...texts, 'COMMIT']) await client.query(text);
      });
  const program = sqlProgram({
    dialect: 'mysql',
    schema: `${schema}, (9, 8, 0)`,
    sessions: {
      a: session([`UPDATE accounts SET n = 1 WHERE id = ${ids.length > 1 ? 7 : 9}`]),
      b: session(ids.map((id) => `INSERT INTO accounts VALUES (${id}, 8, 0)`)),
    },
    invariant: () => true,
  });
  const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: 'mysql', isolation }) });
  expect(evidence.assumed.filter((clause) => clause.includes('page'))).toEqual(assumed);
});

const clock = "SQL's clock hardly moves while the sessions run: nothing expires between two statements";

test.each<['postgres' | 'mysql', string, string, readonly string[]]>([
  ['postgres', '', 'UPDATE t SET at = now() WHERE at < now()', [clock]],
  ['postgres', '', "UPDATE t SET at = clock_timestamp() + interval '1 day'", [clock]],
  ['postgres', '', 'SELECT id FROM t WHERE at::date = current_date', [clock]],
  ['postgres', '', "SELECT id FROM t WHERE at < 'now'", [clock]],
  ['postgres', '', 'INSERT INTO t (id) VALUES (DEFAULT)', [clock]],
  ['postgres', '; INSERT INTO t (id) VALUES (DEFAULT)', 'UPDATE t SET id = id + 2', []],
  ['postgres', '', "UPDATE t SET at = at + interval '1 day' WHERE at < '2026-01-01'", []],
  ['mysql', '', 'UPDATE t SET at = NOW()', [clock]],
  ['mysql', '', 'SELECT id FROM t WHERE at < CURDATE()', [clock]],
  ['mysql', '', 'UPDATE t SET id = UNIX_TIMESTAMP()', [clock]],
  ['mysql', '', 'INSERT INTO t (id) VALUES (NULL)', [clock]],
  ['mysql', '; INSERT INTO t (id) VALUES (NULL)', 'UPDATE t SET id = id + 2', []],
])('%s%s, %s: is the clock named?', async (dialect, more, statement, assumed) => {
  const id = { postgres: 'serial', mysql: 'INT PRIMARY KEY AUTO_INCREMENT' }[dialect];
  const on = { postgres: onPostgres, mysql: onMysql }[dialect];
  const session = (c: SqlConnection): Promise<unknown> => on(c, (client: Client) => client.query(statement));
  const program = sqlProgram({
    dialect,
    schema: `CREATE TABLE t (id ${id}, at timestamp DEFAULT CURRENT_TIMESTAMP); INSERT INTO t VALUES (100, '2026-01-01')${more}`,
    sessions: { a: session, b: session },
    invariant: () => true,
  });
  const profile = parseProfile({ engine: dialect, isolation: 'read committed' });
  const isOfClock = (clause: string): boolean => clause.includes('clock');
  expect((await exploreSql(program, { profile })).evidence.assumed.filter(isOfClock)).toEqual(assumed);
  expect((await runSqlCampaign(program, { profile, runs: 3 })).evidence.assumed.filter(isOfClock)).toEqual(assumed);
});

interface Client {
  query(sql: string): Promise<unknown>;
}

test('a moment that a driver has cut to milliseconds is no longer the stored one', async () => {
  const touch = (c: SqlConnection): Promise<number | null> =>
    onPostgres(c, async (client) => {
      const { rows } = await client.query<{ at: Date }>('SELECT at FROM t');
      const { rowCount } = await client.query('UPDATE t SET at = now() WHERE at = $1', [rows[0]?.at]);
      return rowCount;
    });
  const program = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (at timestamptz DEFAULT now()); INSERT INTO t VALUES (DEFAULT)',
    sessions: { a: touch, b: touch },
    invariant: ({ results }) => results['a'] === 0 && results['b'] === 0,
  });
  const profile = parseProfile({ engine: 'postgres' });
  expect((await exploreSql(program, { profile })).violations).toBe(0);
  expect((await runSqlCampaign(program, { profile, runs: 5 })).violations).toBe(0);
});

/** Both sessions do `work` after one statement that meets nothing of the other. */
function inOneProcess(
  work: (query: (sql: string) => Promise<{ rows: { n: number }[] }>) => Promise<unknown>,
): SqlProgram {
  const session = (c: SqlConnection): Promise<unknown> =>
    onPostgres(c, async (client) => {
      await client.query(read);
      return work((sql) => client.query(sql));
    });
  return sqlProgram({
    dialect: 'postgres',
    schema,
    sessions: { a: session, b: session },
    invariant: (end) => onPostgres(end, async (client) => (await client.query(read)).rows[0].n <= 2),
  });
}

const inMemory = (session: string, what: string): string =>
  `the sessions run in one process, where session "${session}" ${what}`;

test('a lock in the memory of the process is named, and every order of its holders is explored', async () => {
  let held = Promise.resolve<unknown>(null);
  const program = inOneProcess((query) => {
    const increment = async (): Promise<void> => {
      const { n = 0 } = (await query(read)).rows[0] ?? {};
      await query(`UPDATE accounts SET n = ${n + 1}`);
    };
    held = held.then(increment);
    return held;
  });
  const explored = await exploreSql(program, { profile: parseProfile({ engine: 'postgres' }) });
  const assumed = [inMemory('a', 'awaits another'), inMemory('b', 'awaits another')];
  expect(explored).toMatchObject({ violations: 0, complete: true, evidence: { assumed } });
  const campaign = await runSqlCampaign(program, { profile: parseProfile({ engine: 'postgres' }), runs: 4 });
  expect(campaign.evidence.assumed).toEqual(assumed);
  expect(explored.schedules).toBeGreaterThan(1);
});

test('so is a variable that another session changes', async () => {
  let isRunning = false;
  const program = inOneProcess(async (query) => {
    if (isRunning) return;
    isRunning = true;
    await query('UPDATE accounts SET n = n + 1');
    isRunning = false;
  });
  const explored = await exploreSql(program, { profile: parseProfile({ engine: 'postgres' }) });
  const assumed = ['a', 'b'].map((session) => inMemory(session, 'looks at memory that another changes'));
  expect(explored).toMatchObject({ violations: 0, complete: true, evidence: { assumed } });
});

test('what a session finds in memory is looked for in the schedules that only swap independent steps', async () => {
  let isDone = false;
  const program = sqlProgram({
    dialect: 'postgres',
    schema: `${schema}; CREATE TABLE others (n int)`,
    sessions: {
      a: (c) =>
        onPostgres(c, async (client) => {
          await client.query(read);
          if (isDone) await client.query('UPDATE accounts SET n = -1');
        }),
      b: (c) =>
        onPostgres(c, async (client) => {
          isDone = false;
          await client.query('INSERT INTO others VALUES (1)');
          isDone = true;
          await client.query('INSERT INTO others VALUES (2)');
        }),
    },
    invariant: (end) => onPostgres(end, async (client) => (await client.query(read)).rows[0].n === 0),
  });
  const { violations } = await exploreSql(program, { profile: parseProfile({ engine: 'postgres' }) });
  expect(violations).toBeGreaterThan(0);
});

test('a connection that a session opens past moirai is named, however fast it ends', async () => {
  const program = inOneProcess(async (query) => {
    await query(read);
    await new Promise((resolve) => connect({ host: '127.0.0.1', port: 1 }).on('error', resolve).on('connect', resolve));
    await query('UPDATE accounts SET n = n + 1');
  });
  const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: 'postgres' }) });
  expect(evidence.assumed).toEqual(
    expect.arrayContaining(
      ['a', 'b'].map((session) => `what net.connect in session "${session}" reaches is no part of the program`),
    ),
  );
});
