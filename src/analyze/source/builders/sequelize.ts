/** Sequelize 6: models by `define` and `init`, managed and unmanaged transactions, instances, raw SQL. */
import type ts from 'typescript';
import {
  type Abstract,
  arrayOf,
  constant,
  native,
  type Native,
  objectOf,
  undefinedValue,
  unknown,
  type Fragment,
  findInEnds,
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Driver, Machine, Owner } from '../machine.ts';
import { levelIn } from '../level.ts';
import { expression } from '../conditions.ts';
import { choose, constantOf, isNothing } from '../value-arithmetic.ts';
import { beginsTransaction } from './begins-transaction.ts';
import { runFragment } from './chain.ts';
import { objectIn } from './entity.ts';
import { onEachPath } from './choices.ts';
import { withoutRefused } from './refused-values.ts';
import { optionsOf } from './clauses.ts';
import { constantText, notRead, operand, whyNotConstant } from './fragment.ts';
import { defineDecorated } from './sequelize-decorators.ts';
import { associationName, foreignKeyName, keyOfModel, namedKey, withModelKey } from './sequelize-associations.ts';
import { modelCalls, modelNative } from './sequelize-calls.ts';
import type { SequelizeCall } from './sequelize-select.ts';
import {
  addAssociation,
  type AssociationKind,
  addForeignKey,
  addScope,
  defineModel,
  entityOf,
  keyOfClass,
  modelName,
  scopeNames,
  scopeOf,
  singularOf,
} from './sequelize-models.ts';
import { ownEntry } from './own-entry.ts';
import { operators, sqlFunction } from './sequelize-where.ts';

export const sequelize: Driver = {
  modules: /^(?:sequelize(?:-typescript)?|@nestjs\/sequelize)$/,
  construct: (machine, { path }, [...args]) =>
    /^(?:Sequelize|default)$/.test(path.at(-1) ?? 'default') ? sequelizeHandle(machine, defaultsIn(args)) : undefined,
  call: (machine, { path }) => {
    if (path.at(-1) !== 'useCLS') return undefined;
    usesCls.add(machine);
    return undefinedValue;
  },
  ofType: (machine, { path }) => {
    if (path.at(-1) === 'Transaction') return transactionObject(machine, {});
    return path.at(-1) === 'Sequelize' ? sequelizeHandle(machine, new Map()) : undefined;
  },
  value: (machine, { path }) => {
    const inside = path[0] === 'Sequelize' || path[0] === 'default' ? path.slice(1) : path;
    const [first = '', second, third] = inside;
    if (first === 'Op' && inside.length === 1) return operators;
    if (first === 'Transaction' && third !== undefined && inside.length === 3)
      return constant(second === 'ISOLATION_LEVELS' || second === 'LOCK' ? third : '');
    return inside.length === 1 ? sqlFunction(machine, first) : undefined;
  },
  modelOf: (machine, { path }, type) => {
    if (path.at(-1) !== 'Model') return undefined;
    const key = keyOfClass(type);
    if (modelName(key) === undefined) defineDecorated(machine, type, key);
    return modelHandle(machine, key, type.node.name?.text ?? 'a model', new Map());
  },
  startsStatement: /^(?:find(?:ByPk|OrCreate|AndCountAll|All)|bulkCreate)$/,
  isModelCall: (machine, method, receiver) => {
    const key = keyOfModel(machine, receiver);
    const isRun = Object.hasOwn(modelCalls, method) && method !== 'build';
    return isRun && key !== undefined && modelName(key) !== undefined;
  },
  byUse: {
    isUse: (api, call, first) => {
      const { expression: callee, arguments: args } = call;
      const isDefinition = api.isPropertyAccessExpression(callee) && callee.name.text === 'define' && args.length > 1;
      return (isDefinition && typeof first === 'string') || beginsTransaction(api, call);
    },
    handleOf: (machine) => sequelizeHandle(machine, new Map()),
    inTransaction: (machine, connection) => {
      managed.add(connection);
      return transactionObject(machine, connection);
    },
  },
  outsideMember: (machine, name) => (name === 'models' ? registered(machine) : undefined),
};

/** All models by name, whatever handle they were defined on. */
const models = new WeakMap<Machine, Map<string, Abstract>>();

function modelsOf(machine: Machine): Map<string, Abstract> {
  const known = models.get(machine) ?? new Map<string, Abstract>();
  models.set(machine, known);
  return known;
}

/** `x.models` of something that is not made in the sources. */
function registered(machine: Machine): Abstract | undefined {
  const all = modelsOf(machine);
  return all.size === 0 ? undefined : objectOf(Object.fromEntries(all));
}

/** `define` of `new Sequelize(url, { define: { ... } })`. */
function defaultsIn(args: readonly Abstract[]): ReadonlyMap<string, Abstract> {
  const options = args.findLast(({ kind }) => kind === 'object');
  return optionsOf(optionsOf(options).get('define'));
}

const defaultsOf = new WeakMap<Abstract, ReadonlyMap<string, Abstract>>();
const connections = new WeakMap<Abstract, Connection>();

function sequelizeHandle(machine: Machine, defaults: ReadonlyMap<string, Abstract>): Native {
  const handle = modelNative('a handle of Sequelize', (name) => {
    switch (name) {
      case 'define':
        return native(name, ([title, attributes, options]) => {
          const text = constantText(title) ?? 'a model';
          // Two handles, one for each configuration, define the same models.
          const key = keyOfModel(machine, modelsOf(machine).get(text)) ?? {};
          defineModel(key, text, attributes, options, defaults);
          const model = modelHandle(machine, key, text, defaults);
          modelsOf(machine).set(text, model);
          return model;
        });
      case 'transaction':
        return native(name, (args, at) => transaction(machine, args, at));
      case 'query':
        return native(name, (given, at) =>
          onEachPath(machine, given, ([text, options]) => query(machine, text, options, at)),
        );
      case 'models':
        return objectOf(Object.fromEntries(modelsOf(machine)));
      case 'model':
        return native(name, ([title]) => modelsOf(machine).get(constantText(title) ?? '') ?? undefinedValue);
      case 'addModels':
      case 'authenticate':
      case 'close':
      case 'sync':
        return native(name, () => undefinedValue);
      default:
        return sqlFunction(machine, name) ?? native(name, () => undefinedValue);
    }
  });
  defaultsOf.set(handle, defaults);
  return handle;
}

/** `Sequelize.useCLS(namespace)`: a statement is in the transaction whose function runs, unless its options say `transaction: null`. */
const usesCls = new WeakSet<Machine>();

/** Also of options of which the source says only a part, `{ ...options, transaction }`. */
function ownerIn(machine: Machine, options: Abstract | undefined, at: ts.Node): Owner {
  const given = objectIn(options)?.properties.get('transaction')?.value;
  if (given === undefined || given.kind === 'undefined') {
    const { open } = machine.emitter;
    return usesCls.has(machine) && open !== null && managed.has(open.connection) ? open.connection : null;
  }
  const known = transactionOf(given);
  if (known === undefined && given.kind === 'value' && given.value.kind === 'unknown')
    machine.notUnderstood(at, `the transaction is not constant: ${given.value.reason}`);
  return known ?? null;
}

/** Also where it is there on a path only: `options?.transaction`. */
function transactionOf(given: Abstract): Connection | undefined {
  return findInEnds(given, (end) => connections.get(end));
}

/** Of transactions that run a function. */
const managed = new WeakSet<Connection>();

type Defaults = ReadonlyMap<string, Abstract>;

/** The scopes that were asked for; `null`: the default one. */
type Scopes = readonly Abstract[] | null;

/** The model's static methods; `key` is what its definition is found by. */
function modelHandle(machine: Machine, key: object, name: string, defaults: Defaults, scopes: Scopes = null): Native {
  const again = (asked: Scopes): Native => modelHandle(machine, key, name, defaults, asked);
  const model: Native = modelNative(`the model ${name}`, (method) => {
    const kind = ownEntry(kinds, method);
    if (kind !== undefined)
      return native(
        method,
        ([other, options]) => (associate(machine, key, name, kind, other, options), undefinedValue),
      );
    switch (method) {
      case 'init':
        return native(method, ([attributes, options]) => {
          const handle = optionsOf(options).get('sequelize');
          const given = handle === undefined ? defaults : (defaultsOf.get(handle) ?? defaults);
          defineModel(key, name, attributes, options, given);
          modelsOf(machine).set(modelName(key) ?? name, model);
          return model;
        });
      case 'addScope':
        return native(method, ([scope, value]) => {
          const title = constantText(scope);
          if (title !== undefined && value !== undefined) addScope(key, title, value);
          return undefinedValue;
        });
      case 'sequelize':
        return sequelizeHandle(machine, defaults);
      case 'getTableName':
        return native(method, () => constant(entityOf(key)?.table ?? name));
      case 'unscoped':
      case 'schema':
        return native(method, () => again(method === 'schema' ? scopes : []));
      case 'scope':
        return native(method, (given, at) =>
          onEachPath(machine, givenScopes(machine, key, given), (args) =>
            again(args.flatMap((one) => scopesOf(machine, key, one, at))),
          ),
        );
      case 'addHook':
      case 'sync':
        return native(method, () => undefinedValue);
      default:
        return native(method, (given, at) => {
          const options = given.map((one) => withoutRefused(machine, one));
          return onEachPath(machine, options, (args) => {
            const used = scopes ?? scopesOf(machine, key, constant('defaultScope'), at);
            return called(machine, key, name, method, args, at, used);
          });
        });
    }
  });
  const made: Native = {
    ...model,
    construct: (args, at) => machine.call(machine.member(model, 'build', at), args, at),
  };
  return withModelKey(made, key);
}

const kinds: Readonly<Record<string, AssociationKind>> = {
  belongsTo: 'own-key',
  hasOne: 'other-key-one',
  hasMany: 'other-key-many',
  belongsToMany: 'through',
};

function associate(
  machine: Machine,
  key: object,
  name: string,
  kind: AssociationKind,
  other: Abstract | undefined,
  given: Abstract | undefined,
): void {
  const options = optionsOf(given);
  const target = keyOfModel(machine, other);
  const otherName = (target === undefined ? undefined : modelName(target)) ?? '';
  const keyIn = (model: object | undefined): string =>
    (model === undefined ? undefined : entityOf(model))?.keys[0] ?? 'id';
  const owner = singularOf(modelName(key) ?? name);
  if (kind === 'own-key') {
    const title = constantText(options.get('as')) ?? singularOf(otherName);
    addForeignKey(key, namedKey(options) ?? foreignKeyName(title, keyIn(target)));
  } else if (kind !== 'through' && target !== undefined)
    addForeignKey(target, namedKey(options) ?? foreignKeyName(owner, keyIn(key)));
  const between = optionsOf(options.get('through')).get('model') ?? options.get('through');
  addAssociation(key, {
    kind,
    name: associationName(kind, otherName, options),
    target: () => target,
    through: () => constantText(between) ?? keyOfModel(machine, between),
    options,
  });
}

/** Each scope costs a path. */
const namedScopesMax = 3;

/** A name that a caller gives is that of one of the scopes which the sources define. */
function givenScopes(machine: Machine, key: object, given: readonly Abstract[]): readonly Abstract[] {
  const [name] = given;
  if (given.length !== 1 || name?.kind !== 'value' || name.value.kind !== 'argument') return given;
  const { value } = name;
  const names = scopeNames(key).filter((scope) => scope !== 'defaultScope');
  if (names.length === 0 || names.length > namedScopesMax) return given;
  machine.assumed.add(
    'names of scopes that callers give to models of Sequelize are one that the sources define, or none',
  );
  return [
    names.reduce<Abstract>(
      (others, scope) =>
        choose(expression('=', value, { kind: 'constant', value: scope }), arrayOf([constant(scope)]), others),
      arrayOf([]),
    ),
  ];
}

/** `'active'`, `['active', 'recent']`, `{ method: ['by', id] }`, `null`. */
function scopesOf(machine: Machine, key: object, given: Abstract, at: ts.Node): readonly Abstract[] {
  if (given.kind === 'array') return given.elements.value.flatMap((one) => scopesOf(machine, key, one, at));
  if (isNothing(given)) return [];
  const method = optionsOf(given).get('method');
  const [first, ...args] = method?.kind === 'array' ? method.elements.value : [method ?? given];
  const title = constantText(first);
  const scope = title === undefined ? undefined : scopeOf(key, title);
  if (title === 'defaultScope' && scope === undefined) return [];
  if (scope === undefined) return [unknown('a scope that the sources do not say')];
  return [scope.kind === 'function' ? machine.call(scope, args, at) : scope];
}

function called(
  machine: Machine,
  key: object,
  name: string,
  method: string,
  args: readonly Abstract[],
  at: ts.Node,
  scopes: readonly Abstract[],
): Abstract {
  const entity = entityOf(key);
  const of = modelCalls[method];
  if (entity === undefined || of === undefined) {
    machine.notUnderstood(
      at,
      entity === undefined ? `no file says the columns of the model ${name}` : `\`${method}\` of Sequelize is not read`,
    );
    return { kind: 'value', value: { kind: 'unknown', reason: `what ${name}.${method} gives` } };
  }
  const ownerOf = (options: Abstract | undefined): Owner => ownerIn(machine, options, at);
  const call: SequelizeCall = { machine, owner: null, entity, at, ownerIn: ownerOf, key, scopes };
  return of(call, args);
}

function transaction(machine: Machine, args: readonly Abstract[], at: ts.Node): Abstract {
  const fn = args.find(({ kind }) => kind === 'function');
  const options = args.find(({ kind }) => kind === 'object');
  const level = levelIn(String(constantOf(optionsOf(options).get('isolationLevel')) ?? ''));
  const connection: Connection = {};
  const object = transactionObject(machine, connection);
  if (fn !== undefined) {
    managed.add(connection);
    return machine.inTransaction(connection, level, at, () => machine.settle(machine.call(fn, [object], at), at));
  }
  machine.begin(connection, level, at);
  return object;
}

function transactionObject(machine: Machine, connection: Connection): Native {
  const object = modelNative('a transaction of Sequelize', (name) => {
    if (name === 'LOCK') return { ...operators, member: (lock) => constant(lock) };
    return native(name, (_, at) => {
      if (name === 'commit') machine.commit(connection, at);
      if (name === 'rollback') machine.rollback(connection);
      return undefinedValue;
    });
  });
  connections.set(object, connection);
  return object;
}

/** `query(sql, { replacements, bind, transaction, type })`; rows alone where the type is SELECT. */
function query(machine: Machine, text: Abstract | undefined, options: Abstract | undefined, at: ts.Node): Abstract {
  const given = optionsOf(options);
  const config = text?.kind === 'object' ? text.properties.get('query')?.value : text;
  const sql = constantText(config);
  const owner = ownerIn(machine, options, at);
  const rows =
    sql === undefined
      ? machine.statement(owner, { text: config ?? undefinedValue, parameters: [], at })
      : runFragment(machine, owner, withValues(sql, given), [at], at);
  const type = given.get('type');
  const isSelect =
    type !== undefined &&
    (constantText(type) ?? (type.kind === 'external' ? (type.path.at(-1) ?? '') : '')) === 'SELECT';
  return isSelect ? rows : arrayOf([rows, rows]);
}

/** `:name` and `?` of `replacements`, `$1` and `$name` of `bind`. */
function withValues(sql: string, options: ReadonlyMap<string, Abstract>): Fragment {
  const [replacements, bind] = [options.get('replacements'), options.get('bind')];
  let next = 0;
  return sql.split(/((?<!:):[A-Za-z_]\w*|\?|\$\w+)/).flatMap((piece): Fragment => {
    const source = piece.startsWith('$') ? bind : piece === '?' || piece.startsWith(':') ? replacements : undefined;
    if (source === undefined) return [piece];
    const index = piece === '?' ? next++ : Number(piece.slice(1)) - 1;
    const value = source.kind === 'array' ? source.elements.value[index] : optionsOf(source).get(piece.slice(1));
    return value === undefined ? notRead(`the value of ${piece} is ${whyNotConstant(source)}`) : operand(value);
  });
}
