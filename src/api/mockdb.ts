/**
 * `moirai/mockdb`: a key-value store in memory whose reads return any value that an isolation level permits.
 *
 * Which of the permitted values a read returns is a choice, and choices are passed in: `seeded` draws them, `forEveryChoice` takes each in turn.
 * MonkeyDB (Biswas, Kakwani, Vedurada, Enea and Lal, OOPSLA 2021).
 *
 * @example
 * ```ts
 * import { forEveryChoice, mockDatabase } from 'moirai/mockdb';
 *
 * const seen = new Set<unknown>();
 * forEveryChoice((chooser) => {
 *   const database = mockDatabase({ level: 'causal', initial: new Map([['x', 0]]), chooser });
 *   const writer = database.begin(0);
 *   writer.write('x', 1);
 *   writer.commit();
 *   seen.add(database.begin(1).read('x')); // a causal store may show the old value
 * });
 * console.log([...seen].sort().join());
 * // prints: 0,1
 * ```
 * @module
 */
import type { Chooser } from '../base/index.ts';
import type { IsolationLevel } from '../isolation/index.ts';
import {
  mockDatabase as openMockDatabase,
  type MockDatabase as Database,
  type MockDatabaseOptions as DatabaseOptions,
  type StrategyName,
} from '../mockdb/index.ts';
import type { StoreTransaction } from '../program/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';

export { forEveryChoice, forEveryChoiceAsync, seeded, type Chooser } from '../base/index.ts';
export { constrainingLevels, type ConstrainingLevel } from '../isolation/index.ts';
export { type Attempt, strategyNames, type StrategyName } from '../mockdb/index.ts';
export type { StoreTransaction } from '../program/index.ts';

/** What a mock database is opened with. */
export interface MockDatabaseOptions extends DatabaseOptions {
  /** Decides what is left open: which write a read sees, which commit fails. */
  readonly chooser: Chooser;
  /** How a read weighs the values that it may return. Default `uniform`. */
  readonly strategy?: StrategyName;
  /** The share of commits that fail although they could succeed, from 0 to below 1. Default 0. */
  readonly abortRate?: number;
}

const databaseOptions: OptionKinds<MockDatabaseOptions> = {
  abortRate: 'number',
  chooser: 'chooser!',
  initial: 'map',
  level: 'string!',
  sessionNames: 'list',
  strategy: 'string',
};

/** A key-value store. Sessions are numbers from 0; transactions of different sessions may be open at the same time. */
export interface MockDatabase
  extends Pick<Database, 'history' | 'attempts' | 'finalState' | 'commitOrder' | 'observedState' | 'keys'> {
  /**
   * Begins a transaction at `level`, or at the database's own.
   * @throws InputError `level/unknown`
   */
  begin(session: number, level?: IsolationLevel): StoreTransaction;
}

/**
 * Opens an empty mock database.
 * @throws InputError `level/unknown` where the level is none of `constrainingLevels`
 */
export function mockDatabase(options: MockDatabaseOptions): MockDatabase {
  requireOptions('mockDatabase', options, databaseOptions);
  return openMockDatabase(options);
}
