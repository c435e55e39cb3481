/** What each method of a Knex builder adds to the statement. */
import type ts from 'typescript';
import { type Abstract, undefinedValue, type Fragment } from '../abstract-value.ts';
import { constantOf } from '../value-arithmetic.ts';
import { queryOf, type Clause } from './chain.ts';
import { entriesOf, inList, optionsOf } from './clauses.ts';
import { assignmentsOf, withRows } from './written-rows.ts';
import { constantText, join, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import {
  columnFragment,
  conditionFragment,
  innerQuery,
  type KnexNames,
  rawFragment,
  selectedFragments,
  tableFragments,
} from './knex-expressions.ts';
import { allConditions, type Condition, type Query, withNotRead } from './query.ts';
import { tableNameIn, writtenColumns } from './table-fields.ts';

type Of = Clause<KnexNames>;
type Test = (names: KnexNames, args: readonly Abstract[], at: ts.Node) => Fragment;

const asIs = (name: string): string => name;
const same: Of = ({ query }) => query;

/** What stands behind `where`, `orWhere`, `having`: a condition of its own, and its opposite. */
const tests: Readonly<Record<string, Test>> = {
  '': conditionFragment,
  Not: negated,
  In: (names, args) => listed(names, args, false),
  NotIn: (names, args) => listed(names, args, true),
  Null: (names, [column]) => [...columnFragment(names, column), ' IS NULL'],
  NotNull: (names, [column]) => [...columnFragment(names, column), ' IS NOT NULL'],
  Between: (names, args) => between(names, args, ''),
  NotBetween: (names, args) => between(names, args, 'NOT '),
  Exists: (names, [query], at) => ['EXISTS ', ...subquery(names, query, at)],
  NotExists: (names, [query], at) => ['NOT EXISTS ', ...subquery(names, query, at)],
  Like: (names, [column, value]) => [...columnFragment(names, column), ' LIKE ', ...operand(value ?? undefinedValue)],
  ILike: (names, [column, value]) => [...columnFragment(names, column), ' ILIKE ', ...operand(value ?? undefinedValue)],
  Raw: ({ machine }, [text, values]) => rawFragment(machine, text, values),
  Column: (names, args) => columnsCompared(names, args),
};

/** Of an object, each of its conditions. */
function negated(names: KnexNames, args: readonly Abstract[], at: ts.Node): Fragment {
  const entries = args.length === 1 ? entriesOf(args[0]) : null;
  if (entries === null) return ['NOT ', ...conditionFragment(names, args, at)];
  return join(
    entries.map(([name, value]) => negated(names, [constantValue(name), value], at)),
    ' AND ',
  );
}

function listed(names: KnexNames, [column, list]: readonly Abstract[], isNegated: boolean): Fragment {
  return inList(names.machine, columnFragment(names, column), list ?? undefinedValue, isNegated);
}

function between(names: KnexNames, [column, range]: readonly Abstract[], not: string): Fragment {
  const [from, to] = range?.kind === 'array' ? range.elements.value : [];
  if (from === undefined || to === undefined) return notRead(`the range of BETWEEN is ${whyNotConstant(range)}`);
  return [...columnFragment(names, column), ` ${not}BETWEEN `, ...operand(from), ' AND ', ...operand(to)];
}

function subquery(names: KnexNames, query: Abstract | undefined, at: ts.Node): Fragment {
  return innerQuery(names, query, at) ?? notRead('a subquery is not read');
}

function columnsCompared(names: KnexNames, args: readonly Abstract[]): Fragment {
  const [left, second, third] = args;
  const operator = third === undefined ? '=' : (constantText(second) ?? '=');
  return [...columnFragment(names, left), ` ${operator} `, ...columnFragment(names, third ?? second)];
}

function testing(test: Test, connective: Condition['connective'], clause: 'where' | 'having'): Of {
  return ({ query, names }, args, at) => {
    const fragment = test({ ...names, tables: query.tables }, args, at);
    return fragment.length === 0 ? query : { ...query, [clause]: [...query[clause], { connective, fragment }] };
  };
}

/** `where`, `andWhere`, `orWhere` and `having`, each with every test. */
function conditions(): Readonly<Record<string, Of>> {
  const prefixes = [
    ['where', 'AND', 'where'],
    ['andWhere', 'AND', 'where'],
    ['orWhere', 'OR', 'where'],
    ['having', 'AND', 'having'],
    ['andHaving', 'AND', 'having'],
    ['orHaving', 'OR', 'having'],
  ] as const;
  const entries = prefixes.flatMap(([prefix, connective, clause]) =>
    Object.entries(tests).map(([name, test]) => [prefix + name, testing(test, connective, clause)] as const),
  );
  return Object.fromEntries(entries);
}

const select: Of = ({ query, names }, args) => ({
  ...query,
  columns: [...query.columns, ...args.flatMap((arg) => (isOpenName(arg) ? [['*']] : selectedFragments(names, arg)))],
});

/** A name, or names, that the source does not say: all columns are read. */
function isOpenName(value: Abstract): boolean {
  return value.kind === 'value' && constantOf(value) === undefined;
}

const from: Of = ({ query, names }, [table]) => {
  const tables = tableFragments(names, table ?? undefinedValue);
  return { ...query, tables, ownTable: tableNameIn(tables) };
};

/** `count('* as n')` */
function aggregate(name: string, distinct = ''): Of {
  return ({ query, names }, [value, options]) => {
    const given = entriesOf(options)?.find(([key]) => key === 'as')?.[1];
    const columns = selectedFragments(names, value ?? { kind: 'value', value: { kind: 'constant', value: '*' } }).map(
      (one) => {
        const [text] = one;
        const [column = '', alias] = typeof text === 'string' ? text.split(' AS ') : [];
        const shown =
          alias ?? (given === undefined ? undefined : identifier(constantText(given) ?? '?', names.machine.dialect));
        const inner: Fragment = typeof text === 'string' ? [column] : one;
        return [`${name}(${distinct}`, ...inner, ')', ...(shown === undefined ? [] : [` AS ${shown}`])];
      },
    );
    return { ...query, columns: [...query.columns, ...columns] };
  };
}

function joining(keyword: string): Of {
  return ({ query, names }, [table, ...on], at) => {
    const tables = join(tableFragments(names, table ?? undefinedValue), ', ');
    const condition = on.length === 0 ? [] : [' ON ', ...joinCondition(names, on, at)];
    return { ...query, joins: [...query.joins, [`${keyword} `, ...tables, ...condition]] };
  };
}

function joinCondition(names: KnexNames, on: readonly Abstract[], at: ts.Node): Fragment {
  const [first] = on;
  if (first?.kind === 'native' && first.sql !== undefined) return first.sql();
  if (first?.kind === 'function') {
    const inner = names.condition([]);
    names.machine.call({ ...first, self: inner }, [inner], at);
    const query = queryOf(inner);
    return query === undefined
      ? notRead('the conditions of a join differ by path')
      : [...allConditions(query.where), ...query.notRead];
  }
  const entries = entriesOf(first);
  if (entries === null) return columnsCompared(names, on);
  const parts = entries.map(([left, right]) => columnsCompared(names, [constantValue(left), right]));
  return join(parts, ' AND ');
}

function constantValue(text: string): Abstract {
  return { kind: 'value', value: { kind: 'constant', value: text } };
}

const onColumns =
  (connective: Condition['connective']): Of =>
  ({ query, names }, args, at) => ({
    ...query,
    where: [...query.where, { connective, fragment: joinCondition(names, args, at) }],
  });

const insert: Of = ({ machine, query, names }, [rows, returned]) => {
  const verb = { ...query, verb: 'insert' as const };
  if (rows?.kind === 'native' && rows.sql !== undefined) {
    const source = rows.sql();
    return { ...verb, source: source.slice(1, -1) };
  }
  return withReturning(withRows(machine, verb, rows, asIs), names, returned);
};

const update: Of = ({ machine, query, names }, args) => {
  const [first, second, third] = args;
  const name = constantText(first);
  const assignments =
    name === undefined
      ? assignmentsOf(machine, query, first, asIs)
      : [[...columnFragment(names, first), ' = ', ...operand(second ?? undefinedValue)]];
  const verb = { ...query, verb: 'update' as const, assignments: [...query.assignments, ...assignments] };
  return withReturning(verb, names, name === undefined ? second : third);
};

function withReturning(query: Query, names: KnexNames, value: Abstract | undefined): Query {
  return value === undefined || value.kind === 'undefined'
    ? query
    : { ...query, returning: [...query.returning, ...selectedFragments(names, value)] };
}

const remove: Of = ({ query, names }, [returned]) => withReturning({ ...query, verb: 'delete' }, names, returned);

/** `increment('n', 2)`, `increment({ n: 2 })` */
function counter(sign: '+' | '-'): Of {
  return ({ machine, query, names }, [first, amount]) => {
    const name = constantText(first);
    // A column that the source does not say: any that an object may write.
    const columns = name === undefined ? writtenColumns(machine, { ...query, verb: 'update' }) : [name];
    const given = entriesOf(first) ?? columns.map((column) => [column, amount ?? one] as const);
    const assignments = given.map(([written, value]): Fragment => {
      const column = columnFragment(names, constantValue(written));
      return [...column, ' = ', ...column, ` ${sign} `, ...operand(value)];
    });
    if (given.length === 0) assignments.push(notRead(`the columns of SET are ${whyNotConstant(first)}`));
    return { ...query, verb: 'update', assignments: [...query.assignments, ...assignments] };
  };
}

const one: Abstract = { kind: 'value', value: { kind: 'constant', value: 1 } };

const orderBy: Of = ({ query, names }, [value, direction]) => {
  const list = value?.kind === 'array' ? value.elements.value : [value ?? undefinedValue];
  const ordered = list.map((each) => {
    const entries = optionsOf(each);
    const column = columnFragment(names, entries.get('column') ?? each);
    const way = constantText(entries.get('order') ?? direction);
    return way === undefined ? column : [...column, ` ${way.toUpperCase()}`];
  });
  return { ...query, orderBy: [...query.orderBy, ...ordered] };
};

const raw =
  (clause: 'orderBy' | 'groupBy'): Of =>
  ({ machine, query }, [text, values]) => ({
    ...query,
    [clause]: [...query[clause], rawFragment(machine, text, values)],
  });

const lock =
  (text: string): Of =>
  ({ query }, tables) => {
    const names = tables.map(constantText).filter((name) => name !== undefined);
    return { ...query, lock: names.length === 0 ? text : `${text} OF ${names.join(', ')}` };
  };

const limit: Of = ({ query }, [count]) => ({ ...query, limit: operand(count ?? undefinedValue) });

export const knexClauses: Readonly<Record<string, Of>> = {
  ...conditions(),
  select,
  column: select,
  columns: select,
  first: (chain, args, at) => ({ ...select(chain, args, at), limit: [one], gives: 'first' }),
  pluck: (chain, [column], at) => ({
    ...select(chain, [column ?? undefinedValue], at),
    gives: { column: constantText(column)?.split('.').at(-1) ?? '?' },
  }),
  from,
  table: from,
  into: from,
  distinct: (chain, args, at) => ({ ...select(chain, args, at), distinct: ['DISTINCT '] }),
  count: aggregate('count'),
  countDistinct: aggregate('count', 'DISTINCT '),
  sum: aggregate('sum'),
  min: aggregate('min'),
  max: aggregate('max'),
  avg: aggregate('avg'),
  join: joining('JOIN'),
  innerJoin: joining('JOIN'),
  leftJoin: joining('LEFT JOIN'),
  leftOuterJoin: joining('LEFT JOIN'),
  rightJoin: joining('RIGHT JOIN'),
  fullOuterJoin: joining('FULL JOIN'),
  crossJoin: joining('CROSS JOIN'),
  on: onColumns('AND'),
  andOn: onColumns('AND'),
  orOn: onColumns('OR'),
  onIn: testing(tests['In'] ?? conditionFragment, 'AND', 'where'),
  onVal: testing(conditionFragment, 'AND', 'where'),
  andOnVal: testing(conditionFragment, 'AND', 'where'),
  groupBy: ({ query, names }, args) => ({
    ...query,
    groupBy: [...query.groupBy, ...args.flatMap((arg) => selectedFragments(names, arg))],
  }),
  groupByRaw: raw('groupBy'),
  orderBy,
  orderByRaw: raw('orderBy'),
  fromRaw: ({ machine, query }, [text, values]) => ({ ...query, tables: [rawFragment(machine, text, values)] }),
  clearWhere: ({ query }) => ({ ...query, where: [] }),
  clear: ({ query }, [clause]) => cleared(query, constantText(clause)),
  clearOrder: ({ query }) => ({ ...query, orderBy: [] }),
  clearSelect: ({ query }) => ({ ...query, columns: [] }),
  limit,
  offset: ({ query }, [count]) => ({ ...query, offset: operand(count ?? undefinedValue) }),
  insert,
  update,
  del: remove,
  delete: remove,
  increment: counter('+'),
  decrement: counter('-'),
  returning: ({ query, names }, [value]) =>
    withReturning(query, names, value ?? { kind: 'value', value: { kind: 'constant', value: '*' } }),
  union: combining('UNION'),
  unionAll: combining('UNION ALL'),
  forUpdate: lock('FOR UPDATE'),
  forShare: lock('FOR SHARE'),
  forNoKeyUpdate: lock('FOR NO KEY UPDATE'),
  forKeyShare: lock('FOR KEY SHARE'),
  skipLocked: ({ query }) => ({ ...query, wait: 'SKIP LOCKED' }),
  noWait: ({ query }) => ({ ...query, wait: 'NOWAIT' }),
  as: ({ machine, query }, [alias]) => ({ ...query, alias: identifier(constantText(alias) ?? '?', machine.dialect) }),
  timeout: same,
  debug: same,
  options: same,
  comment: same,
};

/** `clear('order')` */
function cleared(query: Query, clause: string | undefined): Query {
  switch (clause) {
    case 'select':
    case 'columns':
      return { ...query, columns: [] };
    case 'where':
      return { ...query, where: [] };
    case 'order':
      return { ...query, orderBy: [] };
    case 'group':
      return { ...query, groupBy: [] };
    case 'limit':
      return { ...query, limit: null };
    case 'offset':
      return { ...query, offset: null };
    default:
      return withNotRead(query, `\`clear\` of ${clause ?? 'what'} is not read`);
  }
}

function combining(keyword: string): Of {
  return ({ query, names }, [other], at) => {
    const list = other?.kind === 'array' ? other.elements.value : [other ?? undefinedValue];
    const halves = list.map((half): Fragment => {
      const sql = innerQuery(names, half, at);
      return [`${keyword} `, ...(sql ?? notRead(`the other half of ${keyword} is ${whyNotConstant(half)}`))];
    });
    return { ...query, sets: [...query.sets, ...halves] };
  };
}

/** Behind `onConflict(columns)`, which stand before the arguments. */
export const conflictClauses: Readonly<Record<string, Of>> = {
  ignore: ({ query, names }, [columns]) => ({ ...query, conflict: [...conflictTarget(names, columns), ' DO NOTHING'] }),
  merge: ({ machine, query, names }, [columns, merged]) => ({
    ...query,
    conflict: [
      ...conflictTarget(names, columns),
      ' DO UPDATE SET ',
      ...join(
        merged?.kind === 'object'
          ? assignmentsOf(machine, query, merged, asIs)
          : (merged?.kind === 'array'
              ? merged.elements.value.map((name) => identifier(constantText(name) ?? '?', machine.dialect))
              : (query.insertColumns ?? [])
            ).map((name) => [`${name} = excluded.${name}`]),
        ', ',
      ),
    ],
  }),
};

function conflictTarget(names: KnexNames, columns: Abstract | undefined): Fragment {
  if (columns === undefined || columns.kind === 'undefined') return [' ON CONFLICT'];
  if (columns.kind === 'native') return [' ON CONFLICT ', ...operand(columns)];
  return [' ON CONFLICT ', ...parenthesized(join(selectedFragments(names, columns), ', '))];
}
