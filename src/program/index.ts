export {
  checkProgram,
  looksElsewhere,
  program,
  type End,
  type InvariantResult,
  type Program,
  type ProgramDefinition,
  type SessionFunction,
  type SessionHandle,
  type TransactionHandle,
} from './program.ts';
export { SerializationFailure, type Store, type StoreTransaction } from './store.ts';
export { runProgram, type RunOptions, type RunOutcome } from './run.ts';
export { endOf, errorText, judge, type InvariantVerdict } from './invariant.ts';
export { countMarks, mark, type Marks } from './marks.ts';
export {
  isSqlProgram,
  sqlProgram,
  type SqlConnection,
  type SqlEnd,
  type SqlProgram,
  type SqlProgramDefinition,
  type SqlSessionFunction,
} from './sql-program.ts';
