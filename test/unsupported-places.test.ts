/** Statements that moirai cannot do are listed with the file and line that sent them, where the driver writes within that call. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import { expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../src/program/index.ts';
import { parseProfile } from '../src/database/index.ts';
import { exploreSql } from '../src/explore/sql/index.ts';
import { runSqlCampaign } from '../src/campaign/sql/index.ts';

/** The line of this file that calls this. */
function here(): number {
  const frames = (new Error('here').stack ?? '').split('\n');
  return Number(/:(\d+):\d+\)?$/.exec(frames[2] ?? '')?.[1]);
}

const lines = new Map<string, number>();
const caught = (): null => null;

async function onPostgres({ connect }: SqlConnection, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ user: 'app', stream: connect });
  await client.connect();
  await work(client);
  await client.end();
}

async function onMysql(
  { connect }: SqlConnection,
  work: (client: mysql.Connection) => Promise<unknown>,
): Promise<void> {
  const client = await mysql.createConnection({ user: 'app', stream: connect() });
  await work(client);
  await client.end();
}

const onPg = sqlProgram({
  dialect: 'postgres',
  schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
  sessions: {
    simple: (c) =>
      onPostgres(c, async (client) => {
        await client.query('SELECT n FROM t');
        lines.set('simple', here() + 1);
        await client.query('CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING').catch(caught);
      }),
    extended: (c) =>
      onPostgres(c, async (client) => {
        lines.set('extended', here() + 1);
        await client.query('SELECT count(*) FROM t WHERE n = $1 GROUP BY CUBE (n)', [1]).catch(caught);
      }),
  },
  invariant: () => true,
});

const onMysql2 = sqlProgram({
  dialect: 'mysql',
  schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
  sessions: {
    text: (c) =>
      onMysql(c, async (client) => {
        lines.set('text', here() + 1);
        await client.query('UPDATE IGNORE t SET n = 1').catch(caught);
      }),
    prepared: (c) =>
      onMysql(c, async (client) => {
        lines.set('prepared', here() + 1);
        await client.execute('UPDATE IGNORE t SET n = ?', [1]).catch(caught);
      }),
  },
  invariant: () => true,
});

const runs: [string, (program: SqlProgram) => ReturnType<typeof runSqlCampaign | typeof exploreSql>][] = [
  ['test', (program) => runSqlCampaign(program, { profile: parseProfile({ engine: program.dialect }), runs: 3 })],
  ['explore', (program) => exploreSql(program, { profile: parseProfile({ engine: program.dialect }) })],
];

test.each(
  runs.flatMap(([name, run]) =>
    ([onPg, onMysql2] as const).map((program) => [`${name} on ${program.dialect}`, run, program] as const),
  ),
)('%s', async (_name, run, program) => {
  const { unsupported } = await run(program);
  expect(Object.fromEntries(unsupported.map(({ session, place }) => [session, place]))).toEqual(
    Object.fromEntries(
      program.sessionNames.map((name) => [name, `test/unsupported-places.test.ts:${lines.get(name)}`]),
    ),
  );
});
