/** What the invariant of a witness says. */
import { expect, test } from 'vitest';
import { openSqlDatabase, parseProfile } from '../database/index.ts';
import { connectTo } from '../serve/index.ts';
import { prepareSchema } from '../sql-program/index.ts';
import type { WitnessDefinition } from './witness-definition.ts';
import { witnessProgram } from './witness-program.ts';

test('of a state that no session left: no session is named', async () => {
  const definition: WitnessDefinition = {
    dialect: 'postgres',
    schema: ['CREATE TABLE t (id int PRIMARY KEY)'],
    sessions: ['a', 'b'].map((name) => {
      return { name, scope: 'one transaction', level: 'read committed', arguments: {}, steps: [], guards: [] };
    }),
    state: ['SELECT * FROM t'],
    ignored: [],
    compared: 'state and writes',
  };
  const aborted = { end: 'aborted', saw: [], wrote: [], decided: [], isRefused: false };
  const says = async (schema: readonly string[]): Promise<unknown> => {
    const database = await openSqlDatabase({ profile: parseProfile({ engine: 'postgres' }) });
    await prepareSchema(database, schema);
    database.start();
    const connection = { name: 'invariant', connect: () => connectTo(database), sometimes: () => {} };
    return await witnessProgram(definition).invariant({ ...connection, results: { a: aborted, b: aborted } });
  };
  expect(await says(definition.schema)).toBe(true);
  expect(await says([...definition.schema, 'INSERT INTO t VALUES (1)'])).toBe(
    'no session committed, and the final state is not the one before them',
  );
});
