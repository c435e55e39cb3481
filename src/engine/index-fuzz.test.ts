/** Every index read equals a read of the whole table: after every step of random statements. MOIRAI_HEAVY=1: 100,000 steps an engine. */
import { expect, test } from 'vitest';
import { mysqlTable, table } from './engine.test-support.ts';
import { fuzzIndexes, type FuzzedEngine } from './index-fuzz.test-support.ts';
import { innodbStorage } from './innodb/storage.ts';
import { postgresStorage } from './postgres/storage.ts';

const runs = process.env['MOIRAI_HEAVY'] === '1' ? 1000 : 30;
const stepsOfRun = 100;

const engines: Record<string, FuzzedEngine> = {
  InnoDB: {
    storage: innodbStorage,
    shape: mysqlTable,
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
    undoesStatements: true,
  },
  PostgreSQL: {
    storage: postgresStorage,
    shape: table,
    levels: ['read committed', 'repeatable read', 'serializable'],
    undoesStatements: false,
  },
};

test.each(Object.entries(engines))(
  `%s: an index has the rows of its table, seeds 1 to ${runs}`,
  { timeout: 600_000 },
  (_name, engine) => {
    for (let seed = 1; seed <= runs; seed++) expect(fuzzIndexes(engine, seed, stepsOfRun)).toBeNull();
  },
);
