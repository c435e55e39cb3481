import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openSqlDatabase } from '../database/index.ts';
import { SqlError } from '../sql/model/index.ts';
import { conclude } from '../evidence/index.ts';
import { analyze } from './analyze.ts';
import type { AccessedRow } from './access.ts';
import type { Dialect, Statement } from './application.ts';
import { application, argument, column, expression, statement, transaction } from './builder.ts';
import { engineOf } from './engines.ts';
import { readSchema, type Schema } from './schema.ts';
import { accessesOf } from './statement-accesses.ts';

type Constant = string | number | boolean;

const seed = Number(process.env['MOIRAI_SEED'] ?? 31_415);

/** By dialect, types with constants that a server may take for one value. */
const spellings: Readonly<Record<Dialect, Readonly<Record<string, readonly Constant[]>>>> = {
  postgres: {
    int: [1, '1', '01', ' 1 ', '+1', 2, '2', '-0', 0, 1.5],
    bigint: [1, '1', '001', '9007199254740993', '9007199254740992'],
    numeric: [1, '1', '1.0', '1.00', '1e0', 1.5, '1.50'],
    'numeric(6,2)': ['1.001', '1.004', '1.00', 1, 2],
    'char(5)': ['a', 'a ', 'a   ', 'A', ' a'],
    'varchar(5)': ['a', 'a ', 'A', 'abcde', 'abcde '],
    text: ['a', 'a ', 'A', '1', 1, 'true', true],
    uuid: [
      'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
      'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
      '{a0eebc999c0b4ef8bb6d6bb9bd380a11}',
      'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12',
    ],
    boolean: ['t', true, 'yes', 'on', '1', false, 'f', 'no'],
    bytea: ['a', '\\x61', '\\141', 'b'],
    date: ['2024-01-01', '20240101', 'January 1, 2024', '2024-01-01 10:00', '2024-01-02', '1/1/2024', 'today', 'now'],
    timestamp: ['2024-01-01', '2024-01-01 00:00', '2024-01-01 00:00:00.000', '2024-01-01 01:00', '2024-01-01 00:00+01'],
    'timestamp(0)': ['2024-01-01 00:00:00', '2024-01-01 00:00:00.2', '2024-01-01 00:00:01'],
    timestamptz: ['2024-01-01 00:00:00+00', '2024-01-01 01:00:00+01', '2024-01-01 00:00:00'],
    time: ['10:00', '10:00:00', '10 AM', '11:00'],
    real: ['0.1', 0.1, '0.10000000149', '1', 1],
    'double precision': ['0.1', '1e-1', 1, '1.0', 'inf', 'Infinity'],
    'int[]': ['{1}', '{01}', '{ 1 }', '{2}'],
    interval: ['1 day', '24 hours', '1 day 00:00', '2 days'],
  },
  mysql: {
    int: [1, '1', '01', '1x', 2, '2', 1.4],
    'bigint unsigned': [1, '1', 2, '9007199254740993', '9007199254740992'],
    'varchar(10)': ['a', 'A', 'a ', 'á', 'b', 1, '1', '01'],
    'char(5)': ['a', 'A', 'a ', 1, '1'],
    'decimal(6,2)': [1, '1.0', 1.001, '1.004', 2],
    date: ['2024-01-01', '20240101', 20240101, '2024-1-1'],
    year: [99, 1999, '1999', '99', 2000],
    "enum('a','b')": ['a', 'A', 1, 2, 'b'],
    datetime: ['2024-01-01', '2024-01-01 00:00:00', 20240101000000],
    'varbinary(8)': ['a', 'A', 'a '],
    double: [1, '1', 1.0, 0.5],
  },
};

async function tableOf(dialect: Dialect, type: string): Promise<(constant: Constant) => Promise<string>> {
  const database = await openSqlDatabase({ profile: engineOf[dialect].profileAt('read committed'), settle: null });
  const session = database.connect({
    user: 'test',
    database: 'postgres',
    parameters: new Map(),
    onParameter: () => {},
  });
  const run = async (sql: string): Promise<string> => {
    try {
      await session.execute(session.prepare(sql), []);
      return 'ok';
    } catch (error) {
      if (error instanceof SqlError) return error.code;
      throw error;
    }
  };
  await run(`CREATE TABLE k (id ${type} PRIMARY KEY)`);
  return async (constant) => run(`INSERT INTO k VALUES (${literal(constant)})`);
}

/** The row that the statement reads by key. */
function keyOf(read: Statement, tables: Schema): Extract<AccessedRow, { kind: 'key' }> | undefined {
  const found = accessesOf(read, tables);
  const row = found.kind === 'understood' ? found.moments[0]?.[0]?.row : undefined;
  return row?.kind === 'key' ? row : undefined;
}

function literal(constant: Constant): string {
  return typeof constant === 'string' ? `'${constant}'` : String(constant);
}

const duplicate = '23505';
const placeholder: Readonly<Record<Dialect, string>> = { postgres: '$1', mysql: '?' };

describe.each(Object.entries(spellings) as [Dialect, (typeof spellings)[Dialect]][])('%s', (dialect, types) => {
  test.each(Object.entries(types))(
    'constants of %s that analyze takes for different rows are different rows of a unique index',
    async (type, constants) => {
      const tables = await readSchema({ dialect, schema: `CREATE TABLE k (id ${type} PRIMARY KEY, n int)` });
      const pair = fc.tuple(fc.constantFrom(...constants), fc.constantFrom(...constants), fc.boolean());
      await fc.assert(
        fc.asyncProperty(pair, async ([a, b, isBound]) => {
          const [one, other] = [a, b].map((constant) =>
            isBound
              ? keyOf(statement(`SELECT n FROM k WHERE id = ${placeholder[dialect]}`, [constant]), tables)?.constant
              : keyOf(statement(`SELECT n FROM k WHERE id = ${literal(constant)}`), tables)?.constant,
          );
          if (one === null || other === null || one === other) return;
          const insert = await tableOf(dialect, type);
          const first = await insert(a);
          expect([first, await insert(b)], `${String(a)} and ${String(b)}`).not.toEqual(['ok', duplicate]);
        }),
        { seed, numRuns: 60 },
      );
    },
  );
});

/** A lost update where the two statements spell one key in two ways: real servers end at 1. */
test.each<[string, Constant, Constant]>([
  ['int', '01', 1],
  ['uuid', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ['char(5)', 'a', 'a   '],
  ['date', '2024-01-01', '20240101'],
  ['timestamptz', '2024-01-01 00:00:00+00', '2024-01-01 01:00:00+01'],
  ['boolean', 't', true],
  ['bytea', '\\x61', 'a'],
  ['citext', 'a', 'A'],
])('a key of %s that two statements spell as %j and %j is no proof that they are of two rows', async (type, a, b) => {
  const units = {
    f: [
      transaction('f', null, [
        statement(`SELECT n FROM k WHERE id = ${literal(a)}`, [], 'read'),
        statement(`UPDATE k SET n = $1 WHERE id = $2`, [expression('+', column('read', 'n'), 1), b]),
      ]),
    ],
  };
  const schema = `CREATE EXTENSION citext; CREATE TABLE k (id ${type} PRIMARY KEY, n int NOT NULL)`;
  const { evidence } = await analyze(application({ schema, units }), { isolation: 'read committed' });
  expect(conclude(evidence).kind).not.toBe('satisfied');
});

test.each<[Dialect, string, Constant, Constant]>([
  ['postgres', 'int', 1, '02'],
  ['postgres', 'text', 'a', 'A'],
  ['mysql', 'int', 1, 2],
])('%s: keys of %s that no spelling makes one row, %j and %j, are two rows', async (dialect, type, a, b) => {
  const tables = await readSchema({ dialect, schema: `CREATE TABLE k (id ${type} PRIMARY KEY, n int)` });
  const [one, other] = [a, b].map(
    (constant) => keyOf(statement(`SELECT n FROM k WHERE id = ${literal(constant)}`), tables)?.constant,
  );
  expect([one, other]).not.toContain(null);
  expect(one).not.toBe(other);
});

test('a key under a cast names another row than the key itself', async () => {
  const tables = await readSchema({ dialect: 'postgres', schema: 'CREATE TABLE k (id timestamp PRIMARY KEY, n int)' });
  const keys = ['$1', '$1::date', '$1::timestamp'].map((key) =>
    JSON.stringify(keyOf(statement(`SELECT n FROM k WHERE id = ${key}`, [argument('at')]), tables)?.values),
  );
  expect(keys[1]).not.toBe(keys[0]);
  expect(keys[2]).toBe(keys[0]);
});
