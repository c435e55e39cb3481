export { copyValue, canonicalText, sameValue, type Key, type Value } from './value.ts';
export {
  defaultId,
  INITIAL,
  type History,
  type Operation,
  type Read,
  type Status,
  type Transaction,
  type TransactionIndex,
  type Write,
} from './history.ts';
export { nameOf, type PlaceOf } from './read-sources.ts';
export {
  relationsOf,
  type ExternalRead,
  type ReadPhenomenon,
  type Relations,
  type RelationsOptions,
} from './relations.ts';
export { formatHistory, parseHistory } from './notation.ts';
export { formatHistoryLines, parseHistoryLines } from './json-lines.ts';
