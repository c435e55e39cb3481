export { AnswerTally } from './answer-tally.ts';
export { InvariantKeys, type KeysSeen } from './invariant-keys.ts';
export { LeftBehind } from './left-behind.ts';
export { JudgedAgain, type SeenEnd } from './judged-again.ts';
export { changesOf, inTurn, longTexts, mentionedIn, type Mentioned, withChange } from './changed-values.ts';
export { canJudgeAgain, isRepeatable } from './invariant-text.ts';
export { type Judgement, judgementOf, type JudgingLimits, judgingMs } from './judgement.ts';
export { isSessionNameFault, observed, resultsOf } from './observed-names.ts';
export {
  checkProgram,
  assumedText,
  assumptionsOf,
  withoutInvariant,
  looksElsewhere,
  program,
  type AnyValue,
  type End,
  type InvariantResult,
  type Program,
  type ProgramDefinition,
  type SessionFunction,
  type SessionHandle,
  type TransactionHandle,
} from './program.ts';
export {
  answerOf,
  compareRun,
  divergenceOf,
  isSameShape,
  openToken,
  sealToken,
  shapeOfKeys,
  stepsOfHistory,
  type Divergence,
  type RecordedRun,
  type Replayed,
  type ReplayedRun,
  type ReplayAnswer,
  type ReplayToken,
} from './recorded-run.ts';
export { replayVerdict, type ReplayVerdict } from './replay-text.ts';
export { SerializationFailure, type Store, type StoreTransaction } from './store.ts';
export { queuedText } from './run-session.ts';
export { requireUsed } from './require-used.ts';
export { type AnsweredStep, looksAtMemoryText, SessionTrees } from './session-trees.ts';
export { SessionTally, type SessionRun } from './session-tally.ts';
export { inOrderOf, runProgram, type RunOptions, type RunOutcome } from './run.ts';
export {
  endOf,
  errorText,
  invariantThrew,
  judge,
  mistakeOf,
  violationOf,
  type InvariantVerdict,
  type JudgeLimits,
} from './invariant.ts';
export { inEveryOrder, ordersOf, type SerialOutcome } from './serial-orders.ts';
export { countMarks, mark, type Marks } from './marks.ts';
export {
  checkSqlProgram,
  isSqlProgram,
  sqlProgram,
  type AnyStream,
  type SqlConnection,
  type SqlEnd,
  type SqlProgram,
  type SqlProgramDefinition,
  type SqlSessionFunction,
} from './sql-program.ts';
export { factsOf, type RunFacts, valueText } from './facts.ts';
export { fact, keyFact, type Fact } from './fact.ts';
export { requireFunctionOfReads, requireNoForcedDifference, type Repeated } from './function-of-reads.ts';
export { ControlledSources } from './controlled-sources.ts';
export { holdTimersOf, passTimeAfter, Trial, watchSources } from './sources.ts';
export { decodePath, encodePath } from './decision-path.ts';
