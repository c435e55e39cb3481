/** One run of a SQL program on the mock database: its sessions, its invariant, and what the run shows. */
export { prepareSchema } from './prepare-schema.ts';
export { conclusionOf, FailureCounts, lateText, mergedEvidence, stoppedText, waitingEvidence } from './run-evidence.ts';
export { shapeOfSql, reasonOf } from './run-steps.ts';
export { type LoggedStatement, formatStatements, outcomeText } from './statement-log.ts';
export { anomalyText } from './anomaly-text.ts';
export { AnswerTree } from './answer-tree.ts';
export { ArrivalMemory, type SavedArrivals } from './arrivals.ts';
export { conclusionLines, toldGap } from './conclusion-text.ts';
export { queriesOfConnection } from './connection-queries.ts';
export { MysqlClient } from './mysql-program-client.ts';
export {
  PostgresClient,
  PostgresQueries,
  type ProgramClient,
  type QueryResult,
  RefusedStatement,
} from './program-client.ts';
export { InvariantTally } from './invariant-tally.ts';
export { ENDS_JUDGED_AGAIN, type RunBesides, judgedAgain } from './judged-again.ts';
export { observeStatements } from './observed-statements.ts';
export { NEW_YEAR, RepeatedRuns, otherTurn, steppingClock } from './repeatable.ts';
export { shown } from './run-facts.ts';
export { SharedBeginning, SharedSchema } from './shared-schema.ts';
export { SerialCheck, serialDecisions } from './serial-check.ts';
export { anomalyOf, evidenceIn, type SqlEvidence } from './sql-evidence.ts';
export { operationsOfStatements } from './statement-operations.ts';
export {
  type FailureKind,
  type Late,
  type SqlRun,
  runSqlProgram,
  sqlRunDefaults,
  waitMsDefault,
} from './sql-run.ts';
export type { SqlRunOptions } from './sql-run-options.ts';
export { decodeChoices, encodeChoices } from './sql-token.ts';
export { UnderWay } from './under-way.ts';
export { UnsupportedOfRuns } from './unsupported-of-runs.ts';
export { checkDialect, checkedRun, schemaFault, seedOf } from './checked-run.ts';
export { answerLines, planLines, type SqlTextOptions } from './failure-text.ts';
export { sqlRunPicture } from './run-picture.ts';
export type { SqlFailure } from './sql-failure.ts';
