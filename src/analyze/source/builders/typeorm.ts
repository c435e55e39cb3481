/** TypeORM: `DataSource`, `EntityManager`, repositories, query runners. */
import type ts from 'typescript';
import type { IsolationName } from '../../../sql/index.ts';
import { type Abstract, arrayOf, native, type Native, undefinedValue } from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Driver, Machine, Owner } from '../machine.ts';
import { levelIn } from '../level.ts';
import { inSavepoint } from '../transactions.ts';
import { constantOf } from '../value-arithmetic.ts';
import { onEachPath } from './choices.ts';
import type { Entity } from './entity.ts';
import { loadedFrom } from './entity.ts';
import { constantText, whyNotConstant } from './fragment.ts';
import { repositoryCalls } from './typeorm-calls.ts';
import { brackets } from './typeorm-brackets.ts';
import { defineSchema, entityFrom } from './typeorm-entities.ts';
import { queryBuilder } from './typeorm-query.ts';
import { findOperator } from './typeorm-where.ts';
import { ownEntry } from './own-entry.ts';

export const typeorm: Driver = {
  modules: /^(?:typeorm|@nestjs\/typeorm)$/,
  construct: (machine, { path }, [options]) => {
    if (path.at(-1) === 'DataSource') return manager(machine, null);
    if (path.at(-1) === 'Brackets') return brackets(options);
    if (path.at(-1) !== 'EntitySchema') return undefined;
    const schema: Native = { kind: 'native', title: 'an EntitySchema', isHandle: false };
    defineSchema(machine, schema, options);
    return schema;
  },
  call: (machine, { path }, [entity]) => {
    const name = path.at(-1) ?? '';
    if (name === 'getRepository') return repository(machine, null, entity);
    return /^(?:getManager|getConnection|createConnection)$/.test(name) ? manager(machine, null) : undefined;
  },
  ofType: (machine, { path }, [type]) => {
    const name = path.at(-1) ?? '';
    if (/^(?:Tree)?Repository$/.test(name)) return repository(machine, null, type?.());
    if (name === 'QueryRunner') return queryRunner(machine, {});
    return /^(?:DataSource|Connection|EntityManager)$/.test(name)
      ? manager(machine, name === 'EntityManager' ? {} : null)
      : undefined;
  },
  modelOf: (machine, { path }, type) => (path.at(-1) === 'BaseEntity' ? repository(machine, null, type) : undefined),
  value: (_, { path }) => (path.length === 1 ? findOperator(path[0] ?? '') : undefined),
  startsStatement: /^(?:findOneBy|findOneByOrFail|findOneOrFail|findBy|findAndCount|createQueryBuilder|softDelete)$/,
};

/** DataSource, EntityManager and the manager of a query runner have the same methods here. */
function manager(machine: Machine, owner: Owner): Native {
  const handle: Native = {
    kind: 'native',
    title: 'a manager of TypeORM',
    isHandle: true,
    inTransaction: () => manager(machine, {}),
    member: (name) => {
      switch (name) {
        case 'manager':
          return handle;
        case 'getRepository':
        case 'getTreeRepository':
          return native(name, ([entity]) => repository(machine, owner, entity));
        case 'withRepository':
          return native(name, ([other]) =>
            repository(machine, owner, other === undefined ? undefined : (entities.get(other) ?? other)),
          );
        case 'query':
          return native(name, ([text, parameters], at) =>
            machine.statement(owner, { text: text ?? undefinedValue, parameters: parameters ?? arrayOf([]), at }),
          );
        case 'transaction':
          return native(name, (args, at) => transaction(machine, owner, args, at));
        case 'createQueryRunner':
          return native(name, () => queryRunner(machine, {}));
        case 'createQueryBuilder':
          return native(name, ([entity, alias], at) => builderOf(machine, owner, entity, alias, at));
        default:
          if (ownEntry(repositoryCalls, name) !== undefined)
            return native(name, (args, at) => ofManager(machine, owner, name, args, at));
          return native(name, (_, at) => {
            if (
              !/^(?:initialize|destroy|connect|close|release|synchronize|runMigrations|getMetadata|isInitialized)$/.test(
                name,
              )
            )
              machine.notUnderstood(at, `\`${name}\` of TypeORM is not read`);
            return handle;
          });
      }
    },
  };
  return handle;
}

/** `manager.find(User, options)`; `manager.save(user)` finds the entity by the object. */
function ofManager(
  machine: Machine,
  owner: Owner,
  name: string,
  [first, ...rest]: readonly Abstract[],
  at: ts.Node,
): Abstract {
  const named = entityFrom(machine, first);
  const subject = first?.kind === 'array' ? first.elements.value[0] : first;
  const entity = named ?? (subject === undefined ? undefined : entityOfObject(machine, subject));
  const args = named === undefined ? [first ?? undefinedValue, ...rest] : rest;
  return called(machine, owner, entity, whyNotConstant(first), name, args, at);
}

function entityOfObject(machine: Machine, value: Abstract): Entity | undefined {
  if (value.kind === 'object' && value.of !== null) return entityFrom(machine, value.of);
  return loadedFrom(value)?.entity;
}

const entities = new WeakMap<Abstract, Abstract>();

function repository(machine: Machine, owner: Owner, entity: Abstract | undefined): Native {
  const handle: Native = {
    kind: 'native',
    title: 'a repository of TypeORM',
    isHandle: true,
    member: (name) => {
      if (name === 'manager') return manager(machine, owner);
      if (name === 'createQueryBuilder')
        return native(name, ([alias], at) => builderOf(machine, owner, entity, alias, at));
      if (name === 'query') return machine.member(manager(machine, owner), name, machine.project.files[0] as ts.Node);
      if (name === 'extend')
        return native(name, ([methods]) => (methods?.kind === 'object' ? { ...methods, rest: handle } : handle));
      return native(name, (args, at) =>
        called(machine, owner, entityFrom(machine, entity), whyNotConstant(entity), name, args, at),
      );
    },
  };
  if (entity !== undefined) entities.set(handle, entity);
  return handle;
}

function builderOf(
  machine: Machine,
  owner: Owner,
  entity: Abstract | undefined,
  alias: Abstract | undefined,
  at: ts.Node,
): Native {
  const known = entityFrom(machine, entity);
  return queryBuilder(
    machine,
    owner,
    known,
    constantText(alias) ?? known?.table ?? '',
    (value) => entityFrom(machine, value),
    at,
  );
}

function called(
  machine: Machine,
  owner: Owner,
  entity: Entity | undefined,
  why: string,
  name: string,
  given: readonly Abstract[],
  at: ts.Node,
): Abstract {
  const of = ownEntry(repositoryCalls, name);
  const run = (args: readonly Abstract[]): Abstract => {
    if (entity !== undefined && of !== undefined) return of({ machine, owner, entity, at }, args);
    machine.notUnderstood(
      at,
      of === undefined ? `\`${name}\` of TypeORM is not read` : `the entity of ${name} is ${why}`,
    );
    return { kind: 'value', value: { kind: 'unknown', reason: `what ${name} gives` } };
  };
  // They throw where there is no row.
  return /^(?:save|remove)$/.test(name) ? run(given) : onEachPath(machine, given, run);
}

/** `transaction([level], fn)`; in a transaction, a savepoint. */
function transaction(machine: Machine, owner: Owner, args: readonly Abstract[], at: ts.Node): Abstract {
  const fn = args.at(-1) ?? undefinedValue;
  const level: IsolationName | null = args.length > 1 ? levelIn(String(constantOf(args[0]) ?? '')) : null;
  const isOpen = owner !== null && machine.emitter.open?.connection === owner;
  const connection: Connection = isOpen ? owner : {};
  const body = (): Abstract => machine.settle(machine.call(fn, [manager(machine, connection)], at), at);
  return isOpen
    ? inSavepoint(machine, connection, 'savepoint', at, body)
    : machine.inTransaction(connection, level, at, body);
}

/** One connection, whose transaction begins and ends by methods. */
function queryRunner(machine: Machine, connection: Connection): Native {
  const own = manager(machine, connection);
  return {
    kind: 'native',
    title: 'a query runner of TypeORM',
    isHandle: true,
    member: (name, at) => {
      switch (name) {
        case 'manager':
          return own;
        case 'query':
          return own.member?.(name, at);
        case 'isTransactionActive':
          return { kind: 'value', value: { kind: 'constant', value: machine.emitter.open?.connection === connection } };
        default:
          return native(name, ([level], callAt) => {
            if (name === 'startTransaction')
              machine.begin(connection, levelIn(String(constantOf(level) ?? '')), callAt);
            if (name === 'commitTransaction') machine.commit(connection, callAt);
            if (name === 'rollbackTransaction') machine.rollback(connection);
            return undefinedValue;
          });
      }
    },
  };
}
