/** A call of a model of Prisma and the statements that it may send. */
import type { Abstract, Fragment } from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Machine, Owner } from '../machine.ts';
import type ts from 'typescript';
import { runFragment } from './chain.ts';
import { identifier } from './identifier.ts';
import type { Written } from './prisma-data.ts';
import { column, type ModelTable } from './prisma-where.ts';
import { newQuery, printQuery, type Query } from './query.ts';

export interface PrismaCall extends ModelTable {
  readonly machine: Machine;
  readonly owner: Owner;
  /** Of the only argument. */
  readonly options: ReadonlyMap<string, Abstract>;
  readonly at: ts.Node;
}

export function start(call: PrismaCall, verb: Query['verb']): Query {
  const { machine, model, alias } = call;
  return newQuery(verb, [[identifier(model.table, machine.dialect)]], alias);
}

export function run(call: PrismaCall, query: Query): Abstract {
  const { machine, owner, at } = call;
  return runFragment(machine, owner, printQuery(query, machine.dialect), [at], at, '$queryRaw');
}

/** The column under the name of its field. */
export function shown(call: PrismaCall, field: string): Fragment {
  const name = call.model.fields.get(field)?.column ?? field;
  const alias: Fragment = name === field ? [] : [` AS ${identifier(field, call.machine.dialect)}`];
  return [...column(call, field), ...alias];
}

export function insert(
  call: PrismaCall,
  rows: readonly Written[],
  returned: readonly string[],
  conflict: Fragment,
): Abstract {
  const names = [...new Set(rows.flatMap(({ columns }) => [...columns.keys()]))];
  return run(call, {
    ...start(call, 'insert'),
    insertColumns:
      names.length === 0
        ? null
        : names.map((name) => identifier(call.model.fields.get(name)?.column ?? name, call.machine.dialect)),
    rows: rows.map(({ columns }) => names.map((name) => columns.get(name) ?? ['DEFAULT'])),
    conflict,
    returning: returned.map((field) => shown(call, field)),
    notRead: rows.flatMap((row) => row.notRead),
  });
}

export function firstColumn(statement: string, name: string): Abstract {
  return { kind: 'value', value: { kind: 'column', statement, column: name, row: 'first' } };
}

/** In one transaction, at the database's level, unless one is open. */
export function together(call: PrismaCall, body: (call: PrismaCall) => Abstract): Abstract {
  if (call.owner !== null) return body(call);
  const connection: Connection = {};
  return call.machine.inTransaction(connection, null, call.at, () => body({ ...call, owner: connection }));
}
