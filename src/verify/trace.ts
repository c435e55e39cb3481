export {
  type Condition,
  emptyHeader,
  formatImage,
  formatTime,
  imageOf,
  integerMark,
  operationKinds,
  type PredicateRead,
  type RowImage,
  type RowValue,
  type Scalar,
  scalarOf,
  type TraceHeader,
  type TraceOperation,
  type TraceOperationKind,
  unknownMark,
} from '../history/trace.ts';
export { formatTraceHeader, formatTraceLine } from '../history/trace-record.ts';
