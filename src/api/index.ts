/** The front door: what a program under test and its tests import. The parts are `moirai/history`, `/isolation`, `/mockdb`, `/program`;
 * the SQL database is `moirai/sql`. */
export {
  forEveryChoice,
  forEveryChoiceAsync,
  formatInputError,
  InputError,
  seeded,
  type Chooser,
  type Place,
} from '../base/index.ts';
export {
  formatFailure,
  formatResult,
  testProgram,
  type CampaignOptions,
  type CampaignResult,
  type Failure,
} from '../campaign/index.ts';
export { explore, type ExploreOptions, type ExploreResult } from '../explore/index.ts';
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
} from '../history/index.ts';
export { checkHistory as check, strongestLevelOf as strongestLevel, type CheckOptions } from '../check/index.ts';
export {
  certify,
  explain,
  isolationLevels,
  summarize,
  type IsolationLevel,
  type Levels,
  type Verdict,
} from '../isolation/index.ts';
export { mockDatabase, type MockDatabase } from '../mockdb/index.ts';
export {
  program,
  SerializationFailure,
  sqlProgram,
  type End,
  type Program,
  type ProgramDefinition,
  type SessionHandle,
  type SqlConnection,
  type SqlEnd,
  type SqlProgram,
  type SqlProgramDefinition,
  type TransactionHandle,
} from '../program/index.ts';
export { formatSessions } from '../report/index.ts';
