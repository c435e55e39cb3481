/** SELECT of Sequelize's models: options, scopes, and the joined rows of `include`. */
import type { Value } from '../../application.ts';
import { type Abstract, arrayOf, constant, type Fragment, undefinedValue, endsOf } from '../abstract-value.ts';
import { choose, constantOf, isNothing } from '../value-arithmetic.ts';
import { entriesOf, givenEntries, optionsOf } from './clauses.ts';
import { fieldOf, openPart } from './open-objects.ts';
import {
  column,
  deletionField,
  type EntityCall,
  type EntityContext,
  type Methods,
  rowObject,
  shown,
  startQuery,
} from './entity.ts';
import { constantText, notRead, operand } from './fragment.ts';
import { identifier } from './identifier.ts';
import { printQuery, type Query, withCondition, withNotRead } from './query.ts';
import { associationWith, isToMany, keyOfModel } from './sequelize-associations.ts';
import {
  hasMany,
  type IncludedRows,
  includedRows,
  joinsOf,
  mergedOptions,
  requiredConditions,
  withKey,
} from './sequelize-include.ts';
import { type Association, entityOf } from './sequelize-models.ts';
import { chosenColumns, whereFragment } from './sequelize-where.ts';

export interface SequelizeCall extends EntityCall {
  /** The owner that the options of a call name. */
  readonly ownerIn: (options: Abstract | undefined) => EntityContext['owner'];
  /** What the model's definition is found by. */
  readonly key: object;
  /** Options of the scopes that the call was made on. */
  readonly scopes: readonly Abstract[];
}

/** Options that Sequelize has and the reader has not; names that it does not have either change nothing. */
const unknown = /^(?:having|searchPath|indexHints|tableHint|maxExecutionTimeHintMs|includeIgnoreAttributes)$/;

/** On the connection that the options name. */
export function on(call: SequelizeCall, options: Abstract | undefined): SequelizeCall {
  const owner = call.ownerIn(options);
  return owner === null ? call : { ...call, owner };
}

/** The options of the call with those of its scopes. */
export function optionsIn(call: SequelizeCall, options: Abstract | undefined): ReadonlyMap<string, Abstract> {
  return mergedOptions([...call.scopes.map(optionsOf), givenOptions(options)]);
}

/** Of options that a caller gives, any column may decide; the conditions that the source says hold besides. */
function givenOptions(options: Abstract | undefined): ReadonlyMap<string, Abstract> {
  const open = options === undefined ? null : openPart(options);
  if (options === undefined || open === null) return optionsOf(options);
  const given = new Map(options.kind === 'object' ? givenEntries(options) : []);
  return given.has('where') ? given : new Map([...given, ['where', fieldOf(open, 'where')]]);
}

export function select(call: SequelizeCall, options: Abstract | undefined, condition?: Fragment): Query {
  const given = optionsIn(call, options);
  const unread = unreadOption(call, options);
  const found = withCondition(startQuery(call, 'select'), condition ?? []);
  const query = withCondition(found, scoped(call, options));
  const order = given.get('order');
  const plain: Query = {
    ...query,
    columns: chosenColumns(call, attributesIn(call, given), (field) => shown(call, field)),
    orderBy: order === undefined ? [] : ordered(call, order),
    groupBy: columnsIn(call, given.get('group')),
    limit: given.has('limit') ? operand(given.get('limit') ?? undefinedValue) : null,
    offset: given.has('offset') ? operand(given.get('offset') ?? undefinedValue) : null,
    ...lockOf(given),
  };
  const full = withIncluded(call, plain, given);
  return unread === undefined ? full : withNotRead(full, `\`${unread}\` of a query of Sequelize is not read`);
}

function attributesIn(call: SequelizeCall, options: ReadonlyMap<string, Abstract>): Abstract | undefined {
  const attributes = options.get('attributes');
  const isPlain = isNothing(options.get('include') ?? undefinedValue) || constantOf(options.get('raw')) === true;
  return isPlain ? attributes : withKey(call, attributes);
}

/** Options that no file says are not read; nor are some others. */
function unreadOption(call: SequelizeCall, options: Abstract | undefined): string | undefined {
  const isOpen = (one: Abstract | undefined): boolean => !isNothing(one ?? undefinedValue) && entriesOf(one) === null;
  const isGiven = isOpen(options) && openPart(options ?? undefinedValue) !== null;
  if (isGiven)
    call.machine.assumed.add(
      'options that callers give to queries of Sequelize include no other model and take no lock',
    );
  return call.scopes.some(isOpen) || (isOpen(options) && !isGiven)
    ? 'options that are no object'
    : [...optionsIn(call, options).keys()].find((name) => unknown.test(name));
}

export function includedIn(call: SequelizeCall, options: Abstract | undefined): readonly IncludedRows[] {
  const rows = includedRows(call, call.key, optionsIn(call, options).get('include'));
  return typeof rows === 'string' ? [] : rows;
}

/** Joins; with a limit around the statement, where a row may have several of the joined ones. */
function withIncluded(call: SequelizeCall, query: Query, options: ReadonlyMap<string, Abstract>): Query {
  const rows = includedRows(call, call.key, options.get('include'));
  if (typeof rows === 'string') return withNotRead(query, rows);
  if (rows.length === 0) return query;
  const { table } = call.entity;
  const { joins, columns } = joinsOf(call, call.key, rows, { table, path: [] });
  const isInside = query.limit !== null && hasMany(rows) && constantOf(options.get('subQuery')) !== false;
  if (!isInside) return { ...query, joins: [...query.joins, ...joins], columns: [...query.columns, ...columns] };
  const { machine } = call;
  const inner = requiredConditions(call, call.key, rows, table).reduce((all, one) => withCondition(all, one), query);
  const fields = [...call.entity.fields.values()].map(
    (field): Fragment => [{ kind: 'column-part', table, name: field.column }],
  );
  const text = printQuery({ ...inner, columns: fields, lock: '', wait: '' }, machine.dialect);
  return {
    ...query,
    tables: [['(', ...text, `) AS ${identifier(table, machine.dialect)}`]],
    where: [],
    limit: null,
    offset: null,
    joins,
    columns: [...query.columns, ...columns],
  };
}

/** WHERE, and of a paranoid model only what is not deleted. */
export function scoped(call: SequelizeCall, options: Abstract | undefined): Fragment {
  const given = optionsIn(call, options);
  const where = whereFragment(call, given.get('where'));
  const deletion = deletionField(call.entity);
  if (deletion === undefined || constantOf(given.get('paranoid')) === false) return where;
  const alive: Fragment = [...column(call.entity, deletion), ' IS NULL'];
  return where.length === 0 ? alive : [...alive, ' AND ', ...where];
}

/** The associated rows of a row object, by the names of its associations. */
export function nestedRows(
  rows: readonly IncludedRows[],
  methods: (target: object, nested: readonly IncludedRows[]) => Methods,
  valueOf: (field: string) => Value,
): ReadonlyMap<string, Abstract> {
  return new Map(
    rows.flatMap(({ association, nested, isRequired }): readonly (readonly [string, Abstract])[] => {
      const { name } = association;
      const target = association.target();
      const entity = target === undefined ? undefined : entityOf(target);
      if (target === undefined || entity === undefined) return [];
      const one = (of: (field: string) => Value): Abstract =>
        rowObject(entity, (field) => of(`${name}.${field}`), methods(target, nested));
      const first = valueOf(entity.keys[0] ?? 'id');
      if (!isToMany(association)) {
        const isThere: Value = { kind: 'unknown', reason: `whether there is a row of ${name}` };
        return [[name, isRequired ? one(valueOf) : choose(isThere, one(valueOf), constant(null))]];
      }
      // A row of the result has one of the joined rows, or none: behind each other they are all.
      if (first.kind !== 'column') {
        const isThere: Value = { kind: 'unknown', reason: `whether there is a row of ${name}` };
        return [[name, choose(isThere, arrayOf([one(valueOf)]), arrayOf([]))]];
      }
      const { statement } = first;
      return [[name, { kind: 'rows', statement, isPart: true, elementOf: one }]];
    }),
  );
}

function columnsIn(call: SequelizeCall, value: Abstract | undefined): readonly Fragment[] {
  const list = value === undefined ? [] : value.kind === 'array' ? value.elements.value : [value];
  return list.map((one) => {
    const name = constantText(one);
    return name === undefined ? operand(one) : column(call.entity, name);
  });
}

function ordered(call: SequelizeCall, order: Abstract): readonly Fragment[] {
  const list = order.kind === 'array' ? order.elements.value : [order];
  return list.map((one): Fragment => {
    const parts = one.kind === 'array' ? one.elements.value : [one];
    const last = constantText(parts.at(-1));
    const direction = parts.length > 1 && /^(?:asc|desc)\b/i.test(last ?? '') ? last : undefined;
    // Before the column there may be the joined models that have it.
    const by = parts.at(direction === undefined ? -1 : -2);
    const [first] = parts;
    // A column or a direction that the source does not say.
    const isOpen = parts.length <= 2 && parts.every(isScalar) && parts.some((part) => constantText(part) === undefined);
    if (isOpen && direction === undefined) return columnsIn(call, first).flat();
    const isJoined = parts.length > (direction === undefined ? 1 : 2);
    const [field] = isJoined ? [joinedColumn(call, parts, by)] : columnsIn(call, by);
    return [...(field ?? []), direction === undefined ? '' : ` ${direction.toUpperCase()}`];
  });
}

function isScalar(value: Abstract): boolean {
  return [...endsOf(value)].every(({ kind }) => kind === 'value');
}

/** `[Post, Comment, 'createdAt', 'DESC']`, `['posts', 'title']` */
function joinedColumn(call: SequelizeCall, list: readonly Abstract[], by: Abstract | undefined): Fragment {
  const path: string[] = [];
  let key: object | undefined = call.key;
  for (const one of list.slice(0, list.indexOf(by ?? undefinedValue))) {
    const options = optionsOf(one);
    const model = options.get('model') ?? one;
    const name = constantText(options.get('as')) ?? constantText(one);
    const association: Association | undefined =
      key === undefined ? undefined : associationWith(key, keyOfModel(call.machine, model), name);
    if (association === undefined) return notRead('an order by an associated model is not read');
    path.push(association.name);
    key = association.target();
  }
  const name = constantText(by) ?? '';
  const field = key === undefined ? undefined : entityOf(key)?.fields.get(name);
  return [{ kind: 'column-part', table: path.join('->'), name: field?.column ?? name }];
}

/** `lock: true`, `lock: t.LOCK.UPDATE`, `lock: { level: ... }` */
function lockOf(options: ReadonlyMap<string, Abstract>): Pick<Query, 'lock' | 'wait'> {
  const given = options.get('lock');
  const level = given?.kind === 'object' ? given.properties.get('level')?.value : given;
  const value = constantOf(level);
  const lock = value === true ? 'FOR UPDATE' : typeof value === 'string' ? `FOR ${value.replaceAll('_', ' ')}` : '';
  return { lock, wait: constantOf(options.get('skipLocked')) === true ? 'SKIP LOCKED' : '' };
}
