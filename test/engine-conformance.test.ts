/**
 * The engine profiles against the engines: the same schedules, step by step, on the storage and on a real server. A few in every run; with
 * MOIRAI_HEAVY=1 campaigns of many.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { begin, mysqlTable, rowsOf, table, withRows, type Level } from '../src/engine/engine.test-support.ts';
import { hermitage, hermitageRows, runScenario } from '../src/engine/hermitage.test-support.ts';
import { innodbStorage } from '../src/engine/innodb/storage.ts';
import { postgresStorage } from '../src/engine/postgres/storage.ts';
import { randomSchedule, seededRandom, shrink } from '../src/engine/random-schedule.test-support.ts';
import { follow, StorageFollower, type Schedule } from '../src/engine/schedule.test-support.ts';
import { mariadbFollower, postgresFollower, type RealServer } from './support/locking-servers.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

interface Engine {
  readonly name: 'postgres' | 'innodb';
  readonly levels: readonly Level[];
  readonly storage: (rows: Schedule['rows'], firstToWake?: 'longest' | 'last') => StorageFollower;
  readonly server: RealServer | undefined;
  /** Random schedules: how many with how many sessions. */
  readonly campaigns: readonly { readonly sessions: number; readonly count: number }[];
}

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);

const engines: readonly Engine[] = [
  {
    name: 'postgres',
    levels: ['read committed', 'repeatable read', 'serializable'],
    // So small an index has one page, and PostgreSQL remembers reads of pages.
    storage: (rows, firstToWake) =>
      new StorageFollower(withRows(postgresStorage({ predicateReads: 'index' }), rows, table), 'postgres', firstToWake),
    server: postgres && (await postgresFollower(postgres.port)),
    campaigns: [
      { sessions: 2, count: isHeavy ? 3000 : 25 },
      { sessions: 3, count: isHeavy ? 1500 : 10 },
    ],
  },
  {
    name: 'innodb',
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
    storage: (rows, firstToWake) => {
      const storage = withRows(innodbStorage(), rows, mysqlTable);
      // As on the server, an old read view keeps delete-marked records: purging takes place at a time of its own there.
      rowsOf(begin(storage, 'repeatable read').statement());
      return new StorageFollower(storage, 'innodb', firstToWake);
    },
    server: mariadb && (await mariadbFollower(mariadb.port)),
    campaigns: [{ sessions: 2, count: isHeavy ? 3000 : 25 }],
  },
];

afterAll(async () => {
  for (const { server } of engines) await server?.close();
  await postgres?.stop();
  await mariadb?.stop();
});

describe.each(engines)('$name', ({ name, levels, storage, server, campaigns }) => {
  test.skipIf(server === undefined).each(hermitage)('Hermitage: $name', { timeout: 60_000 }, async ({ steps }) => {
    for (const level of levels) {
      await server?.prepare({ levels: [], rows: hermitageRows, steps: [] });
      if (server === undefined) return;
      const real = await runScenario(steps, level, server);
      const ours = await runScenario(steps, level, storage(hermitageRows));
      expect({ level, ...ours }).toEqual({ level, ...real });
    }
  });

  test.skipIf(server === undefined).each(campaigns)(
    '$count random schedules of $sessions sessions',
    { timeout: 3_600_000 },
    async ({ sessions, count }) => {
      if (server === undefined) return;
      for (let seed = 1; seed <= count; seed++) {
        const shape = { sessions, steps: 4 + (seed % 12), levels };
        const schedule = randomSchedule(seededRandom(seed), shape);
        if (!(await differs(schedule))) continue;
        const smallest = await shrink(schedule, differs);
        const [ours, theirs] = await both(smallest);
        const where = `${name}, seed ${seed}, ${smallest.levels.join(', ')}`;
        expect([where, ...ours]).toEqual([where, ...theirs]);
      }
    },
  );

  async function both(schedule: Schedule): Promise<[ours: string[], theirs: string[]]> {
    const ours = await follow(schedule, storage(schedule.rows));
    if (server === undefined) return [ours, ours];
    await server.prepare(schedule);
    const theirs = await follow(schedule, server);
    if (ours.join('\n') === theirs.join('\n')) return [ours, theirs];
    const otherwise = await follow(schedule, storage(schedule.rows, 'last'));
    return [otherwise.join('\n') === theirs.join('\n') ? otherwise : ours, theirs];
  }

  /** Three times: which of those that wake at once comes first is not always the same. */
  async function differs(schedule: Schedule): Promise<boolean> {
    for (let i = 0; i < 3; i++) {
      const [ours, theirs] = await both(schedule);
      if (ours.join('\n') === theirs.join('\n')) return false;
    }
    return true;
  }
});
