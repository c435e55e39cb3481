/** INSERT, REPLACE, UPDATE, DELETE (MySQL 8.0 manual, 15.2). */
import type { Node, SelectStmt } from '@pgsql/types';
import { SqlError } from '../model/index.ts';
import { columnRef } from '../tree/expression.ts';
import type { MysqlInsert, OnDuplicate } from '../tree/mysql.ts';
import { valuesQuery } from '../tree/query.ts';
import { assignmentNodes, columnTarget, insert } from '../tree/write.ts';
import { assignedColumns, parseAssignment, parseReturning, parseValue } from './assignment.ts';
import type { ColumnRule, Cursor, Name } from './cursor.ts';
import { parseTableNames, tableNamed } from './names.ts';
import { isQueryAhead, parseQueryExpression } from './nested.ts';
import { type Parsed, parsedTree } from './parsed.ts';
import { parseDelete, parseUpdate } from './update.ts';

export function parseWrite(cursor: Cursor): Parsed | undefined {
  if (cursor.accept('INSERT')) return parsedTree(parseInsert(cursor));
  if (cursor.accept('REPLACE')) return parsedTree(parseReplace(cursor));
  if (cursor.accept('UPDATE')) return parsedTree(parseUpdate(cursor, undefined));
  if (cursor.accept('DELETE')) return parsedTree(parseDelete(cursor, undefined));
  return undefined;
}

function parseInsert(cursor: Cursor): Node {
  skipPriority(cursor);
  const isIgnore = cursor.accept('IGNORE');
  const rows = parseNewRows(cursor);
  const alias = cursor.accept('AS') ? parseRowAlias(cursor, rows.columns) : undefined;
  const hasUpdate = cursor.accept('ON', 'DUPLICATE', 'KEY', 'UPDATE');
  if (hasUpdate && isIgnore) throw cursor.unsupported('INSERT IGNORE ... ON DUPLICATE KEY UPDATE');
  if (hasUpdate) return insertOf(cursor, rows, parseOnDuplicate(cursor, rows.table, alias));
  return insertOf(cursor, rows, isIgnore ? { kind: 'ignore' } : undefined);
}

function parseReplace(cursor: Cursor): Node {
  skipPriority(cursor);
  return insertOf(cursor, parseNewRows(cursor), { kind: 'replace' });
}

function skipPriority(cursor: Cursor): void {
  cursor.acceptOneOf('LOW_PRIORITY', 'DELAYED', 'HIGH_PRIORITY');
}

/** With RETURNING. */
function insertOf(cursor: Cursor, { table, columns, source }: NewRows, onDuplicate: OnDuplicate | undefined): Node {
  const statement: MysqlInsert = {
    ...insert({
      table: tableNamed(cursor, table),
      columns: columns.map((column) => columnTarget(cursor.nameText(column), column.at)),
      source,
      returning: parseReturning(cursor),
    }),
    ...(onDuplicate === undefined ? {} : { onDuplicate }),
  };
  return { InsertStmt: statement };
}

interface NewRows extends Source {
  readonly table: readonly Name[];
}

function parseNewRows(cursor: Cursor): NewRows {
  cursor.accept('INTO');
  const table = parseTableNames(cursor);
  if (cursor.is('PARTITION', '(')) throw cursor.unsupported('PARTITION (...)');
  return { table, ...parseSource(cursor) };
}

interface Source {
  readonly columns: readonly Name[];
  /** `undefined`: one row of defaults. */
  readonly source: SelectStmt | undefined;
}

function parseSource(cursor: Cursor): Source {
  if (cursor.accept('SET')) {
    const assignments = cursor.list(() => parseAssignment(cursor));
    const source = valuesQuery([assignments.map(({ value }) => value)]);
    return { columns: assignments.map(({ column }) => column), source };
  }
  const hasColumns = cursor.is('(') && !isQueryAhead(cursor, 0);
  const columns = hasColumns
    ? cursor.parenthesized(() => (cursor.is(')') ? [] : cursor.list(() => parseColumn(cursor))))
    : [];
  if (cursor.isOneOf('VALUES', 'VALUE') && !cursor.is('VALUES', 'ROW'))
    return { columns, source: parseRows(cursor, columns) };
  if (!isQueryAhead(cursor, 0)) throw cursor.syntaxError();
  return { columns, source: parseQueryExpression(cursor) };
}

/** `VALUES (1, 2), (3, DEFAULT)`. A row without values takes every default. */
function parseRows(cursor: Cursor, columns: readonly Name[]): SelectStmt | undefined {
  const { at } = cursor.take();
  const rows = cursor.list(() =>
    cursor.parenthesized(() => (cursor.is(')') ? undefined : cursor.list(() => parseValue(cursor)))),
  );
  const values = rows.filter((row) => row !== undefined);
  if (values.length === rows.length) return valuesQuery(values);
  if (columns.length > 0)
    throw new SqlError('21S01', `Column count doesn't match value count at row ${rows.indexOf(undefined) + 1}`, {
      position: at + 1,
      mysqlNumber: 1136,
    });
  if (rows.length === 1) return undefined;
  throw cursor.unsupported('several rows of defaults, VALUES (), ()');
}

function parseColumn(cursor: Cursor): Name {
  let name = cursor.name();
  while (cursor.accept('.')) name = cursor.nameAfterPoint();
  return name;
}

interface RowAlias {
  readonly name: string;
  /** The inserted columns by the names that `AS new (m, n)` gives them. */
  readonly columns: ReadonlyMap<string, Name>;
}

function parseRowAlias(cursor: Cursor, columns: readonly Name[]): RowAlias {
  const name = cursor.name().value;
  const own = cursor.is('(') ? cursor.parenthesized(() => cursor.list(() => cursor.name())) : [];
  if (own.length > 0 && own.length !== columns.length) throw cursor.unsupported('a row alias without a column list');
  return { name, columns: new Map(own.map((alias, i) => [alias.value.toLowerCase(), columns[i] ?? alias])) };
}

function parseOnDuplicate(cursor: Cursor, table: readonly Name[], alias: RowAlias | undefined): OnDuplicate {
  const assignments = cursor.withColumns(onDuplicateRule(cursor, table, alias), () =>
    cursor.list(() => parseAssignment(cursor)),
  );
  return { kind: 'update', targetList: assignmentNodes(assignedColumns(cursor, assignments)) };
}

/** A bare name would be ambiguous in PostgreSQL: it means the row that is there. */
function onDuplicateRule(cursor: Cursor, table: readonly Name[], alias: RowAlias | undefined): ColumnRule {
  const tableName = table.at(-1);
  const excluded = (name: Name): Node => {
    const column = alias?.columns.get(name.value.toLowerCase()) ?? name;
    return columnRef(['excluded', cursor.nameText(column)], name.at);
  };
  return (names) => {
    const [first, second] = names;
    if (first === undefined || tableName === undefined || names.length > 2) return undefined;
    if (second !== undefined) return alias?.name === first.value ? excluded(second) : undefined;
    if (alias?.columns.has(first.value.toLowerCase()) === true) return excluded(first);
    return columnRef(cursor.checked(tableName, first), first.at);
  };
}
