export { copyValue, canonicalText, isEmptyList, sameValue, type Key, type Value } from './value.ts';
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
export { nameOf } from './read-sources.ts';
export {
  relationsOf,
  type AmbiguousRead,
  type ExternalRead,
  type ReadPhenomenon,
  type Relations,
  type RelationsOptions,
} from './relations.ts';
export { checkSum, checkedSum, withEndLine, sumText } from './end-sum.ts';
export { formatHistory, parseHistory } from './notation.ts';
export { formatHistoryLines, parseHistoryLines } from './json-lines.ts';
export { type TransactionDetails, CompactHistoryBuilder } from './compact-builder.ts';
export { compactOf, historyOf, listOf, subHistory } from './compact-convert.ts';
export {
  fromUnrecorded,
  operationKind,
  placeOf,
  sessionLists,
  statusCode,
  statuses,
  type CompactHistory,
  type Lists,
  type SessionLists,
} from './compact-history.ts';
export { CutHistoryError, decodeLast } from './cut-history.ts';
export { withoutOperations } from './without-operations.ts';
export type { HistoryFormat, HistorySource } from './formats/format.ts';
export { Float64Column, Int32Column, Uint8Column } from './growing-column.ts';
export { JsonLinesScanner, scanHistoryLines, type ScannerOptions } from './json-lines-scanner.ts';
export type { HistoryNames } from './history-names.ts';
export { BinaryHistoryReader, isBinaryHistory, writeBinaryHistory } from './binary-history.ts';
export { detectFormat, folderFormat, formatNamed, formatOfName, historyFormats } from './formats/formats.ts';
export { historyFormatNames, readHistory, type ReadHistoryOptions, writeHistory } from './formats/read-history.ts';
export {
  closeBrace,
  closeBracket,
  colon,
  comma,
  dot,
  isAt,
  lineFeed,
  literals,
  minus,
  nine,
  openBrace,
  openBracket,
  plainStringEnd,
  skipSpace,
  zero,
} from './json-bytes.ts';
export { scanJsonLine } from './json-text.ts';
export { type LineFields, type LineValues, type RefuseField, kindText, lineValues } from './line-fields.ts';
export { LineScanner, fieldPositions } from './line-scanner.ts';
export { transactionFields } from './transaction-line.ts';
