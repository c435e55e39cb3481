/** node-postgres: `query(text, [values])`, transactions by text on a client. */
import type ts from 'typescript';
import { type Abstract, arrayOf, native, type Native, plain, undefinedValue, unknown } from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Driver, Machine, Owner } from '../machine.ts';
import { sqlOf } from './postgres.ts';

export const pg: Driver = {
  modules: /^(?:pg|pg-pool|@neondatabase\/serverless|@vercel\/postgres)$/,
  construct: (machine, { path }) => ofName(machine, path.at(-1)),
  ofType: (machine, { path }) => ofName(machine, path.at(-1)),
  call: (machine, { path }) =>
    path.at(-1) === 'createPool' ? pgPool(machine) : path.at(-1) === 'neon' ? sqlOf(machine, null) : undefined,
};

function ofName(machine: Machine, name: string | undefined): Native | undefined {
  if (name === 'Pool' || name === 'default') return pgPool(machine);
  return /^(?:Client|PoolClient|ClientBase)$/.test(name ?? '') ? pgClient(machine, {}) : undefined;
}

function pgPool(machine: Machine): Native {
  return {
    kind: 'native',
    title: 'a pool of pg',
    isHandle: true,
    member: (name) => {
      if (name === 'query') return queryOf(machine, null);
      if (name === 'connect') return native(name, (args, at) => connect(machine, args, at));
      return silent(name);
    },
  };
}

/** `connect()`, or `connect((error, client, done) => ...)`. */
function connect(machine: Machine, [callback]: readonly Abstract[], at: ts.Node): Abstract {
  const client = pgClient(machine, {});
  if (callback === undefined) return client;
  return machine.call(callback, [undefinedValue, client, native('done', () => undefinedValue)], at);
}

export function pgClient(machine: Machine, connection: Connection): Native {
  return {
    kind: 'native',
    title: 'a client of pg',
    isHandle: true,
    member: (name) => (name === 'query' ? queryOf(machine, connection) : silent(name)),
  };
}

/** `release`, `end`, `on`: nothing that a transaction sees. */
function silent(name: string): Native {
  return native(name, () => undefinedValue);
}

function queryOf(machine: Machine, owner: Owner): Native {
  return native('query', ([query, values, ...rest], at) => {
    const callback = [values, ...rest].find((arg) => arg?.kind === 'function');
    const config = query?.kind === 'object' ? query : undefined;
    const text =
      (config === undefined ? query : (config.properties.get('text') ?? config.properties.get('sql'))?.value) ??
      unknown('no text');
    const given =
      values?.kind === 'function' || values === undefined
        ? (config?.properties.get('values')?.value ?? arrayOf([]))
        : values;
    const result = pgResult(machine.statement(owner, { text, parameters: given, at }));
    return callback === undefined ? result : machine.call(callback, [undefinedValue, result], at);
  });
}

/** `{ rows, rowCount }` */
export function pgResult(rows: Abstract): Abstract {
  if (rows.kind === 'choice') {
    return { ...rows, ifTrue: pgResult(rows.ifTrue), ifFalse: pgResult(rows.ifFalse) };
  }
  if (rows.kind !== 'rows') return rows;
  return {
    kind: 'native',
    title: 'a result of pg',
    isHandle: false,
    member: (name) => {
      if (name === 'rows') return rows;
      return name === 'rowCount'
        ? plain({ kind: 'row-count', statement: rows.statement })
        : unknown(`${name} of a result`);
    },
  };
}
