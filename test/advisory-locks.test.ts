/** Locks by key against real servers: random schedules in lock-step, who waits and what comes of each statement. MOIRAI_HEAVY=1: 2,000 each. */
import { afterAll, expect, test } from 'vitest';
import {
  followSteps,
  moiraiFollower,
  randomSteps,
  realMariadb,
  realPostgres,
  type StatementFollower,
} from './support/advisory-schedules.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);
const seeds = { first: 20_000, count: process.env['MOIRAI_HEAVY'] === '1' ? 2_000 : 25 };

afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
});

test.skipIf(postgres === undefined)('PostgreSQL', { timeout: 6_000_000 }, async () => {
  expect(await comparedWaits('postgres', await realPostgres(postgres?.port ?? 0))).toBeGreaterThan(0);
});

test.skipIf(mariadb === undefined)('MariaDB', { timeout: 6_000_000 }, async () => {
  expect(await comparedWaits('mysql', await realMariadb(mariadb?.port ?? 0))).toBeGreaterThan(0);
});

/** How many statements waited, on both sides alike. */
async function comparedWaits(dialect: 'postgres' | 'mysql', server: StatementFollower): Promise<number> {
  const moirai = await moiraiFollower(dialect);
  let waits = 0;
  for (let seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
    const steps = randomSteps(dialect, seed);
    const real = await followSteps(steps, server);
    expect(await followSteps(steps, moirai), `seed ${seed}`).toEqual(real);
    waits += real.filter((line) => line.endsWith('-> ')).length;
  }
  await server.close();
  await moirai.close();
  return waits;
}
