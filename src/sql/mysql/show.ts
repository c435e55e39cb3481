/**
 * SHOW and DESCRIBE (MySQL 8.0 manual, 15.7.7) as SELECTs over information_schema, whose columns are MySQL's in this dialect, and over
 * the variables. Columns are named as MySQL names them: clients read them by name.
 */
import type { Node, SelectStmt } from '@pgsql/types';
import { integerNode } from '../tree/constant.ts';
import { like, operation } from '../tree/expression.ts';
import { withTail } from '../tree/query.ts';
import type { Cursor } from './cursor.ts';
import { parseStringValue } from './literal.ts';
import { parseTableNames } from './names.ts';
import { parseExpression } from './nested.ts';
import { parseLimit } from './order-by.ts';
import { type Parsed, parsedQuery } from './parsed.ts';
import {
  catalogRows,
  characterSetRows,
  collationRows,
  column,
  engines,
  isDatabase,
  isTable,
  noConditions,
  processes,
  shownQuery,
  type ShownRows,
  statusRows,
  text,
  variableRows,
} from './show-rows.ts';

export function parseShow(cursor: Cursor): Parsed | undefined {
  if (cursor.accept('SHOW')) return parsedQuery(parseShown(cursor));
  if (cursor.isOneOf('DESCRIBE', 'DESC', 'EXPLAIN')) return parsedQuery(parseDescribe(cursor));
  return undefined;
}

/** DESCRIBE t [column]. */
function parseDescribe(cursor: Cursor): SelectStmt {
  cursor.take();
  const isPlan = !cursor.isName() || cursor.is('FORMAT', '=') || cursor.is('EXTENDED') || cursor.isOneOf('FOR');
  if (isPlan) throw cursor.unsupported('EXPLAIN');
  const [table, database] = parseTableNames(cursor).toReversed();
  const rows = columnRows(table?.value ?? '', database?.value, false);
  if (cursor.isAtEnd()) return shownQuery(rows, [column('ordinal_position')], undefined);
  const pattern = cursor.isKind('string') ? parseStringValue(cursor) : cursor.name().value;
  return shownQuery(rows, [column('ordinal_position')], isLike('Field', pattern));
}

function parseShown(cursor: Cursor): SelectStmt {
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
      return filtered(cursor, catalogRows('schemata', { Database: 'schema_name' }, []));
    case 'VARIABLES':
      return filtered(cursor, variableRows(isGlobal));
    case 'STATUS':
      return filtered(cursor, statusRows);
    case 'WARNINGS':
    case 'ERRORS':
      return withTail(noConditions, { orderBy: [], limit: parseLimit(cursor), withClause: undefined });
    case 'PROCESSLIST':
      return processes;
    default:
      return parseFixed(cursor, what);
  }
}

function parseFixed(cursor: Cursor, what: string): SelectStmt {
  if (what === 'ENGINES') return engines;
  if (what === 'COLLATION') return filtered(cursor, collationRows);
  if (what === 'CHARSET' || (what === 'CHARACTER' && cursor.accept('SET'))) return filtered(cursor, characterSetRows);
  const known =
    /^(CREATE|TABLE|GRANTS|ENGINE|PLUGINS|PRIVILEGES|TRIGGERS|EVENTS|PROCEDURE|FUNCTION|MASTER|BINARY|OPEN|PROFILES|COUNT)$/;
  if (known.test(what)) throw cursor.unsupported(`SHOW ${what}`);
  cursor.back(cursor.mark() - 1);
  throw cursor.syntaxError();
}

/** With SHOW's LIKE, on the first column, or its WHERE; ordered by the first column. */
function filtered(cursor: Cursor, rows: ShownRows): SelectStmt {
  const [first = ''] = rows.names;
  return shownQuery(rows, [column(first)], parseFilter(cursor, first));
}

function parseFilter(cursor: Cursor, first: string): Node | undefined {
  if (cursor.accept('LIKE')) return isLike(first, parseStringValue(cursor));
  return parseWhere(cursor);
}

function parseWhere(cursor: Cursor): Node | undefined {
  return cursor.accept('WHERE') ? parseExpression(cursor) : undefined;
}

function isLike(name: string, pattern: string): Node {
  return like(column(name), text(pattern), undefined, false, 0);
}

/** FROM db, IN db. */
function parseDatabase(cursor: Cursor): string | undefined {
  return cursor.acceptOneOf('FROM', 'IN') === undefined ? undefined : cursor.name().value;
}

function parseTables(cursor: Cursor, isFull: boolean): SelectStmt {
  const database = parseDatabase(cursor);
  const pattern = cursor.is('LIKE') ? ` (${cursor.peek(1)?.value ?? ''})` : '';
  const name = `Tables_in_${database ?? cursor.database}${pattern}`;
  const columns = { [name]: 'table_name', ...(isFull ? { Table_type: 'table_type' } : {}) };
  const rows = catalogRows('tables', columns, [isDatabase(database)]);
  return shownQuery(rows, [integerNode(1, 0)], parseFilter(cursor, name));
}

function parseColumns(cursor: Cursor, isFull: boolean): SelectStmt {
  const { table, database } = parseTableOf(cursor);
  const where = parseFilter(cursor, 'Field');
  return shownQuery(columnRows(table, database, isFull), [column('ordinal_position')], where);
}

/** FROM t [FROM db], FROM db.t. */
function parseTableOf(cursor: Cursor): { readonly table: string; readonly database: string | undefined } {
  if (cursor.acceptOneOf('FROM', 'IN') === undefined) throw cursor.syntaxError();
  const [table, database] = parseTableNames(cursor).toReversed();
  return { table: table?.value ?? '', database: parseDatabase(cursor) ?? database?.value };
}

function columnRows(table: string, database: string | undefined, isFull: boolean): ShownRows {
  const columns = {
    Field: 'column_name',
    Type: 'column_type',
    ...(isFull ? { Collation: 'collation_name' } : {}),
    Null: 'is_nullable',
    Key: 'column_key',
    Default: 'column_default',
    Extra: 'extra',
    ...(isFull ? { Privileges: 'privileges', Comment: 'column_comment' } : {}),
  };
  return catalogRows('columns', columns, [isDatabase(database), isTable(table)], ['ordinal_position']);
}

const indexColumns = {
  Table: 'table_name',
  Non_unique: 'non_unique',
  Key_name: 'index_name',
  Seq_in_index: 'seq_in_index',
  Column_name: 'column_name',
  Collation: 'collation',
  Cardinality: 'cardinality',
  Sub_part: 'sub_part',
  Packed: 'packed',
  Null: 'nullable',
  Index_type: 'index_type',
  Comment: 'comment',
  Index_comment: 'index_comment',
  Visible: 'is_visible',
  Expression: 'expression',
};

/** The primary key first. */
function parseIndexes(cursor: Cursor): SelectStmt {
  const { table, database } = parseTableOf(cursor);
  const rows = catalogRows('statistics', indexColumns, [isDatabase(database), isTable(table)]);
  const isOther = operation('<>', column('Key_name'), text('PRIMARY'), 0);
  const orderBy = [column('Non_unique'), isOther, column('Key_name'), column('Seq_in_index')];
  return shownQuery(rows, orderBy, parseWhere(cursor));
}
