export {
  has,
  membersOf,
  minus,
  namedSet,
  plus,
  sizeOf,
  type Member,
  type Members,
  type NamedSet,
} from './named-set.ts';
export {
  flag,
  listOf,
  mapOf,
  memberOf,
  memberOrNone,
  oneOf,
  range,
  record,
  setOf,
  type Cell,
  type Kind,
  type ValueOf,
} from './kind.ts';
export { channel, type Channel, type ChannelOptions } from './channel.ts';
export { message, type Message } from './message.ts';
export {
  checkShape,
  observe,
  processes,
  protocol,
  shared,
  step,
  type AnyProcess,
  type Condition,
  type Crashing,
  type MessageDeclaration,
  type Observation,
  type Observed,
  type Parameters,
  type Processes,
  type ProcessesDeclaration,
  type ProcessesSpec,
  type Protocol,
  type ProtocolParts,
  type Self,
  type Shared,
  type SharedDeclaration,
  type Step,
  type Steps,
  type Variables,
} from './spec.ts';
export {
  checkProtocol,
  checkProtocolYielding,
  checkProtocolOn,
  searchThreadOf,
  simulateProtocol,
  type ProtocolCheckOptions,
  type ProtocolCheckResult,
} from './check-protocol.ts';
export { compile, CRASHED, type Model } from './model.ts';
export { ProtocolFault } from './protocol-fault.ts';
export { search, type Checkpoint, type Progress, type SearchOptions, type SearchResult } from './search.ts';
export type { Violation } from './violation.ts';
export type { SimulateOptions } from './simulate.ts';
export type { SearchThread } from './parallel-search.ts';
export type { SearchMessage, SearchReport } from './search-worker.ts';
export { formatMermaid, formatSvg, sentAt } from './trace-diagram.ts';
export { itfOf } from './trace-itf.ts';
export { formatLanes, formatSteps, titleOf } from './trace-text.ts';
export type { StateValues, Trace, TraceMessage, TraceStep } from './trace.ts';
