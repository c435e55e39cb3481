/** What each method of a Drizzle query adds to the statement. */
import type ts from 'typescript';
import { type Abstract, type Native, undefinedValue, type Fragment } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import type { Clause } from './chain.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { writtenEntries } from './open-objects.ts';
import { isOpenList } from './table-fields.ts';
import { allColumns, conditionFragment, operatorNamed, selection } from './drizzle-expressions.ts';
import { aliasOfTable, type DrizzleTable, tableOf } from './drizzle-tables.ts';
import { constantText, join, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { newQuery, type Query, withCondition, withNotRead } from './query.ts';

export interface DrizzleNames {
  readonly machine: Machine;
  /** The table object of INSERT, UPDATE and DELETE. */
  readonly table: Abstract | null;
  /** `select()` without fields: the columns of all tables. */
  readonly isAll: boolean;
}

type Of = Clause<DrizzleNames>;

const same: Of = ({ query }) => query;

const from: Of = ({ machine, query, names }, [table]) => ({
  ...query,
  columns: names.isAll ? columnsOf(machine, table) : query.columns,
  tables: [tableFragment(table)],
  ownTable: aliasOfTable(table),
});

function columnsOf(machine: Machine, table: Abstract | undefined): readonly Fragment[] {
  const known = tableOf(table);
  return known === undefined ? [] : allColumns(machine, known, aliasOfTable(table) ?? '');
}

function tableFragment(table: Abstract | undefined): Fragment {
  return table?.kind === 'native' && table.sql !== undefined
    ? table.sql()
    : notRead(`a table is ${whyNotConstant(table)}`);
}

/** A second `where` replaces the first. */
const where: Of = ({ query }, [condition]) =>
  withCondition({ ...query, where: [] }, conditionFragment(condition ?? undefinedValue));

function joining(keyword: string): Of {
  return ({ machine, query, names }, [table, on]) => {
    const columns = names.isAll ? [...query.columns, ...columnsOf(machine, table)] : query.columns;
    const condition = on === undefined || on.kind === 'undefined' ? [] : [' ON ', ...conditionFragment(on)];
    return { ...query, columns, joins: [...query.joins, [`${keyword} `, ...tableFragment(table), ...condition]] };
  };
}

/** The columns that get a value: from the object, or from the column's own function. */
const values: Of = ({ machine, query, names }, [rows]) => {
  const list = rows?.kind === 'array' && rows.elements.value.length === 1 ? rows.elements.value[0] : rows;
  if (!isOpenList(list)) return withValues(machine, query, names, rows);
  return { ...query, each: { list, rowOf: (row) => withValues(machine, query, names, row) } };
};

function withValues(machine: Machine, query: Query, names: DrizzleNames, rows: Abstract | undefined): Query {
  const table = tableOf(names.table ?? undefined);
  const list = rows?.kind === 'array' ? rows.elements.value : [rows ?? undefinedValue];
  const columns = [...(table?.columns.keys() ?? [])];
  const known = list.map((row) => writtenEntries(row, columns));
  const unknown = list.find((_, index) => known[index] === null);
  if (table === undefined || unknown !== undefined || list.length === 0)
    return withNotRead(query, `the rows of INSERT are ${whyNotConstant(unknown ?? rows)}`);
  const given = known.map((entries) => new Map(entries ?? []));
  const filled = [...table.columns].filter(
    ([property, { onInsert, onUpdate }]) =>
      onInsert !== null || onUpdate !== null || given.some((row) => row.has(property)),
  );
  const insertColumns = filled.map(([, { name }]) => identifier(name, machine.dialect));
  const lists = given.map((row) =>
    filled.map(([property, { onInsert, onUpdate }]): Fragment => {
      const value = row.get(property) ?? onInsert ?? onUpdate;
      return value === null ? ['DEFAULT'] : operand(value);
    }),
  );
  return { ...query, insertColumns, rows: lists };
}

function assignments(
  machine: Machine,
  table: DrizzleTable | undefined,
  object: Abstract | undefined,
): readonly Fragment[] {
  const changed = [...(table?.columns ?? [])].flatMap(([name, { isKey }]) => (isKey ? [] : [name]));
  const entries = writtenEntries(object, changed);
  if (table === undefined || entries === null) return [notRead(`the columns of SET are ${whyNotConstant(object)}`)];
  const given = new Map(entries);
  return [...table.columns].flatMap(([property, { name, onUpdate }]): readonly Fragment[] => {
    const value = given.get(property) ?? onUpdate;
    return value === null ? [] : [[`${identifier(name, machine.dialect)} = `, ...operand(value)]];
  });
}

const returning: Of = ({ machine, query, names }, [fields]) => ({
  ...query,
  returning: fields === undefined ? columnsOf(machine, names.table ?? undefined) : selection(machine, fields),
});

const expressions =
  (clause: 'orderBy' | 'groupBy'): Of =>
  ({ query }, args) => {
    const list = args.flatMap((arg) => (arg.kind === 'array' ? arg.elements.value : [arg]));
    const fragments = list.map((one) =>
      one.kind === 'native' ? operand(one) : notRead(`a column is ${whyNotConstant(one)}`),
    );
    return { ...query, [clause]: fragments };
  };

/** `for('update', { of: users, skipLocked: true })` */
const lock: Of = ({ query }, [strength, config]) => {
  const options = optionsOf(config);
  const of = options.get('of');
  const tables = of === undefined ? [] : of.kind === 'array' ? of.elements.value : [of];
  const names = tables.map((table) => aliasOfTable(table) ?? '?');
  const wait = options.has('skipLocked') ? 'SKIP LOCKED' : options.has('noWait') ? 'NOWAIT' : '';
  const text = `FOR ${(constantText(strength) ?? 'update').toUpperCase()}`;
  return { ...query, lock: names.length === 0 ? text : `${text} OF ${names.join(', ')}`, wait };
};

const onConflictDoUpdate: Of = ({ machine, query, names }, [config]) => {
  const options = optionsOf(config);
  const written = assignments(machine, tableOf(names.table ?? undefined), options.get('set'));
  const condition = options.get('setWhere') ?? options.get('where');
  const tail: Fragment = condition === undefined ? [] : [' WHERE ', ...conditionFragment(condition)];
  return {
    ...query,
    conflict: [...target(machine, options.get('target')), ' DO UPDATE SET ', ...join(written, ', '), ...tail],
  };
};

/** The columns of a unique index. */
function target(machine: Machine, columns: Abstract | undefined): Fragment {
  if (columns === undefined) return [' ON CONFLICT'];
  const list = columns.kind === 'array' ? columns.elements.value : [columns];
  const names = list.map((column): Fragment => {
    const [part] = operand(column);
    return typeof part === 'object' && part.kind === 'column-part'
      ? [identifier(part.name, machine.dialect)]
      : operand(column);
  });
  return [' ON CONFLICT ', ...parenthesized(join(names, ', '))];
}

function combining(keyword: string): Of {
  return ({ query }, [other]) => {
    const half =
      other?.kind === 'native' && other.sql !== undefined
        ? other.sql()
        : notRead(`the other half of ${keyword} is not read`);
    return { ...query, sets: [...query.sets, [`${keyword} `, ...half]] };
  };
}

export const drizzleClauses: Readonly<Record<string, Of>> = {
  from,
  where,
  innerJoin: joining('JOIN'),
  leftJoin: joining('LEFT JOIN'),
  rightJoin: joining('RIGHT JOIN'),
  fullJoin: joining('FULL JOIN'),
  crossJoin: joining('CROSS JOIN'),
  groupBy: expressions('groupBy'),
  having: ({ query }, [condition]) => ({
    ...query,
    having: [{ connective: 'AND', fragment: conditionFragment(condition ?? undefinedValue) }],
  }),
  orderBy: expressions('orderBy'),
  limit: ({ query }, [count]) => ({ ...query, limit: operand(count ?? undefinedValue) }),
  offset: ({ query }, [count]) => ({ ...query, offset: operand(count ?? undefinedValue) }),
  for: lock,
  values,
  set: ({ machine, query, names }, [object]) => ({
    ...query,
    assignments: assignments(machine, tableOf(names.table ?? undefined), object),
  }),
  returning,
  $returningId: same,
  onConflictDoUpdate,
  onConflictDoNothing: ({ machine, query }, [config]) => ({
    ...query,
    conflict: [...target(machine, optionsOf(config).get('target')), ' DO NOTHING'],
  }),
  onDuplicateKeyUpdate: ({ machine, query, names }, [config]) => {
    const written = assignments(machine, tableOf(names.table ?? undefined), optionsOf(config).get('set'));
    return { ...query, conflict: [' ON DUPLICATE KEY UPDATE ', ...join(written, ', ')] };
  },
  union: combining('UNION'),
  unionAll: combining('UNION ALL'),
  $dynamic: same,
  $withCache: same,
};

/** `db.query.users.findFirst(options)` */
export function findQuery(
  machine: Machine,
  method: string,
  property: string,
  table: Abstract | undefined,
  options: Abstract | undefined,
  at: ts.Node,
): Query {
  const known = tableOf(table);
  const query = newQuery('select', [known === undefined ? [] : operand(table ?? undefinedValue)], aliasOfTable(table));
  if (known === undefined) return withNotRead(query, `the schema of \`db.query.${property}\` is not known`);
  if (!/^find(?:First|Many)$/.test(method)) return withNotRead(query, `\`${method}\` of db.query is not read`);
  const given = new Map(
    options === undefined || options.kind === 'undefined' ? [] : (entriesOf(options) ?? [['?', options]]),
  );
  const unread = [...given.keys()].find((name) => !/^(?:where|columns|orderBy|limit|offset)$/.test(name));
  if (unread !== undefined) return withNotRead(query, `\`${unread}\` of ${method} is not read`);
  const called = (value: Abstract | undefined): Abstract =>
    value?.kind === 'function'
      ? machine.call(value, [table ?? undefinedValue, operatorsObject(machine)], at)
      : (value ?? undefinedValue);
  const order = called(given.get('orderBy'));
  const ordered = order.kind === 'undefined' ? [] : order.kind === 'array' ? order.elements.value : [order];
  const limit = given.get('limit');
  const offset = given.get('offset');
  const found = withCondition(query, conditionFragment(called(given.get('where'))));
  return {
    ...found,
    columns: chosenColumns(machine, known, aliasOfTable(table) ?? '', given.get('columns')),
    orderBy: ordered.map(operand),
    limit:
      method === 'findFirst'
        ? [{ kind: 'value', value: { kind: 'constant', value: 1 } }]
        : limit === undefined
          ? null
          : operand(limit),
    offset: offset === undefined ? null : operand(offset),
    gives: method === 'findFirst' ? 'first' : 'rows',
  };
}

/** `{ id: true }`, or `{ secret: false }` for all others. */
function chosenColumns(
  machine: Machine,
  table: DrizzleTable,
  alias: string,
  columns: Abstract | undefined,
): readonly Fragment[] {
  const entries = entriesOf(columns);
  if (entries === null) return allColumns(machine, table, alias);
  const isTrue = (value: Abstract): boolean =>
    value.kind === 'value' && value.value.kind === 'constant' && value.value.value === true;
  const listed = new Map(entries.map(([name, value]) => [name, isTrue(value)]));
  const isInclusive = [...listed.values()].includes(true);
  const chosen = [...table.columns].filter(([name]) => (isInclusive ? listed.get(name) === true : !listed.has(name)));
  return allColumns(machine, { ...table, columns: new Map(chosen) }, alias);
}

/** The operators that callbacks of `where` and `orderBy` get. */
function operatorsObject(machine: Machine): Native {
  return {
    kind: 'native',
    title: 'operators of Drizzle',
    isHandle: false,
    member: (name) => operatorNamed(machine, name),
  };
}
