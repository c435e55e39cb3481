export { TraceClock, isTraceHeader, isTraceMark, parseFields, parseTraceHeader, parseTraceMark } from './line.ts';
export { operationFields } from './operation-fields.ts';
export { mergedTraces } from './merge.ts';
export { TraceReader, type TraceReaderOptions, parseTrace } from './reader.ts';
export {
  type TraceRows,
  formatLastMark,
  formatTraceHeader,
  formatTraceLine,
  formatTraceMark,
  formatTraceRecord,
} from './record.ts';
export {
  type StatementResultKept,
  type StatementValue,
  type TraceStatement,
  formatTraceStatement,
  requireStatements,
} from './statement.ts';
export {
  type Comparison,
  type Condition,
  type PredicateRead,
  type RowImage,
  type RowValue,
  type Scalar,
  type TraceHeader,
  type TraceLock,
  type TraceOperation,
  type TraceOperationKind,
  comparisons,
  emptyHeader,
  formatImage,
  formatTime,
  operationKinds,
  unknownMark,
} from './trace.ts';
