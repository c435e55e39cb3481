/** Queries that SHOW answers with. Nothing in them stands in the client's text: their places are 0. */
import type { Node, SelectStmt } from '@pgsql/types';
import { integerNode, stringNode } from '../tree/constant.ts';
import { columnRef, funcCall, logical, operation } from '../tree/expression.ts';
import { mysqlCall } from '../tree/mysql.ts';
import { derivedTable, rangeVar, select, sortBy, target, valuesQuery, withTail } from '../tree/query.ts';
import { namedType, typeCast } from '../tree/type-name.ts';
import { switches, systemVariables } from './variables.ts';

export function column(name: string): Node {
  return columnRef([name], 0);
}

export function text(value: string): Node {
  return stringNode(value, 0);
}

/** What is shown under which name. */
type Shown = readonly [name: string, value: Node];

function targets(shown: readonly Shown[]): Node[] {
  return shown.map(([name, value]) => target(value, name, 0));
}

/** Rows before SHOW's filter. */
export interface ShownRows {
  readonly names: readonly string[];
  readonly query: SelectStmt;
}

/** Columns of a table of information_schema under MySQL's names; `hidden` ones only sort. */
export function catalogRows(
  table: string,
  columns: Readonly<Record<string, string>>,
  conditions: readonly Node[],
  hidden: readonly string[] = [],
): ShownRows {
  const shown = Object.entries(columns).map(([name, source]): Shown => [name, column(source)]);
  const where = conditions.reduce<Node | undefined>(
    (left, right) => (left === undefined ? right : logical('AND_EXPR', left, right, 0)),
    undefined,
  );
  const query = select({
    targetList: [...targets(shown), ...hidden.map((name) => target(column(name), undefined, 0))],
    fromClause: [{ RangeVar: rangeVar(['information_schema', table], 0) }],
    ...(where === undefined ? {} : { whereClause: where }),
  });
  return { names: Object.keys(columns), query };
}

/** Of one database; `undefined`: the one in use. */
export function isDatabase(name: string | undefined): Node {
  return isEqual(column('table_schema'), name === undefined ? funcCall('database', [], 0) : text(name));
}

export function isTable(name: string): Node {
  return isEqual(column('table_name'), text(name));
}

function isEqual(left: Node, right: Node): Node {
  return operation('=', left, right, 0);
}

/** `SELECT names FROM (rows) WHERE ... ORDER BY ...`. */
export function shownQuery({ names, query }: ShownRows, orderBy: readonly Node[], where: Node | undefined): SelectStmt {
  const outer = select({
    targetList: names.map((name) => target(column(name), undefined, 0)),
    fromClause: [derivedTable(query, 'shown', [], false)],
    ...(where === undefined ? {} : { whereClause: where }),
  });
  const sorted = orderBy.map((node) => sortBy(node, undefined));
  return withTail(outer, { orderBy: sorted, limit: undefined, withClause: undefined });
}

/** Rows of constants and calls. */
function fixedRows(names: readonly string[], rows: readonly (readonly Node[])[]): ShownRows {
  const own = names.map((_, i) => `c${i}`);
  const query = select({
    targetList: targets(names.map((name, i): Shown => [name, column(own[i] ?? '')])),
    fromClause: [derivedTable(valuesQuery(rows), 'fixed', own, false)],
  });
  return { names, query };
}

function constants(...values: readonly (string | number)[]): Node[] {
  return values.map((value) => (typeof value === 'string' ? text(value) : integerNode(value, 0)));
}

export function variableRows(isGlobal: boolean): ShownRows {
  const rows = [...systemVariables.keys()].map((name) => {
    const value = mysqlCall({ kind: 'variable', name, isGlobal }, [], 0);
    const shown = switches.has(name)
      ? mysqlCall({ kind: 'if' }, [value, text('ON'), text('OFF')], 0)
      : typeCast(value, namedType('text'), 0);
    return [text(name), shown];
  });
  return fixedRows(['Variable_name', 'Value'], rows);
}

export const statusRows = fixedRows(
  ['Variable_name', 'Value'],
  [
    constants('Ssl_cipher', ''),
    constants('Ssl_version', ''),
    constants('Threads_connected', '1'),
    constants('Uptime', '1'),
  ],
);

export const collationRows = fixedRows(
  ['Collation', 'Charset', 'Id', 'Default', 'Compiled', 'Sortlen', 'Pad_attribute'],
  [
    constants('utf8mb4_0900_ai_ci', 'utf8mb4', 255, 'Yes', 'Yes', 0, 'NO PAD'),
    constants('utf8mb4_bin', 'utf8mb4', 46, '', 'Yes', 1, 'PAD SPACE'),
    constants('utf8mb4_general_ci', 'utf8mb4', 45, '', 'Yes', 1, 'PAD SPACE'),
    constants('utf8mb4_unicode_ci', 'utf8mb4', 224, '', 'Yes', 8, 'PAD SPACE'),
    constants('binary', 'binary', 63, 'Yes', 'Yes', 1, 'NO PAD'),
  ],
);

export const characterSetRows = fixedRows(
  ['Charset', 'Description', 'Default collation', 'Maxlen'],
  [
    constants('binary', 'Binary pseudo charset', 'binary', 1),
    constants('utf8mb4', 'UTF-8 Unicode', 'utf8mb4_0900_ai_ci', 4),
  ],
);

/** Statements of ours give errors, not warnings. */
export const noConditions: SelectStmt = select({
  targetList: targets([
    ['Level', typeCast(text(''), namedType('text'), 0)],
    ['Code', typeCast(integerNode(0, 0), namedType('int8'), 0)],
    ['Message', typeCast(text(''), namedType('text'), 0)],
  ]),
  whereClause: isEqual(integerNode(1, 0), integerNode(0, 0)),
});

export const processes: SelectStmt = select({
  targetList: targets([
    ['Id', funcCall('connection_id', [], 0)],
    ['User', funcCall('user', [], 0)],
    ['Host', text('')],
    ['db', funcCall('database', [], 0)],
    ['Command', text('Query')],
    ['Time', integerNode(0, 0)],
    ['State', text('init')],
    ['Info', text('SHOW PROCESSLIST')],
  ]),
});

export const engines: SelectStmt = select({
  targetList: targets([
    ['Engine', text('InnoDB')],
    ['Support', text('DEFAULT')],
    ['Comment', text('Supports transactions, row-level locking, and foreign keys')],
    ['Transactions', text('YES')],
    ['XA', text('NO')],
    ['Savepoints', text('YES')],
  ]),
});
