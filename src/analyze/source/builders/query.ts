/**
 * A statement under construction, as the builders of all libraries fill it, and its text. The analysis reads the text by the project's own SQL
 * front end, as it reads SQL that a program writes itself.
 */
import type { Dialect } from '../../application.ts';
import { join, notRead, parenthesized, withColumns } from './fragment.ts';
import type { Abstract, Fragment } from '../abstract-value.ts';

export interface Query {
  readonly verb: 'select' | 'insert' | 'update' | 'delete';
  /** `name AS (SELECT ...)` */
  readonly common: readonly Fragment[];
  /** Behind FROM, INTO or UPDATE. */
  readonly tables: readonly Fragment[];
  /** The table's name in the statement, for columns of table objects. */
  readonly ownTable: string | null;
  readonly distinct: Fragment;
  /** Of SELECT; empty: all. */
  readonly columns: readonly Fragment[];
  /** `JOIN t ON ...` */
  readonly joins: readonly Fragment[];
  readonly where: readonly Condition[];
  readonly groupBy: readonly Fragment[];
  readonly having: readonly Condition[];
  /** UNION and the other half. */
  readonly sets: readonly Fragment[];
  /** `column = value` of UPDATE */
  readonly assignments: readonly Fragment[];
  /** Further tables of UPDATE ... FROM and DELETE ... USING. */
  readonly others: readonly Fragment[];
  /** `null`: DEFAULT VALUES, unless there is a source. */
  readonly insertColumns: readonly string[] | null;
  readonly rows: readonly (readonly Fragment[])[];
  /** A list of which only the origin is known: the statement runs for each element, as if it had that row only. */
  readonly each: {
    readonly list: Abstract;
    readonly rowOf: (row: Abstract) => Pick<Query, 'insertColumns' | 'rows' | 'notRead'>;
  } | null;
  /** INSERT ... SELECT */
  readonly source: Fragment | null;
  /** ON CONFLICT, or ON DUPLICATE KEY UPDATE. */
  readonly conflict: Fragment;
  readonly returning: readonly Fragment[];
  readonly orderBy: readonly Fragment[];
  readonly limit: Fragment | null;
  readonly offset: Fragment | null;
  /** `FOR UPDATE` */
  readonly lock: string;
  /** `SKIP LOCKED` or `NOWAIT` */
  readonly wait: string;
  /** As a part of another statement. */
  readonly alias: string | null;
  /** What the program gets: all rows, the first, or a list of one column. */
  readonly gives: 'rows' | 'first' | { readonly column: string };
  /** Calls that the reader does not know: the statement is then not understood. */
  readonly notRead: Fragment;
}

export interface Condition {
  /** What joins it to the one before. */
  readonly connective: 'AND' | 'OR';
  readonly fragment: Fragment;
}

export function newQuery(verb: Query['verb'], tables: readonly Fragment[], ownTable: string | null = null): Query {
  return {
    verb,
    common: [],
    tables,
    ownTable,
    distinct: [],
    columns: [],
    joins: [],
    where: [],
    groupBy: [],
    having: [],
    sets: [],
    assignments: [],
    others: [],
    insertColumns: null,
    rows: [],
    each: null,
    source: null,
    conflict: [],
    returning: [],
    orderBy: [],
    limit: null,
    offset: null,
    lock: '',
    wait: '',
    alias: null,
    gives: 'rows',
    notRead: [],
  };
}

export function withCondition(query: Query, fragment: Fragment, connective: Condition['connective'] = 'AND'): Query {
  return fragment.length === 0 ? query : { ...query, where: [...query.where, { connective, fragment }] };
}

export function withNotRead(query: Query, reason: string): Query {
  return { ...query, notRead: [...notRead(reason), ...query.notRead] };
}

export function returnsRows({ verb, returning }: Query): boolean {
  return verb === 'select' || returning.length > 0;
}

export function printQuery(query: Query, dialect: Dialect): Fragment {
  const common: Fragment = query.common.length === 0 ? [] : ['WITH ', ...join(query.common, ', '), ' '];
  const ownTable = query.joins.length + query.others.length > 0 || query.tables.length > 1 ? null : query.ownTable;
  // In ON CONFLICT a column alone could be the new row's or the old one's.
  const conflict = withColumns(query.conflict, null, dialect);
  return withColumns([...query.notRead, ...common, ...body({ ...query, conflict })], ownTable, dialect);
}

function body(query: Query): Fragment {
  const { tables, assignments, others, returning } = query;
  const table = join(tables, ', ');
  const where = conditions(' WHERE ', query.where);
  const returned = listed(' RETURNING ', returning);
  switch (query.verb) {
    case 'select':
      return select(query);
    case 'insert':
      return ['INSERT INTO ', ...table, ...inserted(query), ...query.conflict, ...where, ...returned];
    case 'update': {
      const set = listed(' SET ', lastOfColumns(assignments));
      return ['UPDATE ', ...table, ...set, ...listed(' FROM ', others), ...where, ...returned];
    }
    case 'delete':
      return ['DELETE FROM ', ...table, ...listed(' USING ', others), ...where, ...returned];
  }
}

/** A column is assigned once: what a builder is given last. */
function lastOfColumns(assignments: readonly Fragment[]): readonly Fragment[] {
  const columnOf = ([first]: Fragment): unknown => (typeof first === 'string' ? first.replace(/ = $/, '') : first);
  return [...new Map(assignments.map((one) => [columnOf(one), one])).values()];
}

function select(query: Query): Fragment {
  const { tables, distinct, columns, joins, groupBy, sets, orderBy, limit, offset, lock, wait } = query;
  return [
    'SELECT ',
    ...distinct,
    ...(columns.length === 0 ? ['*'] : join(columns, ', ')),
    ...listed(' FROM ', tables),
    ...joins.flatMap((one) => [' ', ...one]),
    ...conditions(' WHERE ', query.where),
    ...listed(' GROUP BY ', groupBy),
    ...conditions(' HAVING ', query.having),
    ...sets.flatMap((one) => [' ', ...one]),
    ...listed(' ORDER BY ', orderBy),
    ...(limit === null ? [] : [' LIMIT ', ...limit]),
    ...(offset === null ? [] : [' OFFSET ', ...offset]),
    ...(lock === '' ? [] : [` ${lock}`]),
    ...(wait === '' ? [] : [` ${wait}`]),
  ];
}

function inserted({ insertColumns, rows, source }: Query): Fragment {
  const columns = insertColumns === null ? '' : ` (${insertColumns.join(', ')})`;
  if (source !== null) return [columns, ' ', ...source];
  if (insertColumns === null || rows.length === 0) return [' DEFAULT VALUES'];
  const lists = rows.map((values) => parenthesized(join(values, ', ')));
  return [columns, ' VALUES ', ...join(lists, ', ')];
}

function listed(keyword: string, fragments: readonly Fragment[]): Fragment {
  return fragments.length === 0 ? [] : [keyword, ...join(fragments, ', ')];
}

function conditions(keyword: string, all: readonly Condition[]): Fragment {
  return all.length === 0 ? [] : [keyword, ...allConditions(all)];
}

export function allConditions(all: readonly Condition[]): Fragment {
  return all.flatMap(({ connective, fragment }, index) => (index === 0 ? fragment : [` ${connective} `, ...fragment]));
}

/** A condition made of others, in parentheses; `undefined` for none. */
export function group(parts: readonly Fragment[], connective: 'AND' | 'OR'): Fragment {
  const given = parts.filter(({ length }) => length > 0);
  const [only] = given;
  if (only === undefined) return [];
  return given.length === 1 ? only : parenthesized(join(given, ` ${connective} `));
}
