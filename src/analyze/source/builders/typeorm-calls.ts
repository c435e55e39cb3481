/** The statements that TypeORM sends for the methods of a repository (seen with TypeORM 1.1). */
import {
  type Abstract,
  arrayOf,
  constant,
  native,
  objectOf,
  type ObjectValue,
  type RowsValue,
  undefinedValue,
  unknown,
  type Fragment,
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import { normalCompletion } from '../machine.ts';
import { constantOf, isNothing, truthOf } from '../value-arithmetic.ts';
import { firstRow, ofRows, requireRow, rowCount } from './chain.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { elementIn, overList } from '../over-list.ts';
import { fieldOf, writtenEntries } from './open-objects.ts';
import { dialects } from './dialect.ts';
import {
  assigned,
  changedFields,
  column,
  type Entity,
  deletionField,
  type EntityCall,
  type EntityContext,
  overwriting,
  runCall,
  firstInstance,
  insertQuery,
  keyCondition,
  loadedFrom,
  markSaved,
  type Methods,
  newInstance,
  objectIn,
  shown,
  startQuery,
  writableFields,
} from './entity.ts';
import { constantText, notRead, operand, whyNotConstant } from './fragment.ts';
import { type Query, withCondition, withNotRead } from './query.ts';
import {
  firstRelated,
  type JoinedRelation,
  joinedRelations,
  joinsOf,
  relatedInstances,
  relationsOf,
} from './typeorm-relations.ts';
import { criteria, whereFragment } from './typeorm-where.ts';

export type TypeormCall = EntityCall;

type Run = (call: TypeormCall, args: readonly Abstract[]) => Abstract;

/** What is not deleted, where the entity has a column for that. */
function alive({ entity }: EntityContext): Fragment {
  const deletion = deletionField(entity);
  return deletion === undefined ? [] : [...column(entity, deletion), ' IS NULL'];
}

export function locks(mode: string | undefined, onLocked: string | undefined): Pick<Query, 'lock' | 'wait'> {
  const texts: Readonly<Record<string, string>> = {
    pessimistic_write: 'FOR UPDATE',
    pessimistic_read: 'FOR SHARE',
    pessimistic_partial_write: 'FOR UPDATE SKIP LOCKED',
    pessimistic_write_or_fail: 'FOR UPDATE NOWAIT',
    for_no_key_update: 'FOR NO KEY UPDATE',
    for_key_share: 'FOR KEY SHARE',
  };
  const wait = onLocked === 'skip_locked' ? 'SKIP LOCKED' : onLocked === 'nowait' ? 'NOWAIT' : '';
  return { lock: texts[mode ?? ''] ?? '', wait };
}

/** TypeORM 0.2 took the conditions themselves, or a key. */
function olderForm({ entity }: TypeormCall, options: Abstract | undefined): Abstract | undefined {
  const entries = entriesOf(options);
  if (options?.kind === 'external') return keyOrConditions(entity, unknown(`something of ${options.module}`));
  if (options?.kind === 'value' && !isNothing(options)) return keyOrConditions(entity, options);
  const areConditions = entries !== null && entries.length > 0 && entries.every(([name]) => entity.fields.has(name));
  return areConditions ? by(options) : options;
}

/** `findOne(id)`; of an argument with another name, any column may decide. */
function keyOrConditions({ keys }: Entity, value: Abstract): Abstract {
  const [key = 'id'] = keys;
  const isKey = value.kind === 'value' && (value.value.kind !== 'argument' || /id$/i.test(value.value.name));
  return by(isKey ? objectOf({ [key]: value }) : value);
}

function select(call: TypeormCall, passed: Abstract | undefined): Query {
  const options = olderForm(call, passed);
  const given = optionsOf(options);
  const unread = [...given.keys()].find(
    (name) =>
      !/^(?:where|select|relations|order|take|skip|lock|withDeleted|cache|transaction|comment|loadEagerRelations)$/.test(
        name,
      ),
  );
  const isKnown = options === undefined || isNothing(options) || entriesOf(options) !== null;
  const isRelation = (name: string): boolean =>
    !call.entity.fields.has(name) && relationsOf(call.machine, call.entity).has(name);
  const chosen = given.get('select');
  const names =
    chosen?.kind === 'array'
      ? chosen.elements.value.map((one) => constantText(one) ?? '?')
      : (entriesOf(chosen)?.flatMap(([name, value]) => (constantOf(value) === false ? [] : [name])) ?? [
          ...call.entity.fields.keys(),
        ]);
  const where = whereFragment(call, given.get('where'));
  const query = withCondition(startQuery(call, 'select'), where);
  const lock = optionsOf(given.get('lock'));
  const [take, skip] = [given.get('take'), given.get('skip')];
  const full: Query = {
    ...(constantOf(given.get('withDeleted')) === true ? query : withCondition(query, alive(call))),
    columns: names.filter((name) => !isRelation(name)).map((name) => shown(call, name)),
    orderBy: ordered(call, given.get('order')),
    limit: take === undefined ? null : operand(take),
    offset: skip === undefined ? null : operand(skip),
    ...locks(constantText(lock.get('mode')), constantText(lock.get('onLocked'))),
  };
  if (!isKnown) return withNotRead(full, `what is passed to a find is ${whyNotConstant(options)}`);
  return unread === undefined ? full : withNotRead(full, `\`${unread}\` of a find of TypeORM is not read`);
}

/** Of an order that a caller gives, any column may decide. */
function ordered({ entity }: TypeormCall, order: Abstract | undefined): readonly Fragment[] {
  const isGiven = order !== undefined && !isNothing(order);
  const any = isGiven ? [...entity.fields.keys()].map((name) => [name, constant('ASC')] as const) : [];
  return (entriesOf(order) ?? any).map(([name, way]) =>
    way.kind === 'object' && way.of === null && !(entriesOf(way) ?? []).some(([key]) => key === 'direction')
      ? notRead('an order by a relation is not read')
      : [...column(entity, name), ` ${(constantText(way) ?? 'ASC').toUpperCase()}`],
  );
}

/** The rows with those of the relations that are asked for or always read. Without a limit, where a row stands for one of several related ones. */
function selectRelated(
  call: TypeormCall,
  passed: Abstract | undefined,
  limit: Fragment | null,
): { readonly query: Query; readonly joined: readonly JoinedRelation[] } {
  const given = optionsOf(olderForm(call, passed));
  const base = select(call, passed);
  const query = limit === null ? base : { ...base, limit };
  const joined = joinedRelations(call, given.get('relations'), {
    path: '',
    isEager: constantOf(given.get('loadEagerRelations')) !== false,
  });
  if (typeof joined === 'string') return { query: withNotRead(query, joined), joined: [] };
  const { joins, columns } = joinsOf(call, joined);
  const isMany = (one: JoinedRelation): boolean => one.relation.isList || one.children.some(isMany);
  const full: Query = { ...query, joins, columns: [...query.columns, ...columns] };
  return { query: joined.some(isMany) ? { ...full, limit: null, offset: null } : full, joined };
}

function oneInstance(call: TypeormCall, options: Abstract | undefined): Abstract {
  const { query, joined } = selectRelated(call, options, [constant(1)]);
  return firstRelated(runCall(call, query), call.entity, joined, (entity) => methodsOf({ ...call, entity }));
}

const find: Run = (call, [options]) => {
  const { query, joined } = selectRelated(call, options, null);
  return relatedInstances(runCall(call, query), call.entity, joined, (entity) => methodsOf({ ...call, entity }));
};

const by = (where: Abstract | undefined): Abstract => objectOf({ where: where ?? undefinedValue });

function aggregate(call: TypeormCall, sql: Fragment, where: Abstract | undefined): Abstract {
  const query = { ...select(call, by(where)), columns: [[...sql, ' AS value']] };
  return ofRows(runCall(call, query), (statement) => ({
    kind: 'value',
    value: { kind: 'column', statement, column: 'value', row: 'first' },
  }));
}

const aggregateOf =
  (name: string): Run =>
  (call, [field, where]) =>
    aggregate(call, [`${name}(`, ...column(call.entity, constantText(field) ?? '?'), ')'], where);

function result(rows: Abstract): Abstract {
  return objectOf({ affected: rowCount(rows), raw: rows, generatedMaps: rows, identifiers: rows });
}

/** The columns that the database made are returned. */
function generated(
  { entity, machine }: TypeormCall,
  rows: readonly ReadonlyMap<string, Abstract>[],
): readonly string[] {
  if (!dialects[machine.dialect].hasReturning) return [];
  return [...entity.fields].flatMap(([name, { isGenerated }]) =>
    isGenerated && !rows.every((row) => row.has(name)) ? [name] : [],
  );
}

/** The properties that have a value; `null`: they are not known. */
function fieldsOf({ entity }: EntityContext, value: Abstract): ReadonlyMap<string, Abstract> | null {
  const object = objectIn(value);
  // Of a row object and of an entity's class, the rest is methods.
  const isOpen = object === undefined || (object.of === null && loadedFrom(object) === undefined);
  const entries = isOpen
    ? writtenEntries(object ?? value, writableFields(entity))
    : entriesOf({ ...object, rest: null });
  return entries === null ? null : new Map(entries);
}

function insertRows(call: TypeormCall, values: Abstract | undefined, conflict: Fragment): Abstract {
  const list = values?.kind === 'array' ? values.elements.value : [values ?? undefinedValue];
  const rows = list.map((row) => fieldsOf(call, row));
  const known = rows.map(
    (row) =>
      new Map(
        [...(row ?? [])]
          .filter(([name]) => call.entity.fields.has(name))
          .map(([name, value]) => [name, foreignKey(value)]),
      ),
  );
  const query = insertQuery(call, known, conflict, generated(call, known));
  return runCall(
    call,
    rows.includes(null) ? withNotRead(query, `the rows of INSERT are ${whyNotConstant(values)}`) : query,
  );
}

/** An entity, or `{ id }`, in place of its key. */
function foreignKey(value: Abstract): Abstract {
  const object = objectIn(value);
  return object?.properties.get('id')?.value ?? value;
}

function set(call: TypeormCall, values: Abstract | undefined): ReadonlyMap<string, Fragment> {
  const entries = writtenEntries(values, writableFields(call.entity));
  if (entries === null) return new Map([['?', notRead(`the columns of SET are ${whyNotConstant(values)}`)]]);
  return new Map(entries.map(([name, value]) => [name, setValue(call, value)]));
}

/** A value, or SQL: `() => 'n + 1'`. */
export function setValue({ machine, at }: TypeormCall, value: Abstract): Fragment {
  if (value.kind !== 'function') return operand(foreignKey(value));
  const text = constantText(machine.call(value, [], at));
  return text === undefined ? notRead('SQL in SET is not constant') : [text];
}

function updating(call: TypeormCall, values: ReadonlyMap<string, Fragment>, where: Fragment): Abstract {
  const query = withCondition(startQuery(call, 'update'), where);
  return runCall(call, { ...query, assignments: assigned(call, values) });
}

const counter =
  (sign: '+' | '-'): Run =>
  (call, [where, field, amount]) => {
    const name = constantText(field) ?? '?';
    const value: Fragment = [...column(call.entity, name), ` ${sign} `, ...operand(amount ?? constant(1))];
    return result(updating(call, new Map([[name, value]]), criteria(call, where)));
  };

function removing(call: TypeormCall, where: Fragment): Abstract {
  return runCall(call, withCondition(startQuery(call, 'delete'), where));
}

function deletionOf(call: TypeormCall): ReadonlyMap<string, Fragment> {
  const deletion = deletionField(call.entity);
  return new Map([
    [deletion ?? '?', deletion === undefined ? notRead('the entity has no column of deletion') : ['CURRENT_TIMESTAMP']],
  ]);
}

/** A row is read again before it is saved; what is written is in a transaction, unless one is open. */
function together(call: TypeormCall, body: (call: TypeormCall) => Abstract): Abstract {
  const { open } = call.machine.emitter;
  if (open !== null && open.connection === call.owner) return body(call);
  const connection: Connection = {};
  return call.machine.inTransaction(connection, null, call.at, () => body({ ...call, owner: connection }));
}

function readAgain(call: TypeormCall, object: ObjectValue): Abstract {
  const query = withCondition(startQuery(call, 'select'), keyCondition(call, object));
  return firstRow(
    runCall(call, { ...query, columns: [...call.entity.fields.keys()].map((name) => shown(call, name)) }),
  );
}

/** A row that may be missing: the library throws then. */
function present(call: TypeormCall, value: Abstract | undefined): Abstract | undefined {
  return value?.kind === 'choice' ? requireRow(call.machine, value) : value;
}

/** What a caller or a library gives, as a row object: any of its columns may be written. */
function openRow(call: TypeormCall, value: Abstract | undefined): ObjectValue | undefined {
  const known = objectIn(value);
  if (known !== undefined || value?.kind !== 'value') return known;
  const fields = fieldsOf(call, value);
  if (fields === null) return undefined;
  const keys = call.entity.keys.map((key) => [key, fieldOf(value.value, key)] as const);
  return newInstance(call.entity, new Map([...keys, ...fields]), methodsOf(call));
}

/** Each element of a list of rows. */
function eachRow(call: TypeormCall, list: RowsValue, run: Run): Abstract {
  overList(call.machine, list, 'row', (element) => (run(call, [elementIn(list, element)]), normalCompletion), call.at);
  return list;
}

const save: Run = (call, [given]) => {
  const value = present(call, given);
  if (value?.kind === 'array') return arrayOf(value.elements.value.map((each) => save(call, [each])));
  if (value?.kind === 'rows') return eachRow(call, value, save);
  const object = openRow(call, value);
  const fields = object === undefined ? null : fieldsOf(call, object);
  if (object === undefined || fields === null) {
    call.machine.notUnderstood(call.at, `what is saved is ${whyNotConstant(value)}`);
    return value ?? undefinedValue;
  }
  const hasKey = call.entity.keys.every((key) => fields.has(key));
  if (!hasKey) {
    const rows = together(call, (own) => insertRows(own, object, []));
    return objectIn(firstInstance(rows, call.entity, methodsOf(call))) ?? rows;
  }
  const found = readAgain(call, object);
  const isLoaded = loadedFrom(object) !== undefined && (loadedFrom(object)?.original.size ?? 0) > 0;
  const changed = new Map(
    [...changedFields(object)].filter(
      ([name]) => call.entity.fields.has(name) && (isLoaded || !call.entity.keys.includes(name)),
    ),
  );
  const write = (): void => {
    if (changed.size > 0)
      together(call, (own) =>
        updating(
          own,
          new Map([...changed].map(([name, one_]) => [name, setValue(own, one_)])),
          keyCondition(own, object),
        ),
      );
  };
  if (isLoaded) write();
  else
    call.machine.fork(
      truthOf(found),
      () => (write(), normalCompletion),
      () => (together(call, (own) => insertRows(own, object, [])), normalCompletion),
    );
  markSaved(call.machine, object);
  return object;
};

const remove: Run = (call, [given]) => {
  const value = present(call, given);
  if (value?.kind === 'array') return arrayOf(value.elements.value.map((each) => remove(call, [each])));
  if (value?.kind === 'rows') return eachRow(call, value, remove);
  const object = openRow(call, value);
  if (object === undefined) {
    call.machine.notUnderstood(call.at, `what is removed is ${whyNotConstant(value)}`);
    return value ?? undefinedValue;
  }
  readAgain(call, object);
  together(call, (own) => removing(own, keyCondition(own, object)));
  return object;
};

export const repositoryCalls: Readonly<Record<string, Run>> = {
  find,
  findBy: (call, [where]) => find(call, [by(where)]),
  findOne: (call, [options]) => oneInstance(call, options),
  findOneBy: (call, [where]) => oneInstance(call, by(where)),
  findOneOrFail: (call, [options]) => requireRow(call.machine, oneInstance(call, options)),
  findOneByOrFail: (call, [where]) => requireRow(call.machine, oneInstance(call, by(where))),
  findAndCount: (call, [options]) => {
    const rows = find(call, [options ?? undefinedValue]);
    return arrayOf([rows, rowCount(rows)]);
  },
  count: (call, [options]) => aggregate(call, ['count(1)'], optionsOf(options).get('where')),
  countBy: (call, [where]) => aggregate(call, ['count(1)'], where),
  sum: aggregateOf('sum'),
  average: aggregateOf('avg'),
  minimum: aggregateOf('min'),
  maximum: aggregateOf('max'),
  exists: (call, [options]) => exists(call, optionsOf(options).get('where')),
  exist: (call, [options]) => exists(call, optionsOf(options).get('where')),
  existsBy: (call, [where]) => exists(call, where),
  insert: (call, [values]) => result(insertRows(call, values, [])),
  update: (call, [where, values]) => result(updating(call, set(call, values), criteria(call, where))),
  delete: (call, [where]) => result(removing(call, criteria(call, where))),
  softDelete: (call, [where]) => result(updating(call, deletionOf(call), criteria(call, where))),
  increment: counter('+'),
  decrement: counter('-'),
  upsert: (call, [values, paths]) => {
    const given = paths?.kind === 'object' ? paths.properties.get('conflictPaths')?.value : paths;
    const targets =
      given?.kind === 'array'
        ? given.elements.value.map((one_) => constantText(one_) ?? '?')
        : (entriesOf(given)?.map(([name]) => name) ?? []);
    const [first] = values?.kind === 'array' ? values.elements.value : [values];
    const names = [...(first === undefined ? [] : (fieldsOf(call, first)?.keys() ?? []))];
    return result(insertRows(call, values, overwriting(call, targets, names)));
  },
  save,
  remove,
  clear: (call) => result(removing(call, [])),
  create: (call, [values]) =>
    values?.kind === 'array'
      ? arrayOf(
          values.elements.value.map((each) =>
            newInstance(call.entity, fieldsOf(call, each) ?? new Map(), methodsOf(call)),
          ),
        )
      : newInstance(call.entity, (values === undefined ? null : fieldsOf(call, values)) ?? new Map(), methodsOf(call)),
  merge: (call, [target, values]) => {
    const object = objectIn(target);
    for (const [name, value] of entriesOf(values) ?? []) {
      const cell = object?.properties.get(name) ?? { value: undefinedValue };
      object?.properties.set(name, cell);
      call.machine.memory.write(cell, value);
    }
    return target ?? undefinedValue;
  },
};

function exists(call: TypeormCall, where: Abstract | undefined): Abstract {
  const rows = runCall(call, { ...select(call, by(where)), columns: [['1']], limit: [constant(1)] });
  return { kind: 'value', value: truthOf(firstRow(rows)) };
}

/** Of entities that extend BaseEntity. */
export function methodsOf(call: TypeormCall): Methods {
  return (self) => ({
    kind: 'native',
    title: 'an entity of TypeORM',
    isHandle: true,
    member: (name) =>
      name === 'save' || name === 'remove'
        ? native(name, (_, at) => (name === 'save' ? save : remove)({ ...call, at }, [self]))
        : undefined,
  });
}
