/** The statements that TypeORM sends for the methods of a repository (seen with TypeORM 1.1). */
import {
  type Abstract,
  arrayOf,
  constant,
  native,
  objectOf,
  type ObjectValue,
  undefinedValue,
  type Fragment,
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import { normalCompletion } from '../machine.ts';
import { constantOf, isNothing, truthOf } from '../value-arithmetic.ts';
import { firstRow, ofRows, requireRow, rowCount } from './chain.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { writtenEntries } from './open-objects.ts';
import { dialects } from './dialect.ts';
import {
  assigned,
  changedFields,
  column,
  deletionField,
  type EntityCall,
  type EntityContext,
  overwriting,
  runCall,
  firstInstance,
  insertQuery,
  instances,
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
  const areConditions = entries !== null && entries.length > 0 && entries.every(([name]) => entity.fields.has(name));
  return areConditions ? by(options) : options;
}

function select(call: TypeormCall, passed: Abstract | undefined): Query {
  const options = olderForm(call, passed);
  const given = optionsOf(options);
  const unread = [...given.keys()].find(
    (name) =>
      !/^(?:where|select|order|take|skip|lock|withDeleted|cache|transaction|comment|loadEagerRelations)$/.test(name),
  );
  const isKnown = options === undefined || isNothing(options) || entriesOf(options) !== null;
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
    columns: names.map((name) => shown(call, name)),
    orderBy: (entriesOf(given.get('order')) ?? []).map(([name, way]) => [
      ...column(call.entity, name),
      ` ${(constantText(way) ?? 'ASC').toUpperCase()}`,
    ]),
    limit: take === undefined ? null : operand(take),
    offset: skip === undefined ? null : operand(skip),
    ...locks(constantText(lock.get('mode')), constantText(lock.get('onLocked'))),
  };
  if (!isKnown) return withNotRead(full, `what is passed to a find is ${whyNotConstant(options)}`);
  return unread === undefined ? full : withNotRead(full, `\`${unread}\` of a find of TypeORM is not read`);
}

function oneInstance(call: TypeormCall, options: Abstract | undefined): Abstract {
  return firstInstance(runCall(call, { ...select(call, options), limit: [constant(1)] }), call.entity, methodsOf(call));
}

const find: Run = (call, [options]) => instances(runCall(call, select(call, options)), call.entity, methodsOf(call));

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
  const connection: Connection = { nextLevel: null };
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

const save: Run = (call, [given]) => {
  const value = present(call, given);
  if (value?.kind === 'array') return arrayOf(value.elements.value.map((each) => save(call, [each])));
  const object = objectIn(value);
  const fields = value === undefined ? null : fieldsOf(call, value);
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
  const object = objectIn(value);
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
