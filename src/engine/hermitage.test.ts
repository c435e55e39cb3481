import { describe, expect, test } from 'vitest';
import { mysqlTable, table, withRows, type Level } from './engine.test-support.ts';
import { hermitage, hermitageRows, runScenario } from './hermitage.test-support.ts';
import { innodbStorage } from './innodb/storage.ts';
import { postgresStorage } from './postgres/storage.ts';
import { StorageFollower } from './schedule.test-support.ts';

const engines = [
  {
    engine: 'postgres',
    levels: ['read committed', 'repeatable read', 'serializable'],
    make: () => withRows(postgresStorage(), hermitageRows, table),
  },
  {
    engine: 'innodb',
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
    make: () => withRows(innodbStorage(), hermitageRows, mysqlTable),
  },
] as const;

describe.each(engines)('$engine', ({ engine, levels, make }) => {
  test.each(hermitage)('$name', async ({ steps, hasHappened, [engine]: expected }) => {
    const happens: Level[] = [];
    for (const level of levels) {
      const seen = await runScenario(steps, level, new StorageFollower(make(), engine));
      if (hasHappened(seen)) happens.push(level);
    }
    expect(happens).toEqual(expected);
  });
});
