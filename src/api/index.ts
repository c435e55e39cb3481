/**
 * `moirai`: the everyday names. Programs, many random runs of them, every history of them, and the check of a history.
 *
 * The rest has entry points of its own: `moirai/sql` (SQL databases and programs), `moirai/serve`, `moirai/check`, `moirai/history`,
 * `moirai/isolation`, `moirai/verify` (traces of live databases), `moirai/record` and `moirai/recording`, `moirai/report`, `moirai/mockdb`,
 * `moirai/program`, `moirai/explore`, `moirai/protocol`, `moirai/states`, `moirai/analyze`.
 *
 * @example
 * ```ts
 * import { check, explore, parseHistory, program, type SessionHandle, strongestLevel } from 'moirai';
 *
 * const increment = (session: SessionHandle) => session.transaction(async (t) => t.write('x', (await t.read('x')) + 1));
 * const counter = program({
 *   initial: { x: 0 },
 *   sessions: { a: increment, b: increment },
 *   invariant: ({ final }) => final['x'] === 2,
 * });
 * console.log((await explore(counter, { level: 'prefix' })).counterexample?.anomaly);
 * // prints: lost-update
 * const lostUpdate = parseHistory('r x _, w x 1\nr x _, w x 2');
 * console.log(strongestLevel(lostUpdate), check(lostUpdate, 'serializable').kind);
 * // prints: prefix violated
 * ```
 * @module
 */
export { formatInputError, InputError, type Place } from '../base/index.ts';
export { certify, check, explain, strongestLevel, summarize, type CheckOptions, type Verdict } from './check.ts';
export { explore, formatExploration, type ExploreOptions, type ExploreResult } from './explore.ts';
export {
  formatHistory,
  formatHistoryLines,
  parseHistory,
  parseHistoryLines,
  type History,
  type Key,
  type Operation,
  type Transaction,
  type Value,
} from './history.ts';
export { isolationLevels, type IsolationLevel, type Levels } from './isolation.ts';
export {
  forEveryChoice,
  forEveryChoiceAsync,
  mockDatabase,
  seeded,
  type Chooser,
  type MockDatabase,
  type MockDatabaseOptions,
} from './mockdb.ts';
export {
  formatFailure,
  formatResult,
  program,
  SerializationFailure,
  sqlProgram,
  testProgram,
  type CampaignOptions,
  type CampaignResult,
  type End,
  type Failure,
  type Program,
  type ProgramDefinition,
  type SessionHandle,
  type SqlConnection,
  type SqlEnd,
  type SqlProgram,
  type SqlProgramDefinition,
  type TestProgramOptions,
  type TransactionHandle,
} from './program.ts';
export { formatSessions } from './report.ts';
