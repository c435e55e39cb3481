/**
 * Whatever a real server comes to with its own timing is among what exploring its profile comes to: every mistake and fix, at every level.
 * A few runs of each; with MOIRAI_HEAVY=1 a thousand, and a line for each: runs, outcomes explored, of those shown, others shown.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { engineLevels } from '../src/serve/index.ts';
import type { Dialect } from '../src/sql-campaign/engines.test-support.ts';
import { exploreSql, parseProfile } from '../src/sql-campaign/index.ts';
import { type Mistake, mistakes, programOf } from './support/engine-mistakes.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';
import { type Lane, mariadbLane, postgresLane, timedOutcomes } from './support/timed-runs.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const runs = Number(process.env['MOIRAI_TIMED_RUNS'] ?? (isHeavy ? 1_000 : 15));
const lanesCount = isHeavy ? 4 : 2;

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);

const engines = [
  {
    name: 'PostgreSQL',
    dialect: 'postgres',
    server: postgres,
    open: postgresLane,
  },
  {
    name: 'MariaDB',
    dialect: 'mysql',
    server: mariadb,
    open: mariadbLane,
  },
] as const;

afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
});

describe.each(engines)('$name', ({ name, dialect, server, open }) => {
  test.skipIf(server === undefined).each(engineLevels[dialect])('%s', { timeout: 3_600_000 }, async (isolation) => {
    if (server === undefined) return;
    const lanes = await Promise.all(
      Array.from({ length: lanesCount }, (_, lane): Promise<Lane> => open(server.port, lane, isolation)),
    );
    const unexplored: string[] = [];
    for (const mistake of mistakes) {
      const explored = await exploredOutcomes(mistake, dialect, isolation);
      const shown = await timedOutcomes(mistake, lanes, { runs, seed: 1 });
      const others = [...shown.keys()].filter((outcome) => !explored.has(outcome));
      const figures = [name, isolation, mistake.name, runs, explored.size, shown.size, others.length];
      if (isHeavy) process.stdout.write(`| ${figures.join(' | ')} |\n`);
      unexplored.push(...others.map((outcome) => `${mistake.name} (${shown.get(outcome)} of ${runs}): ${outcome}`));
    }
    for (const lane of lanes) await lane.close();
    expect(unexplored).toEqual([]);
  });
});

async function exploredOutcomes(mistake: Mistake, engine: Dialect, isolation: string): Promise<ReadonlySet<string>> {
  const outcomes = new Set<string>();
  let last = '';
  const program = programOf(mistake, engine, (outcome) => (last = outcome));
  const { complete } = await exploreSql(program, {
    profile: parseProfile({ engine, isolation }),
    onSeen: () => void outcomes.add(last),
  });
  expect(complete).toBe(true);
  return outcomes;
}
