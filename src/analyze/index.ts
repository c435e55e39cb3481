/** `moirai analyze`: from an application to the transactions that can go wrong, the weakest safe level of each, and the smallest change. */
export { analysisReport, type AnalysisReport } from './analysis-report.ts';
export { formatAnalysis, participants, type AnalysisText } from './analysis-text.ts';
export { type ChangedUnits, unitsOfChange } from './changed-units.ts';
export { type Change, changeText } from './changes.ts';
export { analysisJson } from './analysis-json.ts';
export { analysisSarif, type SarifOptions } from './analysis-sarif.ts';
export { analyze, type Analysis, type AnalyzeOptions, type TransactionReport } from './analyze.ts';
export type { Anomaly, Fix } from './anomaly.ts';
export type { Arguments } from './run-steps.ts';
export type { NotUnderstoodPlace } from './transactions.ts';
export type {
  Abort,
  AnyStep,
  Application,
  Branch,
  CodeRange,
  Dialect,
  EntryName,
  EntryParameter,
  ExportedFunction,
  Loop,
  NotUnderstood,
  Place,
  Return,
  RollbackToSavepoint,
  Savepoint,
  Statement,
  Step,
  Transaction,
  Unit,
  UnitEntry,
  UnitStep,
  UnknownValue,
  Value,
} from './application.ts';
export {
  abort,
  application,
  type ApplicationDefinition,
  argument,
  branch,
  column,
  element,
  expression,
  isApplication,
  loop,
  type Operand,
  statement,
  transaction,
} from './builder.ts';
export {
  type Explored,
  type Explorer,
  exploringHere,
  exploringIn,
  exploringJobs,
  type WitnessJob,
} from './explore-witness.ts';
export { formatApplication, type FormatOptions, formatValue } from './format-application.ts';
export type { ApplicationCode, CallOutcome, UnitCall } from './code/application-code.ts';
export type { Difference } from './code/compare-statements.ts';
export type { AnomalyRun, CodeReport, UnitRun } from './code/code-report.ts';
export { runCode, type RunCodeOptions } from './code/run-code.ts';
export { formatProgram, programFileName } from './program-text.ts';
export type { AnomalyKind, WitnessDefinition, WitnessSession } from './witness-definition.ts';
export { witnessProgram } from './witness-program.ts';
export { sourceEdits } from './patch/source-edits.ts';
export { unifiedPatch } from './patch/unified-patch.ts';
export { type SourceOptions, applicationFromSource } from './source/application-from-source.ts';
export { applicationFromTraffic } from './traffic/application-from-traffic.ts';
export { sessionOfConnection, trafficOfProgram } from './traffic/program-traffic.ts';
export { RanTransactions } from './traffic/ran-transactions.ts';
export { trafficText } from './traffic/traffic-text.ts';
