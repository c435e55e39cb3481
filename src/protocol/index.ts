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
export { message, type Message } from './message.ts';
export {
  observe,
  processes,
  protocol,
  shared,
  step,
  type Processes,
  type Protocol,
  type ProtocolParts,
  type Self,
  type Step,
} from './spec.ts';
export { compile, type Model } from './model.ts';
export { search, type Progress, type SearchOptions, type SearchResult, type Violation } from './search.ts';
