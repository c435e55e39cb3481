export type { SessionActivity } from './catalog/activity.ts';
export { Catalog, effectivePath, type Undo } from './catalog/catalog.ts';
export {
  constraintDefinition,
  indexDefinition,
  indexPartText,
  ownerRole,
  prettyText,
  publicOwnerRole,
  schemaComment,
  schemaId,
} from './catalog/system/index.ts';
export { quoteName, splitName } from './catalog/name.ts';
export { type Column, primaryKey, type Relation, type Table } from './catalog/relation.ts';
export {
  dropTemporary,
  dropTemporarySchema,
  isTemporary,
  temporarySchema,
  temporaryTables,
} from './catalog/temporary.ts';
export { type Dialect, engineRules } from './dialect.ts';
export { constraintsNamed } from './catalog/constraints-named.ts';
export { type DeferralMark, DeferredChecks } from './run/deferred-checks.ts';
export type { CatalogQuery, Execution, LockFunctions, OpenRows, Surroundings } from './expression.ts';
export { unknownSetting } from './expressions/index.ts';
export { mysqlHas, postgresHas } from './known/server-names.ts';
export { loadParser } from './parse.ts';
export type { PrepareOptions } from './prepare.ts';
export { StatementCalls } from './statement-calls.ts';
export { statementLine } from './statement-line.ts';
export { prepareStatement, splitStatements } from './statement-text.ts';
export type {
  ConnectOptions,
  Notice,
  PreparedStatement,
  ResultColumn,
  SqlServer,
  SqlSession,
  StatementResult,
} from './session.ts';
export { running } from './plan/planning.ts';
export { notSupported, SqlError, type SqlErrorDetail } from './sql-error.ts';
export type {
  AccessChoice,
  DdlOutcome,
  DdlStatement,
  IsolationName,
  NamedStatement,
  QueryOutcome,
  QueryStatement,
  SettingStatement,
  Statement,
  TableLock,
  TransactionModes,
  TransactionStatement,
} from './statement.ts';
export {
  type AccessPath,
  cell,
  everyRow,
  type IndexId,
  type IndexShape,
  type InsertResult,
  type KeptCondition,
  type LockRequest,
  type LockStrength,
  type Row,
  type RowCondition,
  type RowId,
  type StatementView,
  type Storage,
  type StorageTransaction,
  type TableId,
  type TableShape,
  type TransactionOptions,
  type UpdateResult,
  unrecorded,
  type Wait,
  type Waiting,
} from './storage.ts';
export { typeTitle } from './type-title.ts';
export { arrayOf, type SqlType, type TypeName, typeByName, typeOfOid, types } from './type.ts';
export type { Interval, JsonDocument, SqlArray, SqlValue } from './value.ts';
export { formatText, parseText } from './text-format.ts';
export { mysqlColumnTypes } from './mysql/column-types.ts';
export { splitMysql } from './mysql/tokens.ts';
