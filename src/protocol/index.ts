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
export { flag, listOf, mapOf, memberOf, memberOrNone, oneOf, range, record, setOf, type Kind } from './kind.ts';
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
  type Processes,
  type Protocol,
  type ProtocolParts,
  type Self,
  type Step,
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
export { compile, type Model } from './model.ts';
export { ProtocolFault } from './protocol-fault.ts';
export {
  search,
  type Checkpoint,
  type Progress,
  type SearchOptions,
  type SearchResult,
  type Violation,
} from './search.ts';
export type { SearchThread } from './parallel-search.ts';
export type { SearchMessage, SearchReport } from './search-worker.ts';
export { formatMermaid, formatSvg } from './trace-diagram.ts';
export { itfOf } from './trace-itf.ts';
export { formatLanes, formatSteps } from './trace-text.ts';
export type { Trace, TraceMessage, TraceStep } from './trace.ts';
