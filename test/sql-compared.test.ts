/** The same statements here and on a real PostgreSQL: the corpus against its record, and random queries. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../src/base/chooser.ts';
import { startPostgres } from './support/postgres-server.ts';
import { modificationStates, modificationTables, randomModification } from './support/random-modification.ts';
import { QueryMaker, randomQueryTables } from './support/random-query.ts';
import { startedOrSkipped, type TestServer } from './support/server-process.ts';
import answers from './support/sql-corpus.answers.json' with { type: 'json' };
import { corpus, statementsOf } from './support/sql-corpus.ts';
import { type Answer, TestDatabase } from './support/sql-test-database.ts';

const recorded: Readonly<Record<string, readonly unknown[]>> = answers;
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const queries = isHeavy ? 20_000 : 400;
/** Of 25 statements, each with tables of its own. */
const modificationRuns = isHeavy ? 1_000 : 12;

let server: TestServer | undefined;

beforeAll(async () => {
  server = await startedOrSkipped(startPostgres);
});

afterAll(async () => {
  await server?.stop();
});

async function withDatabase(port: number, name: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: name, types: asText });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

const asText: pg.CustomTypesConfig = { getTypeParser: () => (value: unknown) => value };

async function ask(client: pg.Client, sql: string): Promise<Answer> {
  try {
    const { fields, rows, rowCount } = await client.query<(string | null)[]>({ text: sql, rowMode: 'array' });
    return fields.length > 0 ? { columns: fields.map(({ name }) => name), rows } : { count: rowCount ?? 0 };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return { error: error.code ?? '', message: error.message };
  }
}

describe('PostgreSQL', () => {
  test.each(corpus.map((script, i) => [script.name, i, script] as const))(
    '%s: the record is right',
    async (name, i, script) => {
      if (server === undefined) return;
      await withDatabase(server.port, `corpus_${i}`, async (client) => {
        const found: Answer[] = [];
        for (const sql of statementsOf(script)) found.push(await ask(client, sql));
        expect(found).toEqual(recorded[name]);
      });
    },
  );

  test('random queries have the same rows', { timeout: 120_000 }, async () => {
    if (server === undefined) return;
    await withDatabase(server.port, 'random_queries', async (client) => {
      const own = new TestDatabase();
      for (const sql of randomQueryTables) {
        await client.query(sql);
        own.run(sql);
      }
      for (let seed = 1; seed <= queries; seed++) {
        const sql = new QueryMaker(seeded(seed)).query();
        expect({ seed, sql, answer: own.run(sql) }).toEqual({ seed, sql, answer: await ask(client, sql) });
      }
    });
  });

  test('random modifications have the same outcome and leave the same rows', { timeout: 120_000 }, async () => {
    if (server === undefined) return;
    await withDatabase(server.port, 'random_modifications', async (client) => {
      for (let seed = 1; seed <= modificationRuns; seed++) {
        const chooser = seeded(seed);
        const own = new TestDatabase();
        for (const sql of ['DROP TABLE IF EXISTS d, c, p', ...modificationTables]) {
          await client.query(sql);
          own.run(sql);
        }
        for (let step = 0; step < 25; step++) {
          for (const sql of [randomModification(chooser), ...modificationStates]) {
            expect({ seed, step, sql, answer: own.run(sql) }).toEqual({
              seed,
              step,
              sql,
              answer: await ask(client, sql),
            });
          }
        }
      }
    });
  });
});
