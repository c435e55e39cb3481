/** What a statement is called by those who write it. */
import type { Node } from '@pgsql/types';

/** Where the parser's name of a node, in words, is not how the statement begins. */
const titles: Readonly<Record<string, string>> = {
  AlterDatabaseSetStmt: 'ALTER DATABASE ... SET',
  AlterDefaultPrivilegesStmt: 'ALTER DEFAULT PRIVILEGES',
  AlterEventTrigStmt: 'ALTER EVENT TRIGGER',
  AlterObjectSchemaStmt: 'ALTER ... SET SCHEMA',
  AlterObjectDependsStmt: 'ALTER ... DEPENDS ON',
  AlterRoleSetStmt: 'ALTER ROLE ... SET',
  AlterTypeStmt: 'ALTER TYPE',
  ClosePortalStmt: 'CLOSE of a cursor',
  CompositeTypeStmt: 'CREATE TYPE of a row',
  CreateAmStmt: 'CREATE ACCESS METHOD',
  CreateEventTrigStmt: 'CREATE EVENT TRIGGER',
  CreatedbStmt: 'CREATE DATABASE',
  CreateFdwStmt: 'CREATE FOREIGN DATA WRAPPER',
  CreateOpClassStmt: 'CREATE OPERATOR CLASS',
  CreateOpFamilyStmt: 'CREATE OPERATOR FAMILY',
  CreatePLangStmt: 'CREATE LANGUAGE',
  CreateRangeStmt: 'CREATE TYPE of a range',
  CreateStatsStmt: 'CREATE STATISTICS',
  CreateTableSpaceStmt: 'CREATE TABLESPACE',
  CreateTrigStmt: 'CREATE TRIGGER',
  DeclareCursorStmt: 'DECLARE of a cursor',
  DropdbStmt: 'DROP DATABASE',
  DropTableSpaceStmt: 'DROP TABLESPACE',
  FetchStmt: 'FETCH and MOVE',
  GrantRoleStmt: 'GRANT of a role',
  LockStmt: 'LOCK TABLE',
  RefreshMatViewStmt: 'REFRESH MATERIALIZED VIEW',
  RuleStmt: 'CREATE RULE',
  SecLabelStmt: 'SECURITY LABEL',
  // CREATE AGGREGATE, CREATE OPERATOR, CREATE TYPE.
  DefineStmt: 'CREATE of an aggregate, an operator or a type',
};

/** `CREATE FUNCTION`, `MERGE`: of a statement's tree. */
export function statementTitle(tree: Node): string {
  const [kind = ''] = Object.keys(tree);
  const words = kind.replace(/Stmt$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return titles[kind] ?? words.toUpperCase();
}
