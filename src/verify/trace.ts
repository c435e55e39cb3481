export {
  comparisons,
  type Condition,
  emptyHeader,
  formatImage,
  formatTime,
  imageOf,
  operationKinds,
  type PredicateRead,
  type RowImage,
  type RowValue,
  type Scalar,
  type TraceHeader,
  type TraceOperation,
  type TraceOperationKind,
  unknownMark,
} from '../history/trace.ts';
export { formatTraceHeader, formatTraceLine } from '../history/trace-record.ts';
