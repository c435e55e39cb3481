/** The statements that Sequelize 6 sends for the methods of a model and of its instances. */
import {
  type Abstract,
  arrayOf,
  constant,
  native,
  type Native,
  type ObjectValue,
  undefinedValue,
  unknown,
  type Fragment,
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import { normalCompletion } from '../machine.ts';
import { eachRow } from '../over-list.ts';
import { isOpenList } from './table-fields.ts';
import { choose, constantOf, isNothing, truthOf } from '../value-arithmetic.ts';
import { requireRow, rowCount } from './chain.ts';
import { entriesOf, givenEntries, optionsOf } from './clauses.ts';
import { writtenEntries } from './open-objects.ts';
import { dialects } from './dialect.ts';
import {
  assigned,
  changedFields,
  column,
  deletionField,
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
import {
  type AssociationCall,
  associationCall,
  type AssociationMethod,
  associationMethod,
} from './sequelize-mixins.ts';
import { changeLinks, type LinkVerb } from './sequelize-links.ts';
import { isToMany, rowsBetween } from './sequelize-associations.ts';
import type { IncludedRows } from './sequelize-include.ts';
import { entityOf } from './sequelize-models.ts';
import { aggregates } from './sequelize-aggregates.ts';
import { includedIn, nestedRows, on, optionsIn, scoped, select, type SequelizeCall } from './sequelize-select.ts';
import { not } from '../conditions.ts';
import { ownEntry } from './own-entry.ts';

type Run = (call: SequelizeCall, args: readonly Abstract[]) => Abstract;

function oneInstance(call: SequelizeCall, query: Query, options: Abstract | undefined): Abstract {
  const found = firstInstance(runCall(call, query), call.entity, methodsOf(call, includedIn(call, options)));
  const isRequired = !isNothing(optionsOf(options).get('rejectOnEmpty') ?? undefinedValue);
  return isRequired ? requireRow(call.machine, found) : found;
}

const findOne: Run = (call, [options]) => {
  const query = select(call, options);
  const tested = new Set((entriesOf(optionsIn(call, options).get('where')) ?? []).map(([name]) => name));
  // By its whole key there is one row at most.
  const isKey = call.entity.keys.every((key) => tested.has(key));
  return oneInstance(on(call, options), isKey ? query : { ...query, limit: [constant(1)] }, options);
};

const findAll: Run = (call, [options]) => {
  const own = on(call, options);
  return instances(runCall(own, select(own, options)), own.entity, methodsOf(own, includedIn(own, options)));
};

const create: Run = (call, [values, options]) => {
  const own = on(call, options);
  return insertOne(own, rowEntries(own, values), options, values);
};

function insertOne(
  call: SequelizeCall,
  entries: ReturnType<typeof entriesOf>,
  options: Abstract | undefined,
  values: Abstract | undefined,
): Abstract {
  const rows = insertRows(call, [entries], options, values, []);
  return objectIn(firstInstance(rows, call.entity, methodsOf(call, []))) ?? rows;
}

function insertRows(
  call: SequelizeCall,
  list: readonly ReturnType<typeof entriesOf>[],
  options: Abstract | undefined,
  values: Abstract | undefined,
  conflict: Fragment,
): Abstract {
  const fields = [...call.entity.fields.keys()];
  const isQuiet = constantOf(optionsOf(options).get('returning')) === false;
  const rows = list.map((entries) => new Map((entries ?? []).filter(([name]) => call.entity.fields.has(name))));
  const query = insertQuery(
    call,
    rows,
    conflict,
    isQuiet || !dialects[call.machine.dialect].hasReturning ? [] : fields,
  );
  const isKnown = list.every((entries) => entries !== null);
  return runCall(call, isKnown ? query : withNotRead(query, `the rows of INSERT are ${whyNotConstant(values)}`));
}

const bulkCreate: Run = (call, [values, options]) => {
  const own = on(call, options);
  const given = optionsOf(options);
  const only = values?.kind === 'array' && values.elements.value.length === 1 ? values.elements.value[0] : values;
  if (isOpenList(only)) {
    // A statement for each: what all of them write, the one statement of the library writes.
    eachRow(own.machine, only, (row) => void bulkCreate(call, [arrayOf([row]), options ?? undefinedValue]), own.at);
    return unknown('the rows that a list makes');
  }
  const list =
    values?.kind === 'array' ? values.elements.value.map((row) => rowEntries(own, row)) : [rowEntries(own, values)];
  const updated = given.get('updateOnDuplicate');
  const names = updated?.kind === 'array' ? updated.elements.value.map((name) => constantText(name) ?? '?') : [];
  const conflict: Fragment =
    names.length > 0
      ? overwriting(own, own.entity.keys, names)
      : given.has('ignoreDuplicates')
        ? [' ON CONFLICT DO NOTHING']
        : [];
  return instances(
    insertRows(own, list, options, values, conflict),
    own.entity,
    methodsOf(own, includedIn(own, options)),
  );
};

const upsert: Run = (call, [values, options]) => {
  const own = on(call, options);
  const names = [
    ...(rowEntries(own, values) ?? []).map(([name]) => name),
    ...[...own.entity.fields].flatMap(([name, { onUpdate }]) => (onUpdate === null ? [] : [name])),
  ];
  const rows = insertRows(own, [rowEntries(own, values)], options, values, overwriting(own, own.entity.keys, names));
  return arrayOf([
    firstInstance(rows, own.entity, methodsOf(own, includedIn(own, options))),
    { kind: 'value', value: { kind: 'unknown', reason: 'whether the row is new' } },
  ]);
};

function updating(
  call: SequelizeCall,
  values: ReadonlyMap<string, Fragment>,
  where: Fragment,
  returning: readonly string[],
): Abstract {
  const query = withCondition(startQuery(call, 'update'), where);
  return runCall(call, {
    ...query,
    assignments: assigned(call, values),
    returning: returning.map((field) => shown(call, field)),
  });
}

/** What `create` and `update` write: the database makes the generated fields, and a key stays. */
function rowEntries({ entity }: SequelizeCall, values: Abstract | undefined): ReturnType<typeof entriesOf> {
  // `row.toJSON()`, a row object that another made: what it has.
  const object = loadedFrom(values ?? undefinedValue) === undefined ? undefined : objectIn(values);
  if (object !== undefined) return givenEntries(object).filter(([name]) => entity.fields.has(name));
  return writtenEntries(values, writableFields(entity));
}

function fragmentsOf(call: SequelizeCall, values: Abstract | undefined): ReadonlyMap<string, Fragment> | null {
  const entries = rowEntries(call, values);
  return entries === null ? null : new Map(entries.map(([name, value]) => [name, operand(value)]));
}

const update: Run = (call, [values, options]) => {
  const own = on(call, options);
  const given = optionsOf(options);
  const set = fragmentsOf(own, values) ?? new Map([['?', notRead(`the columns of SET are ${whyNotConstant(values)}`)]]);
  const returns = constantOf(given.get('returning')) === true;
  const rows = updating(own, set, scoped(own, options), returns ? [...own.entity.fields.keys()] : []);
  return arrayOf([
    rowCount(rows),
    returns ? instances(rows, own.entity, methodsOf(own, includedIn(own, options))) : undefinedValue,
  ]);
};

const destroy: Run = (call, [options]) => rowCount(removing(on(call, options), scoped(call, options), options));

/** DELETE, or UPDATE of a paranoid model. */
function removing(call: SequelizeCall, where: Fragment, options: Abstract | undefined): Abstract {
  const deletion = deletionField(call.entity);
  if (deletion !== undefined && constantOf(optionsOf(options).get('force')) !== true)
    return updating(
      call,
      new Map([[deletion, [{ kind: 'value', value: { kind: 'unknown', reason: 'the time', from: [] } }]]]),
      where,
      [],
    );
  return runCall(call, withCondition(startQuery(call, 'delete'), where));
}

/** `increment('n', { by: 2 })`, `increment({ n: 2 })`, `increment(['n'])` */
function counter(sign: '+' | '-', where: (call: SequelizeCall, options: Abstract | undefined) => Fragment): Run {
  return (call, [fields, options]) => {
    const own = on(call, options);
    const by = optionsOf(options).get('by') ?? constant(1);
    const names =
      fields?.kind === 'array' ? fields.elements.value : fields?.kind === 'object' ? [] : [fields ?? undefinedValue];
    const given = entriesOf(fields) ?? names.map((name) => [constantText(name) ?? '?', by] as const);
    const set = new Map(
      given.map(([name, amount]) => [name, [...column(own.entity, name), ` ${sign} `, ...operand(amount)]] as const),
    );
    return updating(own, set, where(own, options), [...own.entity.fields.keys()]);
  };
}

/** A read, and an INSERT where it finds nothing. */
function foundOrCreated(call: SequelizeCall, options: Abstract | undefined): Abstract {
  const found = firstInstance(runCall(call, select(call, options)), call.entity, methodsOf(call, []));
  const isThere = truthOf(found);
  const given = optionsOf(options);
  const values = [...(entriesOf(given.get('where')) ?? []), ...(entriesOf(given.get('defaults')) ?? [])];
  let created: Abstract = found;
  call.machine.fork(
    isThere,
    () => normalCompletion,
    () => ((created = insertOne(call, values, options, options)), normalCompletion),
  );
  return arrayOf([choose(isThere, found, created), { kind: 'value', value: not(isThere) }]);
}

/** In a transaction of its own, unless there is one. */
const findOrCreate: Run = (call, [options]) => {
  const own = on(call, options);
  if (own.owner !== null) return foundOrCreated(own, options);
  const connection: Connection = {};
  return own.machine.inTransaction(connection, null, own.at, () =>
    foundOrCreated({ ...own, owner: connection }, options),
  );
};

/** Without a transaction: where another was faster, it looks again. */
const findCreateFind: Run = (call, [options]) => foundOrCreated(on(call, options), options);

export const modelCalls: Readonly<Record<string, Run>> = {
  findOne,
  findByPk: (call, [key, options]) => {
    const [name] = call.entity.keys;
    const own = on(call, options);
    const tested: Fragment = [...column(call.entity, name ?? 'id'), ' = ', ...operand(key ?? undefinedValue)];
    return oneInstance(own, select(own, options, tested), options);
  },
  findAll,
  findAndCountAll: (call, [options]) => {
    const total = aggregates.count(call, [options ?? undefinedValue]);
    const rows = findAll(call, [options ?? undefinedValue]);
    return {
      kind: 'object',
      properties: new Map([
        ['count', { value: total }],
        ['rows', { value: rows }],
      ]),
      of: null,
      rest: null,
    };
  },
  create,
  bulkCreate,
  build: (call, [values]) => newInstance(call.entity, optionsOf(values), methodsOf(call, [])),
  upsert,
  update,
  destroy,
  increment: counter('+', (call, options) => scoped(call, options)),
  decrement: counter('-', (call, options) => scoped(call, options)),
  findOrCreate,
  findCreateFind,
  ...aggregates,
};

/** What an instance does: `save` writes the fields that changed. `rows` are those that were read with it. */
function methodsOf(call: SequelizeCall, rows: readonly IncludedRows[]): Methods {
  return (self, valueOf) => ({
    kind: 'native',
    title: 'an instance of Sequelize',
    isHandle: true,
    member: (name) => {
      if (name === 'dataValues') return self;
      const nested = nestedRows(rows, (key, inner) => methodsOf(ofModel(call, key), inner), valueOf).get(name);
      if (nested !== undefined) {
        // What the program writes to it, it saves.
        self.properties.set(name, { value: nested });
        return nested;
      }
      const own = { ...call, scopes: [], owner: null };
      const of = ownEntry(instanceCalls, name);
      if (of !== undefined) return native(name, (args, at) => of({ ...own, at }, self, args));
      const method = associationMethod(call.key, name);
      if (method === undefined) return undefined;
      return native(name, (args, at) => associated({ ...own, at }, self, name, method, args));
    },
  });
}

function ofModel(call: SequelizeCall, key: object): SequelizeCall {
  return { ...call, key, entity: entityOf(key) ?? call.entity };
}

/** `user.getPosts(options)`, `user.$get('posts', options)` */
function associated(
  call: SequelizeCall,
  self: ObjectValue,
  name: string,
  { verb, association }: AssociationMethod,
  given: readonly Abstract[],
): Abstract {
  const args = association === undefined ? given.slice(1) : given;
  const found = associationCall(call, self, name, association, given[0]);
  const notUnderstood = (reason: string): Abstract => {
    call.machine.notUnderstood(call.at, reason);
    return unknown(`what ${name} gives`);
  };
  if (typeof found === 'string') return notUnderstood(found);
  const [first, second] = args;
  const own = on(found.call, verb === 'create' ? second : first);
  if (verb === 'create' && found.owned !== null) {
    const [field, key] = found.owned;
    return insertOne(own, [...(rowEntries(own, first) ?? []), [field, key]], second, first);
  }
  if (verb === 'add' || verb === 'set' || verb === 'remove') {
    const reason = linked(call, self, verb, found, args);
    return reason === null
      ? unknown(`what ${name} gives`)
      : notUnderstood(`\`${name}\` of Sequelize is not read${reason}`);
  }
  if (verb !== 'get' && verb !== 'count') return notUnderstood(`\`${name}\` of Sequelize is not read`);
  const query = select(own, first, found.condition);
  if (verb === 'count') return rowCount(runCall(own, query));
  const rows = runCall(own, isToMany(found.association) ? query : { ...query, limit: [constant(1)] });
  const methods = methodsOf(own, includedIn(own, first));
  return isToMany(found.association) ? instances(rows, own.entity, methods) : firstInstance(rows, own.entity, methods);
}

/** Changes which rows are the object's; a clause says why it is not read. @param call Of the object's own model */
function linked(
  call: SequelizeCall,
  self: ObjectValue,
  verb: LinkVerb,
  { association, link, ownKey, call: other }: AssociationCall,
  [given, options]: readonly Abstract[],
): string | null {
  const attributes = entriesOf(optionsOf(options).get('through'));
  if (attributes !== null && attributes.length > 0) return ' with columns of its own between the rows';
  if (association.kind === 'own-key') {
    if (verb !== 'set') return ': the row has one of these';
    const key =
      given === undefined || objectIn(given) === undefined ? given : call.machine.member(given, link.other, call.at);
    assign(call, self, link.own, key ?? constant(null));
    save(call, self, [options ?? undefinedValue]);
    return null;
  }
  if (association.kind === 'other-key-one') return ': one other row has the key';
  const between = association.kind === 'through' ? rowsBetween(other.key, association, link) : null;
  if (between === undefined) return ': no file says the rows between the models';
  changeLinks({ call: on(other, options), link, key: ownKey, between }, verb, given);
  return null;
}

type InstanceRun = (call: SequelizeCall, self: ObjectValue, args: readonly Abstract[]) => Abstract;

const save: InstanceRun = (call, self, [options]) => {
  const own = on(call, options);
  const changed = changedFields(self);
  const { entity } = own;
  if (entity.keys.every((key) => !self.properties.has(key))) return insertOne(own, [...changed], options, self);
  if (changed.size > 0) {
    const set = new Map([...changed].map(([name, value]) => [name, operand(value)]));
    updating(own, set, keyCondition(own, self), []);
    markSaved(own.machine, self);
  }
  return self;
};

const change =
  (sign: '+' | '-'): InstanceRun =>
  (call, self, args) => {
    counter(sign, (own) => keyCondition(own, self))(call, args);
    return self;
  };

const instanceCalls: Readonly<Record<string, InstanceRun>> = {
  save,
  update: (call, self, [values, options]) => {
    const entries = rowEntries(call, values);
    if (entries === null) {
      call.machine.notUnderstood(call.at, `the columns of SET are ${whyNotConstant(values)}`);
      return self;
    }
    for (const [name, value] of entries) assign(call, self, name, value);
    return save(call, self, [options ?? undefinedValue]);
  },
  set: (call, self, [name, value]) => {
    for (const [field, one_] of entriesOf(name) ?? [[constantText(name) ?? '?', value ?? undefinedValue] as const])
      assign(call, self, field, one_);
    return self;
  },
  destroy: (call, self, [options]) => removing(on(call, options), keyCondition(call, self), options),
  increment: change('+'),
  decrement: change('-'),
  reload: (call, self, [options]) => {
    const own = on(call, options);
    const rows = runCall(own, select(own, options, keyCondition(own, self)));
    const fresh = objectIn(firstInstance(rows, own.entity, methodsOf(own, includedIn(own, options))));
    for (const [name, cell] of fresh?.properties ?? []) assign(call, self, name, cell.value);
    return self;
  },
  get: (call, self, [name]) =>
    constantText(name) === undefined ? self : call.machine.member(self, constantText(name) ?? '', call.at),
  getDataValue: (call, self, [name]) => call.machine.member(self, constantText(name) ?? '', call.at),
  toJSON: (_, self) => self,
};

function assign({ machine }: SequelizeCall, self: ObjectValue, name: string, value: Abstract): void {
  const cell = self.properties.get(name) ?? { value: undefinedValue };
  self.properties.set(name, cell);
  machine.memory.write(cell, value);
}

export function modelNative(title: string, member: NonNullable<Native['member']>): Native {
  return { kind: 'native', title, isHandle: true, member };
}
