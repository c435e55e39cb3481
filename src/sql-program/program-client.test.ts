/** The two clients of PostgreSQL: without the bytes of the protocol, statements come to what they come to with them. */
import { expect, test } from 'vitest';
import { openSqlDatabase, parseProfile, type StatementEvent } from '../database/index.ts';
import { connectTo, queriesOf } from '../serve/index.ts';
import { PostgresClient, PostgresQueries, type ProgramClient, RefusedStatement } from './program-client.ts';

type Sent = readonly [sql: string, ...parameters: readonly unknown[]];

async function answered(client: ProgramClient, statements: readonly Sent[]): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const [sql, ...parameters] of statements) {
    const answer = client.query(sql, parameters).catch((error: unknown) => {
      if (!(error instanceof RefusedStatement)) throw error;
      return { code: error.code, message: error.message };
    });
    answers.push(await answer);
  }
  client.end();
  return answers;
}

/** What the client is answered, what is reported of the statements, and what moirai lacked. */
async function ranBy(how: 'stream' | 'queries', statements: readonly Sent[]): Promise<readonly unknown[]> {
  const profile = parseProfile({ engine: 'postgres', isolation: 'read committed' });
  const database = await openSqlDatabase({ profile, settle: null, pauses: false });
  database.start();
  const reported: unknown[] = [];
  const onStatement = ({ sql, parameters, command, rows, rowCount, error, isStep }: StatementEvent): void =>
    void reported.push([sql, parameters, command, rows, rowCount, error?.code, isStep]);
  const client =
    how === 'stream'
      ? await PostgresClient.connect(connectTo(database, { onStatement }))
      : new PostgresQueries(queriesOf(database, 'app', { onStatement }));
  const answers = await answered(client, statements);
  const lacked = database.unsupported.list.map(({ statement, reason }) => ({ statement, reason }));
  database.close();
  return [answers, reported, lacked];
}

const table: Sent = [
  `CREATE TABLE t (id int PRIMARY KEY, n numeric(8, 2), f float8, b boolean, s text, at timestamp, j jsonb, bytes bytea, list int[])`,
];
const insert = 'INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)';
const full: Sent = [insert, 1, 12.5, 0.1, true, "it's", '2020-04-10', { a: [1] }, '\\xff00', [1, null, 2]];

test.each<[string, readonly Sent[]]>([
  ['values of all kinds', [table, full, [insert, -2, ...Array(8).fill(null)], ['SELECT * FROM t ORDER BY id']]],
  [
    'counts',
    [
      table,
      full,
      ['UPDATE t SET n = n + $1', 1],
      ['SELECT id, id AS id FROM t'],
      ['INSERT INTO t (id) VALUES (5), (6) RETURNING id, s'],
      ['DELETE FROM t WHERE id > $1', 4],
      ['SELECT count(*) FROM t WHERE id = ANY($1)', [1, 2]],
      ['TRUNCATE t'],
      [''],
    ],
  ],
  ['a constraint', [table, full, full, ['SELECT s FROM t']]],
  [
    'errors in a transaction',
    [table, ['BEGIN'], ['SELECT * FROM nowhere'], ['SELECT 1'], ['ROLLBACK'], ['SELECT count(*) FROM t']],
  ],
  [
    'values that cannot be read',
    [table, ['BEGIN'], ['SELECT * FROM t WHERE id = $1', 'x'], ['COMMIT'], ['SELECT $1::text', 'a\0b'], ['SELECT 1']],
  ],
  ['values of another number', [['SELECT $1::int', 1, 2], ['SELECT $1::int'], ['SELECT 1; SELECT 2']]],
  ['what cannot be read and what is not supported', [['SELEC 1'], ['SELECT xmlparse(content $1)', 'x'], ['SELECT 1']]],
  ['settings', [['SET lock_timeout = 1000'], ['SHOW lock_timeout'], ['SELECT current_user, current_database()']]],
])('%s', async (_, statements) => {
  const byStream = await ranBy('stream', statements);
  expect(await ranBy('queries', statements)).toEqual(byStream);
});

test('a client that ends in a transaction rolls it back', async () => {
  const counts = async (how: 'stream' | 'queries'): Promise<unknown> => {
    const profile = parseProfile({ engine: 'postgres', isolation: 'read committed' });
    const database = await openSqlDatabase({ profile, settle: null, pauses: false });
    database.start();
    const clientOf = async (): Promise<ProgramClient> =>
      how === 'stream'
        ? PostgresClient.connect(connectTo(database))
        : new PostgresQueries(queriesOf(database, 'app', {}));
    await answered(await clientOf(), [table, ['BEGIN'], full]);
    const after = await answered(await clientOf(), [['SELECT count(*) FROM t']]);
    database.close();
    return after;
  };
  const byStream = await counts('stream');
  expect(byStream).toEqual([{ rows: [{ count: 0 }], count: 1 }]);
  expect(await counts('queries')).toEqual(byStream);
});
