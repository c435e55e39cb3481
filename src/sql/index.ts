export type { SessionActivity } from './catalog/activity.ts';
export { type Catalog, effectivePath, type Undo } from './catalog/catalog.ts';
export {
  constraintDefinition,
  indexDefinition,
  indexPartText,
  ownerRole,
  prettyText,
  publicOwnerRole,
  schemaComment,
  schemaId,
  newCatalog,
} from './catalog/system/index.ts';
export { quoteName, splitName } from './catalog/name.ts';
export {
  type Column,
  primaryKey,
  type Relation,
  type Table,
  type ForeignKey,
  type Index,
  columnAtCell,
  columnNamed,
  exactColumn,
} from './catalog/relation.ts';
export { dropTemporary, dropTemporarySchema, endTemporarySchema, temporaryTables } from './catalog/temporary.ts';
export { isTemporary, temporarySchema } from './catalog/name.ts';
export { constraintsNamed } from './catalog/constraints-named.ts';
export { type DeferralMark, DeferredChecks } from './run/deferred-checks.ts';
export type { CatalogLookups } from './catalog-lookups.ts';
export type { Budget, CatalogQuery, Execution, LockFunctions, OpenRows, Surroundings } from './execution.ts';
export { chargeRows, unknownSetting } from './expressions/index.ts';
export { mysqlHas, postgresHas } from './known/server-names.ts';
export { loadParser, type SqlToken, parseStatement, tokensOf, splitStatements as splitPostgres } from './parse.ts';
export { equalityColumns, readsWithoutLock } from './locking-read.ts';
export type { PrepareOptions } from './prepare.ts';
export { StatementCalls } from './statement-calls.ts';
export { statementLine, withoutLiterals } from './statement-line.ts';
export { prepareStatement, quotedName, splitStatements, statementTree } from './statement-text.ts';
export type {
  ConnectOptions,
  Notice,
  PreparedStatement,
  ResultColumn,
  SqlServer,
  SqlSession,
  StatementResult,
} from './session.ts';
export { isSystemTable } from './plan/planning.ts';
export { running } from './execution.ts';
export { conjunctsOf, nodesOf, starQualifier, stringsOf } from './plan/tree.ts';
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
  NameLook,
  NewName,
  TableLock,
  TransactionModes,
  TransactionStatement,
} from './statement.ts';
export { mysqlColumnTypes } from './mysql/column-types.ts';
export { splitMysql, tokenize } from './mysql/tokens.ts';
export { owner, publicOwner } from './catalog/system/pg-names.ts';
export { reservedWords } from './mysql/reserved-words.ts';
export { parseMysql } from './mysql/parse-mysql.ts';
export type { MysqlCall, MysqlDelete, MysqlFuncCall, MysqlInsert, MysqlTypeName, MysqlUpdate } from './tree/mysql.ts';
export { maxAllowedPacket, mysqlVersion } from './mysql/variables.ts';
export { sessionStatement } from './session-statement.ts';
