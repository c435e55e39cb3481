/**
 * SHOW and DESCRIBE (MySQL 8.0 manual, 15.7.7) as SELECTs over information_schema, whose columns are MySQL's in this dialect, and over
 * the variables. Columns are named as MySQL names them: clients read them by name.
 */
import type { Cursor } from './cursor.ts';
import { parseExpression } from './nested.ts';
import { quotedName, stringConstant, type Output } from './output.ts';
import type { Rewritten } from './rewritten.ts';
import { parseTableNames } from './names.ts';
import { parseLimit } from './order-by.ts';
import { parseStringValue } from './literal.ts';
import { switches, systemVariables } from './variables.ts';

export function parseShow(cursor: Cursor): Rewritten | undefined {
  if (cursor.accept('SHOW')) return { kind: 'text', output: parseShown(cursor) };
  if (cursor.isOneOf('DESCRIBE', 'DESC', 'EXPLAIN')) return { kind: 'text', output: parseDescribe(cursor) };
  return undefined;
}

/** DESCRIBE t [column]. */
function parseDescribe(cursor: Cursor): Output {
  cursor.take();
  const isPlan = !cursor.isName() || cursor.is('FORMAT', '=') || cursor.is('EXTENDED') || cursor.isOneOf('FOR');
  if (isPlan) throw cursor.unsupported('EXPLAIN');
  const [table, database] = parseTableNames(cursor).toReversed();
  const base = columnsOf(table?.value ?? '', database?.value, false);
  if (cursor.isAtEnd()) return shown(base, 'ordinal_position', '', false);
  const pattern = cursor.isKind('string') ? parseStringValue(cursor) : cursor.name().value;
  return shown(base, 'ordinal_position', ['WHERE "Field" LIKE', stringConstant(pattern)], false);
}

function parseShown(cursor: Cursor): Output {
  cursor.accept('EXTENDED');
  const isFull = cursor.accept('FULL');
  const isGlobal = cursor.acceptOneOf('GLOBAL', 'SESSION', 'LOCAL') === 'GLOBAL';
  const what = cursor.take().text.toUpperCase();
  switch (what) {
    case 'TABLES':
      return parseTables(cursor, isFull);
    case 'COLUMNS':
    case 'FIELDS':
      return parseColumns(cursor, isFull);
    case 'INDEX':
    case 'INDEXES':
    case 'KEYS':
      return parseIndexes(cursor);
    case 'DATABASES':
    case 'SCHEMAS':
      return filtered(
        cursor,
        'SELECT schema_name AS "Database" FROM information_schema.schemata',
        'Database',
        '"Database"',
      );
    case 'VARIABLES':
      return filtered(cursor, variableRows(isGlobal), 'Variable_name', '"Variable_name"');
    case 'STATUS':
      return filtered(cursor, statusRows, 'Variable_name', '"Variable_name"');
    case 'WARNINGS':
    case 'ERRORS':
      return [noConditions, parseLimit(cursor)];
    case 'PROCESSLIST':
      return processes;
    default:
      return parseFixed(cursor, what);
  }
}

function parseFixed(cursor: Cursor, what: string): Output {
  if (what === 'ENGINES') return engines;
  if (what === 'COLLATION') return filtered(cursor, collations, 'Collation', '"Collation"');
  if (what === 'CHARSET' || (what === 'CHARACTER' && cursor.accept('SET')))
    return filtered(cursor, characterSets, 'Charset', '"Charset"');
  const known =
    /^(CREATE|TABLE|GRANTS|ENGINE|PLUGINS|PRIVILEGES|TRIGGERS|EVENTS|PROCEDURE|FUNCTION|MASTER|BINARY|OPEN|PROFILES|COUNT)$/;
  if (known.test(what)) throw cursor.unsupported(`SHOW ${what}`);
  cursor.back(cursor.mark() - 1);
  throw cursor.syntaxError();
}

/** `SELECT columns FROM (base) WHERE ...`, ordered by a column that need not be shown. */
function shown(base: string, orderBy: string, where: Output, isStar: boolean): Output {
  const columns = isStar ? '*' : [...base.matchAll(/ AS ("(?:[^"]|"")+")/g)].map((found) => found[1] ?? '').join(', ');
  return [`SELECT ${columns} FROM (${base}) AS moirai_show`, where, `ORDER BY ${orderBy}`];
}

/** With SHOW's LIKE, on the first column, or its WHERE. */
function filtered(cursor: Cursor, base: string, first: string, orderBy: string): Output {
  return shown(base, orderBy, parseFilter(cursor, first), false);
}

function parseFilter(cursor: Cursor, first: string): Output {
  if (cursor.accept('LIKE')) {
    return [`WHERE ${quotedName(first)} LIKE`, stringConstant(parseStringValue(cursor))];
  }
  return cursor.accept('WHERE') ? ['WHERE', parseExpression(cursor)] : '';
}

/** FROM db, IN db. */
function parseDatabase(cursor: Cursor): string | undefined {
  return cursor.acceptOneOf('FROM', 'IN') === undefined ? undefined : cursor.name().value;
}

function databaseOutput(name: string | undefined): string {
  return name === undefined ? 'database()' : stringConstant(name);
}

function parseTables(cursor: Cursor, isFull: boolean): Output {
  const database = parseDatabase(cursor);
  const pattern = cursor.is('LIKE') ? ` (${cursor.peek(1)?.value ?? ''})` : '';
  const column = `Tables_in_${database ?? cursor.database}${pattern}`.replaceAll('\0', '');
  const type = isFull ? ', table_type AS "Table_type"' : '';
  const base = `SELECT table_name AS ${quotedName(column)}${type} FROM information_schema.tables WHERE table_schema = ${databaseOutput(database)}`;
  return filtered(cursor, base, column, '1');
}

function parseColumns(cursor: Cursor, isFull: boolean): Output {
  const { table, database } = parseTableOf(cursor);
  return shown(columnsOf(table, database, isFull), 'ordinal_position', parseFilter(cursor, 'Field'), false);
}

/** FROM t [FROM db], FROM db.t. */
function parseTableOf(cursor: Cursor): { readonly table: string; readonly database: string | undefined } {
  if (cursor.acceptOneOf('FROM', 'IN') === undefined) throw cursor.syntaxError();
  const [table, database] = parseTableNames(cursor).toReversed();
  return { table: table?.value ?? '', database: parseDatabase(cursor) ?? database?.value };
}

function columnsOf(table: string, database: string | undefined, isFull: boolean): string {
  const collation = isFull ? ', collation_name AS "Collation"' : '';
  const more = isFull ? ', privileges AS "Privileges", column_comment AS "Comment"' : '';
  return (
    `SELECT column_name AS "Field", column_type AS "Type"${collation}, is_nullable AS "Null", column_key AS "Key", ` +
    `column_default AS "Default", extra AS "Extra"${more}, ordinal_position FROM information_schema.columns ` +
    `WHERE table_schema = ${databaseOutput(database)} AND table_name = ${stringConstant(table)}`
  );
}

function parseIndexes(cursor: Cursor): Output {
  const { table, database } = parseTableOf(cursor);
  const base =
    'SELECT table_name AS "Table", non_unique AS "Non_unique", index_name AS "Key_name", seq_in_index AS "Seq_in_index", ' +
    'column_name AS "Column_name", "collation" AS "Collation", cardinality AS "Cardinality", sub_part AS "Sub_part", ' +
    'packed AS "Packed", nullable AS "Null", index_type AS "Index_type", comment AS "Comment", ' +
    'index_comment AS "Index_comment", is_visible AS "Visible", expression AS "Expression" FROM information_schema.statistics ' +
    `WHERE table_schema = ${databaseOutput(database)} AND table_name = ${stringConstant(table)}`;
  const where = cursor.accept('WHERE') ? ['WHERE', parseExpression(cursor)] : '';
  return shown(base, `"Non_unique", "Key_name" <> 'PRIMARY', "Key_name", "Seq_in_index"`, where, false);
}

function variableRows(isGlobal: boolean): string {
  const rows = [...systemVariables.keys()].map((name) => {
    const value = `mysql_variable(${stringConstant(name)}${isGlobal ? `, 'global'` : ''})`;
    return switches.has(name) ? `('${name}', mysql_if(${value}, 'ON', 'OFF'))` : `('${name}', CAST(${value} AS text))`;
  });
  return valuesOf(['Variable_name', 'Value'], rows);
}

/** `SELECT a AS "A" FROM (VALUES ...)`: so that every list of this file names its columns in one way. */
function valuesOf(columns: readonly string[], rows: readonly string[]): string {
  const names = columns.map((_, i) => `c${i}`);
  const items = columns.map((column, i) => `c${i} AS ${quotedName(column)}`);
  return `SELECT ${items.join(', ')} FROM (VALUES ${rows.join(', ')}) AS moirai_values (${names.join(', ')})`;
}

const statusRows = valuesOf(
  ['Variable_name', 'Value'],
  [`('Ssl_cipher', '')`, `('Ssl_version', '')`, `('Threads_connected', '1')`, `('Uptime', '1')`],
);

/** Statements of ours give errors, not warnings. */
const noConditions = `SELECT CAST('' AS text) AS "Level", CAST(0 AS int8) AS "Code", CAST('' AS text) AS "Message" WHERE 1 = 0`;

const processes =
  `SELECT connection_id() AS "Id", "user"() AS "User", '' AS "Host", database() AS db, 'Query' AS "Command", 0 AS "Time", ` +
  `'init' AS "State", 'SHOW PROCESSLIST' AS "Info"`;

const engines =
  `SELECT 'InnoDB' AS "Engine", 'DEFAULT' AS "Support", 'Supports transactions, row-level locking, and foreign keys' AS "Comment", ` +
  `'YES' AS "Transactions", 'NO' AS "XA", 'YES' AS "Savepoints"`;

const collations = valuesOf(
  ['Collation', 'Charset', 'Id', 'Default', 'Compiled', 'Sortlen', 'Pad_attribute'],
  [
    `('utf8mb4_0900_ai_ci', 'utf8mb4', 255, 'Yes', 'Yes', 0, 'NO PAD')`,
    `('utf8mb4_bin', 'utf8mb4', 46, '', 'Yes', 1, 'PAD SPACE')`,
    `('utf8mb4_general_ci', 'utf8mb4', 45, '', 'Yes', 1, 'PAD SPACE')`,
    `('utf8mb4_unicode_ci', 'utf8mb4', 224, '', 'Yes', 8, 'PAD SPACE')`,
    `('binary', 'binary', 63, 'Yes', 'Yes', 1, 'NO PAD')`,
  ],
);

const characterSets = valuesOf(
  ['Charset', 'Description', 'Default collation', 'Maxlen'],
  [`('binary', 'Binary pseudo charset', 'binary', 1)`, `('utf8mb4', 'UTF-8 Unicode', 'utf8mb4_0900_ai_ci', 4)`],
);
