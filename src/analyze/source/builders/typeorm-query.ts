/** TypeORM's query builder: `createQueryBuilder('p').where('p.id = :id', { id })`. It changes itself. */
import type ts from 'typescript';
import {
  type Abstract,
  arrayOf,
  constant,
  type FunctionValue,
  type Native,
  undefinedValue,
  type Fragment,
} from '../abstract-value.ts';
import type { Machine, Owner } from '../machine.ts';
import {
  type Builder,
  chainOf,
  type Clause,
  columnOf as columnOfRows,
  queryOf,
  type Ending,
  firstRow,
  ofRows,
  requireRow,
  rowCount,
  runQuery,
} from './chain.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { withRows } from './written-rows.ts';
import { type Entity, type EntityContext, shown } from './entity.ts';
import { constantText, join, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { newQuery, type Query } from './query.ts';
import { locks, methodsOf, setValue, type TypeormCall } from './typeorm-calls.ts';
import { bracketsOf } from './typeorm-brackets.ts';
import { aliasesOf, columnsOf, joinClause, type Names, selectedRelations, withoutLimit } from './typeorm-joins.ts';
import { firstRelated, relatedInstances } from './typeorm-relations.ts';
import { textCondition, whereFragment } from './typeorm-where.ts';

type Of = Clause<Names>;

export function queryBuilder(
  machine: Machine,
  owner: Owner,
  entity: Entity | undefined,
  alias: string,
  entityFrom: Names['entityFrom'],
  at: ts.Node,
): Native {
  const names: Names = { target: { entity, alias }, joined: new Map(), entityFrom, machine, owner };
  const query = { ...startOf(names, 'select'), columns: entity === undefined ? [] : allColumns(names, entity) };
  return chainOf(builder, { machine, owner, names, query, calls: [at] });
}

function startOf({ target, machine }: Names, verb: Query['verb']): Query {
  const { entity } = target;
  return newQuery(
    verb,
    entity === undefined ? [] : [[identifier(entity.table, machine.dialect)]],
    entity?.table ?? null,
  );
}

function contextOf({ machine, owner, target }: Names): EntityContext | undefined {
  return target.entity === undefined ? undefined : { machine, owner, entity: target.entity };
}

function allColumns(names: Names, entity: Entity): readonly Fragment[] {
  return [...entity.fields.keys()].map((field) => shown({ ...names, entity }, field));
}

function condition(names: Names, [first, parameters]: readonly Abstract[]): Fragment {
  const context = contextOf(names);
  if (context === undefined) return notRead('the entity of the query is not known');
  const text = constantText(first);
  if (text !== undefined) {
    const fragment = textCondition(names.machine, aliasesOf(names), text, optionsOf(parameters));
    return /\bor\b/i.test(text) ? parenthesized(fragment) : fragment;
  }
  if (first?.kind === 'object' || first?.kind === 'array') return whereFragment(context, first);
  if (first?.kind === 'native' && first.sql !== undefined) return first.sql();
  const inner = bracketsOf(first);
  if (inner !== undefined) return bracketed(names, inner);
  return notRead(`a condition is ${whyNotConstant(first)}`);
}

/** `new Brackets((qb) => qb.where(...).orWhere(...))` */
function bracketed(names: Names, fn: FunctionValue): Fragment {
  const { machine, owner } = names;
  const empty = newQuery('select', [], null);
  const start = chainOf(builder, { machine, owner, names, query: empty, calls: [] });
  machine.call(fn, [start], fn.node);
  const query = queryOf(start);
  if (query === undefined) return notRead('the conditions of Brackets differ by path');
  const parts = query.where.flatMap(
    ({ connective, fragment }, index): Fragment => (index === 0 ? fragment : [` ${connective} `, ...fragment]),
  );
  return parts.length === 0 ? [] : parenthesized([...query.notRead, ...parts]);
}

const where =
  (connective: 'AND' | 'OR', isFirst: boolean): Of =>
  ({ query, names }, args) => ({
    ...query,
    where: [...(isFirst ? [] : query.where), { connective, fragment: condition(names, args) }],
  });

function selected(names: Names, value: Abstract | undefined, alias: Abstract | undefined): readonly Fragment[] {
  const { alias: table } = names.target;
  const list = value?.kind === 'array' ? value.elements.value : [value ?? undefinedValue];
  return list.flatMap((one): readonly Fragment[] => {
    const text = constantText(one);
    const [name = '', property, ...others] = text?.split('.') ?? [];
    const entity = aliasesOf(names).get(name) ?? names.target.entity;
    if (text === undefined || entity === undefined)
      return [notRead(`the columns of SELECT are ${whyNotConstant(one)}`)];
    if (text === table) return allColumns(names, entity);
    if (text === name && names.joined.has(name)) return columnsOf(names.machine, entity, name);
    if (alias === undefined && name === table && property !== undefined && others.length === 0)
      return [shown({ ...names, entity }, property)];
    const shownAs = constantText(alias);
    return [
      [
        ...textCondition(names.machine, aliasesOf(names), text, new Map()),
        ...(shownAs === undefined ? [] : [` AS ${identifier(shownAs, names.machine.dialect)}`]),
      ],
    ];
  });
}

function columnIn(names: Names, value: Abstract | undefined): Fragment {
  const text = constantText(value);
  return text === undefined || names.target.entity === undefined
    ? notRead(`a column is ${whyNotConstant(value)}`)
    : textCondition(names.machine, aliasesOf(names), text, new Map());
}

const orderBy: Of = ({ query, names }, [by, way]) => {
  const entries = entriesOf(by) ?? [[constantText(by) ?? '?', way ?? constant('ASC')] as const];
  const list = entries.map(
    ([name, direction]): Fragment => [...columnIn(names, constant(name)), ` ${constantText(direction) ?? 'ASC'}`],
  );
  return { ...query, orderBy: [...query.orderBy, ...list] };
};

/** `update(Account)`, `delete()`, `insert()`: another statement on the builder's entity or on the given one. */
const becomes =
  (verb: Query['verb']): Of =>
  (chain, [given, values], at) => {
    const { names } = chain;
    const entity = names.entityFrom(given);
    if (entity !== undefined) names.target.entity = entity;
    const query = { ...startOf(names, verb), where: chain.query.where };
    const assignedValues = entity === undefined && given?.kind === 'object' ? given : values;
    return verb === 'update' && assignedValues !== undefined ? set({ ...chain, query }, [assignedValues], at) : query;
  };

const from: Of = ({ query, names }, [given, alias]) => {
  const entity = names.entityFrom(given);
  if (entity === undefined) return { ...query, notRead: notRead(`the entity of a query is ${whyNotConstant(given)}`) };
  names.target.entity = entity;
  names.target.alias = constantText(alias) ?? names.target.alias;
  const fresh = startOf(names, query.verb);
  return {
    ...query,
    tables: fresh.tables,
    ownTable: fresh.ownTable,
    columns: query.verb === 'select' && query.columns.length === 0 ? allColumns(names, entity) : query.columns,
  };
};

const set: Of = ({ query, names, machine }, [values], at) => {
  const context = contextOf(names);
  const entries = entriesOf(values);
  if (context === undefined || entries === null)
    return { ...query, notRead: notRead(`the columns of SET are ${whyNotConstant(values)}`) };
  const call: TypeormCall = { ...context, at };
  const given = new Map(entries);
  const filled = [...context.entity.fields].flatMap(([name, { column: title, onUpdate }]): readonly Fragment[] =>
    onUpdate === null || given.has(name) ? [] : [[`${identifier(title, machine.dialect)} = `, ...onUpdate]],
  );
  const written = entries.map(
    ([name, value]): Fragment => [
      `${identifier(context.entity.fields.get(name)?.column ?? name, machine.dialect)} = `,
      ...setValue(call, value),
    ],
  );
  return { ...query, assignments: [...written, ...filled] };
};

const clauses: Readonly<Record<string, Of>> = {
  select: ({ query, names }, [value, alias]) =>
    value === undefined ? query : { ...query, columns: selected(names, value, alias) },
  addSelect: ({ query, names }, [value, alias]) => ({
    ...query,
    columns: [...query.columns, ...selected(names, value, alias)],
  }),
  from,
  into: from,
  where: where('AND', true),
  andWhere: where('AND', false),
  orWhere: where('OR', false),
  leftJoin: joinClause('LEFT JOIN', false),
  innerJoin: joinClause('INNER JOIN', false),
  leftJoinAndSelect: joinClause('LEFT JOIN', true),
  innerJoinAndSelect: joinClause('INNER JOIN', true),
  orderBy,
  addOrderBy: orderBy,
  groupBy: ({ query, names }, [by]) => ({ ...query, groupBy: [...query.groupBy, columnIn(names, by)] }),
  addGroupBy: ({ query, names }, [by]) => ({ ...query, groupBy: [...query.groupBy, columnIn(names, by)] }),
  limit: ({ query }, [count]) => ({ ...query, limit: operand(count ?? undefinedValue) }),
  take: ({ query }, [count]) => ({ ...query, limit: operand(count ?? undefinedValue) }),
  offset: ({ query }, [count]) => ({ ...query, offset: operand(count ?? undefinedValue) }),
  skip: ({ query }, [count]) => ({ ...query, offset: operand(count ?? undefinedValue) }),
  setLock: ({ query }, [mode]) => ({ ...query, ...locks(constantText(mode), undefined), wait: query.wait }),
  setOnLocked: ({ query }, [mode]) => ({ ...query, wait: locks(undefined, constantText(mode)).wait }),
  useTransaction: ({ query }) => query,
  update: becomes('update'),
  delete: becomes('delete'),
  insert: becomes('insert'),
  set,
  values: ({ query, names, machine }, [rows]) =>
    withRows(machine, query, rows, (name) => names.target.entity?.fields.get(name)?.column ?? name),
  orIgnore: ({ query }) => ({ ...query, conflict: [' ON CONFLICT DO NOTHING'] }),
  orUpdate: ({ query }, [written, targets]) => {
    const texts = (list: Abstract | undefined): readonly string[] =>
      list?.kind === 'array' ? list.elements.value.map((one) => constantText(one) ?? '?') : [constantText(list) ?? '?'];
    const assignments = texts(written).map((name): Fragment => [`${name} = excluded.${name}`]);
    return {
      ...query,
      conflict: [
        ' ON CONFLICT ',
        ...parenthesized([texts(targets).join(', ')]),
        ' DO UPDATE SET ',
        ...join(assignments, ', '),
      ],
    };
  },
  returning: ({ query, names }, [columns]) => {
    const list = columns?.kind === 'array' ? columns.elements.value : [columns ?? undefinedValue];
    return {
      ...query,
      returning: list.map((one) =>
        constantText(one) === '*'
          ? ['*']
          : columnIn(names, constant(`${names.target.alias}.${constantText(one) ?? '?'}`)),
      ),
    };
  },
};

const rowsOf: Ending<Names> = (chain, _, at) => runQuery(chain, at);

const getOne: Ending<Names> = (chain, _, at) => {
  const context = contextOf(chain.names);
  const rows = runQuery(chain, at);
  if (context === undefined) return firstRow(rows);
  return firstRelated(rows, context.entity, selectedRelations(chain.names), (entity) =>
    methodsOf({ ...context, entity, at }),
  );
};

const getMany: Ending<Names> = (chain, _, at) => {
  const context = contextOf(chain.names);
  const joined = selectedRelations(chain.names);
  const rows = runQuery({ ...chain, query: withoutLimit(chain.query, joined) }, at);
  if (context === undefined) return rows;
  return relatedInstances(rows, context.entity, joined, (entity) => methodsOf({ ...context, entity, at }));
};

const builder: Builder<Names> = {
  title: 'a query builder of TypeORM',
  isMutable: true,
  clauses,
  endings: {
    getOne,
    getMany,
    getOneOrFail: (chain, args, at) => requireRow(chain.machine, getOne(chain, args, at)),
    getRawOne: (chain, args, at) => firstRow(rowsOf(chain, args, at)),
    getRawMany: rowsOf,
    getCount: (chain, _, at) => {
      const rows = runQuery(
        { ...chain, query: { ...chain.query, columns: [['count(1) AS cnt']], orderBy: [], limit: null, offset: null } },
        at,
      );
      return ofRows(rows, (statement) => ({
        kind: 'value',
        value: { kind: 'column', statement, column: 'cnt', row: 'first' },
      }));
    },
    getManyAndCount: (chain, args, at) => {
      const rows = getMany(chain, args, at);
      return arrayOf([rows, rowCount(rows)]);
    },
    execute: (chain, _, at) => {
      const rows = runQuery(chain, at);
      const parts = [
        ['affected', rowCount(rows)],
        ['raw', rows],
        ['identifiers', rows],
        ['generatedMaps', columnOfRows(rows, 'id')],
      ] as const;
      return {
        kind: 'object',
        properties: new Map(parts.map(([name, value]) => [name, { value }])),
        of: null,
        rest: null,
      };
    },
  },
};
