export { formatBinary, parseBinary } from './binary-format.ts';
export {
  comparatorOf,
  type ComparisonOperator,
  comparisons,
  compareJson,
  foldText,
  isComparison,
  isIdentity,
  keyText,
} from './compare.ts';
export { type Dialect, engineRules, expressionRules, isSameName } from './dialect.ts';
export { NumericSum } from './numeric-sum.ts';
export {
  type Numeric,
  addNumerics,
  compareNumerics,
  divideNumerics,
  divideToScale,
  divisionByZero,
  exactDecimal,
  formatNumeric,
  multiplyNumerics,
  negateNumeric,
  numericOf,
  parseNumeric,
  remainderOfNumerics,
  roundNumeric,
  subtractNumerics,
  truncateNumeric,
  unscaled,
  weightOf,
} from './numeric.ts';
export { hashReader, isSameStored, rowKey } from './row-key.ts';
export { SqlError, notSupported } from './sql-error.ts';
export {
  type AccessPath,
  type Duplicate,
  type DuplicateLock,
  type IndexChecks,
  type IndexId,
  type IndexShape,
  type InsertResult,
  type KeptCondition,
  type LockRequest,
  type MetadataLocking,
  type LockStrength,
  type Row,
  type LookUp,
  type RowCondition,
  type RowId,
  type StatementView,
  type Storage,
  type StorageTransaction,
  type TableId,
  type TableLockMode,
  tableLockModes,
  type TableShape,
  type TransactionOptions,
  type UpdateResult,
  type Wait,
  type Waiting,
  cell,
  everyRow,
  unrecorded,
} from './storage.ts';
export { byteOf, formatText, parseText } from './text-format.ts';
export { applyModifier, lengthOf, modifierOf, precisionAndScale } from './type-modifier.ts';
export { typeTitle } from './type-title.ts';
export {
  type SqlType,
  type TypeName,
  arrayOf,
  int2vector,
  isSameType,
  typeByName,
  typeLength,
  typeOfOid,
  types,
} from './type.ts';
export { arrayValue } from './value-array.ts';
export {
  addIntervals,
  divideInterval,
  everyIntervalField,
  intervalLength,
  intervalOf,
  justifyDays,
  justifyHours,
  justifyInterval,
  negateInterval,
  parseInterval,
  roundHalfEven,
  scaleInterval,
} from './value-interval.ts';
export {
  type JsonNode,
  formatJsonDocument,
  isJsonNumeric,
  isJsonObject,
  jsonDocument,
  jsonNumber,
  numericOfJson,
  objectOf,
  parseJson,
  parseJsonDocument,
  quoteJson,
  sortedKeys,
} from './value-json.ts';
export { zoneOffset } from './value-time-text.ts';
export {
  addMonths,
  civilOfDays,
  dateBegin,
  dateEnd,
  dayOfWeek,
  daysInMonth,
  daysOfCivil,
  digits,
  firstTime,
  floorDivide,
  isFiniteTime,
  isTimestampInRange,
  joinTimestamp,
  lastTime,
  microsecondsPerDay,
  splitTimestamp,
} from './value-time.ts';
export type { Interval, JsonDocument, SqlArray, SqlValue, TypeValues } from './value.ts';
