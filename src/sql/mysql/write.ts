/** INSERT, REPLACE, UPDATE, DELETE (MySQL 8.0 manual, 15.2). */
import { SqlError } from '../model/index.ts';
import type { ColumnRule, Cursor, Name } from './cursor.ts';
import { assignmentList, parseAssignment, parseReturning, parseValue } from './assignment.ts';
import { parseTableNames } from './names.ts';
import { isQueryAhead, parseQueryExpression } from './nested.ts';
import { commaList, parenthesized, type Output } from './output.ts';
import type { Rewritten } from './rewritten.ts';
import { parseDelete, parseUpdate } from './update.ts';

export function parseWrite(cursor: Cursor): Rewritten | undefined {
  const noWith = { isRecursive: false, items: [] };
  if (cursor.accept('INSERT')) return { kind: 'text', output: parseInsert(cursor, 'INSERT') };
  if (cursor.accept('REPLACE')) return { kind: 'text', output: parseInsert(cursor, 'REPLACE') };
  if (cursor.accept('UPDATE')) return { kind: 'text', output: parseUpdate(cursor, noWith) };
  if (cursor.accept('DELETE')) return { kind: 'text', output: parseDelete(cursor, noWith) };
  return undefined;
}

function parseInsert(cursor: Cursor, verb: 'INSERT' | 'REPLACE'): Output {
  cursor.acceptOneOf('LOW_PRIORITY', 'DELAYED', 'HIGH_PRIORITY');
  const isIgnore = verb === 'INSERT' && cursor.accept('IGNORE');
  cursor.accept('INTO');
  const table = parseTableNames(cursor);
  if (cursor.is('PARTITION', '(')) throw cursor.unsupported('PARTITION (...)');
  const { columns, source } = parseSource(cursor);
  const alias = verb === 'INSERT' && cursor.accept('AS') ? parseRowAlias(cursor, columns) : undefined;
  const hasUpdate = verb === 'INSERT' && cursor.accept('ON', 'DUPLICATE', 'KEY', 'UPDATE');
  if (hasUpdate && isIgnore) throw cursor.unsupported('INSERT IGNORE ... ON DUPLICATE KEY UPDATE');
  const conflict = hasUpdate ? parseOnDuplicate(cursor, table, alias) : conflictOf(verb, isIgnore);
  const list = columns.length === 0 ? '' : parenthesized(commaList(columns.map((column) => cursor.quoted(column))));
  return ['INSERT INTO', cursor.quoted(...table), list, source, conflict, parseReturning(cursor)];
}

function conflictOf(verb: 'INSERT' | 'REPLACE', isIgnore: boolean): string {
  if (verb === 'REPLACE') return 'ON CONFLICT ON CONSTRAINT moirai_replace DO NOTHING';
  return isIgnore ? 'ON CONFLICT ON CONSTRAINT moirai_ignore DO NOTHING' : '';
}

interface Source {
  readonly columns: readonly Name[];
  readonly source: Output;
}

function parseSource(cursor: Cursor): Source {
  if (cursor.accept('SET')) {
    const assignments = cursor.list(() => parseAssignment(cursor));
    const values = commaList(assignments.map(({ value }) => value));
    return { columns: assignments.map(({ column }) => column), source: ['VALUES', parenthesized(values)] };
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
function parseRows(cursor: Cursor, columns: readonly Name[]): Output {
  const { at } = cursor.take();
  const rows = cursor.list(() =>
    cursor.parenthesized(() => (cursor.is(')') ? undefined : commaList(cursor.list(() => parseValue(cursor))))),
  );
  const values = rows.filter((row) => row !== undefined);
  if (values.length === rows.length) return ['VALUES', commaList(values.map((row) => parenthesized(row)))];
  if (columns.length > 0)
    throw new SqlError('21S01', `Column count doesn't match value count at row ${rows.indexOf(undefined) + 1}`, {
      position: at + 1,
      mysqlNumber: 1136,
    });
  if (rows.length === 1) return 'DEFAULT VALUES';
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

function parseOnDuplicate(cursor: Cursor, table: readonly Name[], alias: RowAlias | undefined): Output {
  const assignments = cursor.withColumns(onDuplicateRule(cursor, table, alias), () =>
    cursor.list(() => parseAssignment(cursor)),
  );
  return ['ON CONFLICT ON CONSTRAINT moirai_any_unique DO UPDATE SET', assignmentList(cursor, assignments)];
}

/** A bare name would be ambiguous in PostgreSQL: it means the row that is there. */
function onDuplicateRule(cursor: Cursor, table: readonly Name[], alias: RowAlias | undefined): ColumnRule {
  const tableName = table.at(-1);
  const excluded = (name: Name): Output => {
    const column = alias?.columns.get(name.value.toLowerCase()) ?? name;
    return cursor.quoted({ value: 'excluded', at: name.at }, column);
  };
  return (names) => {
    const [first, second] = names;
    if (first === undefined || tableName === undefined || names.length > 2) return undefined;
    if (second !== undefined) return alias?.name === first.value ? excluded(second) : undefined;
    if (alias?.columns.has(first.value.toLowerCase()) === true) return excluded(first);
    return cursor.quoted({ value: tableName.value, at: first.at }, first);
  };
}
