/** mysql2 and mysql: `query` and `execute` with `?`, results as `[rows, fields]`, transactions by methods or by text. */
import { type Abstract, arrayOf, native, type Native, undefinedValue, unknown } from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Driver, Machine, Owner } from '../machine.ts';

export const mysql2: Driver = {
  modules: /^(?:mysql2?|mysql2\/promise|mysql2\/promise\.js|promise-mysql|mariadb)$/,
  call: (machine, { module, path }) => ofName(machine, path.at(-1), shapeOf(module)),
  ofType: (machine, { module, path }) => ofName(machine, path.at(-1), shapeOf(module)),
};

/** mysql2 gives a pair, the others the rows. */
function shapeOf(module: string): ResultShape {
  return module.startsWith('mysql') ? 'pair' : 'either';
}

function ofName(machine: Machine, name: string | undefined, shape: ResultShape): Native | undefined {
  if (name === 'createPool' || name === 'Pool') return mysqlPool(machine, shape);
  return /^(?:createConnection|Connection|PoolConnection)$/.test(name ?? '')
    ? mysqlClient(machine, {}, shape)
    : undefined;
}

function mysqlPool(machine: Machine, shape: ResultShape): Native {
  const pool: Native = {
    kind: 'native',
    title: 'a pool of mysql2',
    isHandle: true,
    member: (name) => {
      if (name === 'query' || name === 'execute') return queryOf(machine, null, shape);
      if (name === 'promise') return native(name, () => pool);
      if (name !== 'getConnection') return silent(name);
      return native(name, ([callback], at) => {
        const connection = mysqlClient(machine, {}, shape);
        return callback === undefined ? connection : machine.call(callback, [undefinedValue, connection], at);
      });
    },
  };
  return pool;
}

/** How results come: `[rows, fields]`, or either that or the rows alone where the driver is not known. */
type ResultShape = 'pair' | 'either';

export function mysqlClient(machine: Machine, connection: Connection, shape: ResultShape): Native {
  const client: Native = {
    kind: 'native',
    title: 'a connection of mysql2',
    isHandle: true,
    member: (name) => {
      switch (name) {
        case 'query':
        case 'execute':
          return queryOf(machine, connection, shape);
        case 'beginTransaction':
          return ending(machine, name, (at) => machine.begin(connection, null, at));
        case 'commit':
          return ending(machine, name, (at) => machine.commit(connection, at));
        case 'rollback':
          return ending(machine, name, () => machine.rollback(connection));
        case 'promise':
          return native(name, () => client);
        default:
          return silent(name);
      }
    },
  };
  return client;
}

function ending(machine: Machine, name: string, run: (at: Parameters<Machine['place']>[0]) => void): Native {
  return native(name, ([callback], at) => {
    run(at);
    return callback === undefined ? undefinedValue : machine.call(callback, [undefinedValue], at);
  });
}

function silent(name: string): Native {
  return native(name, () => undefinedValue);
}

function queryOf(machine: Machine, owner: Owner, shape: ResultShape): Native {
  return native('query', ([query, values, ...rest], at) => {
    const callback = [values, ...rest].find((arg) => arg?.kind === 'function');
    const config = query?.kind === 'object' ? query : undefined;
    const text = (config === undefined ? query : config.properties.get('sql')?.value) ?? unknown('no text');
    const given =
      values?.kind === 'function' || values === undefined
        ? (config?.properties.get('values')?.value ?? arrayOf([]))
        : values;
    const rows = machine.statement(owner, { text, parameters: given, at });
    return callback === undefined ? resultOf(machine, rows, shape) : machine.call(callback, [undefinedValue, rows], at);
  });
}

/** `result[0]` may be the rows or the first row, of which columns are asked: the rows answer both. */
function resultOf(machine: Machine, rows: Abstract, shape: ResultShape): Abstract {
  if (shape === 'pair') return arrayOf([rows, undefinedValue]);
  return {
    kind: 'native',
    title: 'a result',
    isHandle: false,
    member: (name, at) => (name === '0' ? rows : machine.member(rows, name, at)),
  };
}
