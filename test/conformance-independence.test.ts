/**
 * The reduced run of `npm run conformance -- independence`: statements that `explore` takes for independent, in both orders on each real server. A
 * campaign: `npm run conformance -- independence --pairs 10000 --seed 7`.
 */
import { expect, test } from 'vitest';
import { checkIndependence, findDependence } from '../conformance/independence.ts';
import { randomSchedule } from '../conformance/random-schedule.ts';
import { runSchedule, type Schedule } from '../conformance/schedule.ts';
import { withServer } from '../conformance/servers.ts';
import { seeded } from '../src/base/index.ts';
import { MissingServer, serversAreRequired } from './support/server-process.ts';

const statement = (session: number, sql: string) => ({ session, sql, form: sql.split(' ', 1).join('') });

test.each(['postgres', 'mysql'] as const)('%s: the same in both orders', { timeout: 300_000 }, async (dialect) => {
  const dependent: Schedule = {
    dialect,
    setUp: ['create table t (id int primary key, v int)', 'insert into t values (1, 0)'],
    levels: ['read committed', 'read committed'],
    steps: [statement(0, 'update t set v = 1 where id = 1'), statement(1, 'select v from t where id = 1')],
    queries: ['select * from t'],
  };
  try {
    await withServer(dialect, async (real) => {
      const theirs = await runSchedule(dependent, real);
      expect(await findDependence(dependent, 0, theirs, real)).toMatchObject({ at: 0 });
      expect(await checkIndependence(dependent, real)).toMatchObject({ pairs: 0, leftOut: 'no independent pair' });
      let pairs = 0;
      for (let number = 0; pairs < 10; number += 1) {
        const result = await checkIndependence(randomSchedule(seeded(4, number), dialect), real);
        expect(result.dependences).toEqual([]);
        pairs += result.pairs;
      }
    });
  } catch (error) {
    if (!(error instanceof MissingServer) || serversAreRequired()) throw error;
  }
});
