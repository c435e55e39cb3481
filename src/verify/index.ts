export { conclusionOfTrace, cutText } from './conclude-trace.ts';
export { engines, mechanismsFor, mechanismsOf, type MechanismsOptions, parseMechanisms } from './engines.ts';
export type { Certifier, ConsistentRead, MechanismName, Mechanisms } from './mechanisms.ts';
export { OperationTable } from './operation-table.ts';
export { Pipeline, type PipelineCounts, type PipelineOptions } from './pipeline.ts';
export { Verifier, type VerifierOptions } from './verifier.ts';
export type { VerifierCounts } from './mirror.ts';
export type { Evidence, Violation } from './violation.ts';
export {
  type SmallViolation,
  type TraceResult,
  type TraceState,
  TraceVerification,
  type TraceVerificationOptions,
} from './verify-trace.ts';
export { readTraces } from './read-traces.ts';
