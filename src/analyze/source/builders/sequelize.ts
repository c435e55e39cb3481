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
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Driver, Machine, Owner } from '../machine.ts';
import { levelIn } from '../sql-steps.ts';
import { constantOf, isNothing } from '../value-arithmetic.ts';
import { runFragment } from './chain.ts';
import { onEachPath } from './choices.ts';
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
  scopeOf,
  singularOf,
} from './sequelize-models.ts';
import { ownEntry } from './own-entry.ts';
import { operators, sqlFunction } from './sequelize-where.ts';

export const sequelize: Driver = {
  modules: /^(?:sequelize(?:-typescript)?|@nestjs\/sequelize)$/,
  construct: (machine, { path }, [...args]) =>
    /^(?:Sequelize|default)$/.test(path.at(-1) ?? 'default') ? sequelizeHandle(machine, defaultsIn(args)) : undefined,
  ofType: (machine, { path }) => {
    if (path.at(-1) === 'Transaction') return transactionObject(machine, { nextLevel: null });
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
};

/** `define` of `new Sequelize(url, { define: { ... } })`. */
function defaultsIn(args: readonly Abstract[]): ReadonlyMap<string, Abstract> {
  const options = args.findLast(({ kind }) => kind === 'object');
  return optionsOf(optionsOf(options).get('define'));
}

const defaultsOf = new WeakMap<Abstract, ReadonlyMap<string, Abstract>>();
const connections = new WeakMap<Abstract, Connection>();

function sequelizeHandle(machine: Machine, defaults: ReadonlyMap<string, Abstract>): Native {
  const models = new Map<string, Abstract>();
  const handle = modelNative('a handle of Sequelize', (name) => {
    switch (name) {
      case 'define':
        return native(name, ([title, attributes, options]) => {
          const key = {};
          const text = constantText(title) ?? 'a model';
          defineModel(key, text, attributes, options, defaults);
          const model = modelHandle(machine, key, text, defaults);
          models.set(text, model);
          return model;
        });
      case 'transaction':
        return native(name, (args, at) => transaction(machine, args, at));
      case 'query':
        return native(name, (given, at) =>
          onEachPath(machine, given, ([text, options]) => query(machine, text, options, at)),
        );
      case 'models':
        return objectOf(Object.fromEntries(models));
      case 'model':
        return native(name, ([title]) => models.get(constantText(title) ?? '') ?? undefinedValue);
      default:
        return sqlFunction(machine, name) ?? native(name, () => undefinedValue);
    }
  });
  defaultsOf.set(handle, defaults);
  return handle;
}

function ownerIn(options: Abstract | undefined): Owner {
  const given = optionsOf(options).get('transaction');
  return given === undefined ? null : (connections.get(given) ?? null);
}

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
          return model;
        });
      case 'addScope':
        return native(method, ([scope, value]) => {
          const title = constantText(scope);
          if (title !== undefined && value !== undefined) addScope(key, title, value);
          return undefinedValue;
        });
      case 'unscoped':
        return native(method, () => again([]));
      case 'scope':
        return native(method, (given, at) =>
          onEachPath(machine, given, (args) => again(args.flatMap((one) => scopesOf(machine, key, one, at)))),
        );
      case 'addHook':
      case 'sync':
        return native(method, () => undefinedValue);
      default:
        return native(method, (given, at) =>
          onEachPath(machine, given, (args) => {
            const used = scopes ?? scopesOf(machine, key, constant('defaultScope'), at);
            return called(machine, key, name, method, args, at, used);
          }),
        );
    }
  });
  return withModelKey(model, key);
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
  const call: SequelizeCall = { machine, owner: null, entity, at, ownerIn, key, scopes };
  return of(call, args);
}

function transaction(machine: Machine, args: readonly Abstract[], at: ts.Node): Abstract {
  const fn = args.find(({ kind }) => kind === 'function');
  const options = args.find(({ kind }) => kind === 'object');
  const level = levelIn(String(constantOf(optionsOf(options).get('isolationLevel')) ?? ''));
  const connection: Connection = { nextLevel: null };
  const object = transactionObject(machine, connection);
  if (fn !== undefined)
    return machine.inTransaction(connection, level, at, () => machine.settle(machine.call(fn, [object], at), at));
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
  const owner = ownerIn(options);
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
