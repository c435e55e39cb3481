/** Drizzle: `db.select().from(table)` and its like, `db.query.table.findFirst`, `db.transaction`. Column names come from the table objects. */
import type ts from 'typescript';
import {
  type Abstract,
  arrayOf,
  native,
  type Native,
  never,
  undefinedValue,
  type Fragment,
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import { type Driver, type Machine, type Owner } from '../machine.ts';
import { levelIn } from '../level.ts';
import { inSavepoint } from '../transactions.ts';
import { constantOf } from '../value-arithmetic.ts';
import { type Builder, chainOf, firstRow, fixedChain, ofRows, runFragment, runQuery } from './chain.ts';
import { dialects } from './dialect.ts';
import { drizzleClauses, type DrizzleNames, findQuery } from './drizzle-clauses.ts';
import { conditionFragment, drizzleSql, operatorNamed, selection, sqlValue } from './drizzle-expressions.ts';
import { aliasOfTable, declarationCall, tableObject, tableOf } from './drizzle-tables.ts';
import { constantText, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { newQuery, printQuery, type Query, returnsRows, withCondition } from './query.ts';
import { ownEntry } from './own-entry.ts';

export const drizzle: Driver = {
  modules: /^drizzle-orm(?:\/.*)?$/,
  call: (machine, external, args) => {
    const name = external.path.at(-1) ?? '';
    if (name === 'drizzle') return drizzleHandle(machine, null, schemaIn(args));
    if (external.module.endsWith('-core')) return declarationCall(machine, external, args);
    if (name === 'getTableColumns') return columnsObject(machine, args[0]);
    if (name === 'alias' || name === 'aliasedTable') return aliasedTable(machine, args);
    return undefined;
  },
  ofType: (machine, { path }, [types]) => {
    const name = path.at(-1) ?? '';
    if (!/(?:Database|Transaction)$/.test(name)) return undefined;
    return drizzleHandle(machine, name.endsWith('Transaction') ? {} : null, types?.() ?? null);
  },
  value: (machine, { path }) => {
    const [name = ''] = path;
    if (path.length !== 1) return undefined;
    return name === 'sql' ? drizzleSql(machine) : operatorNamed(machine, name);
  },
};

/** `drizzle(client, { schema })`, `drizzle({ client, schema })` */
function schemaIn(args: readonly Abstract[]): Abstract | null {
  for (const arg of args.toReversed()) {
    const schema = arg.kind === 'object' ? arg.properties.get('schema')?.value : undefined;
    if (schema !== undefined) return schema;
  }
  return null;
}

function columnsObject(machine: Machine, table: Abstract | undefined): Abstract {
  const properties = [...(tableOf(table)?.columns.keys() ?? [])].map(
    (name) =>
      [name, { value: machine.member(table ?? undefinedValue, name, machine.project.files[0] as ts.Node) }] as const,
  );
  return { kind: 'object', properties: new Map(properties), of: null, rest: null };
}

function aliasedTable(machine: Machine, [table, alias]: readonly Abstract[]): Abstract | undefined {
  const [known, name] = [tableOf(table), constantText(alias)];
  if (known === undefined || name === undefined) return undefined;
  return tableObject(known, name, [`${known.name} AS ${identifier(name, machine.dialect)}`]);
}

const verbs: Readonly<Record<string, Query['verb']>> = {
  select: 'select',
  selectDistinct: 'select',
  selectDistinctOn: 'select',
  insert: 'insert',
  update: 'update',
  delete: 'delete',
};

function drizzleHandle(
  machine: Machine,
  owner: Owner,
  schema: Abstract | null,
  common: readonly Fragment[] = [],
): Native {
  const start = (name: string): Native =>
    native(name, (args, at) => {
      const names: DrizzleNames = { machine, table: null, isAll: false };
      const verb = ownEntry(verbs, name) ?? 'select';
      const query = { ...newQuery(verb, []), common };
      const chain = { machine, owner, names, query, calls: [at] };
      if (verb !== 'select') {
        const [table] = args;
        const from =
          tableOf(table) === undefined
            ? notRead(`a table is ${whyNotConstant(table)}`)
            : operand(table ?? undefinedValue);
        return chainOf(builder, {
          ...chain,
          names: { ...names, table: table ?? null },
          query: { ...query, tables: [from], ownTable: aliasOfTable(table) },
        });
      }
      const [on, fields] = name === 'selectDistinctOn' ? args : [undefined, args[0]];
      const expressions =
        on?.kind === 'array'
          ? on.elements.value.flatMap((one, index) => (index === 0 ? operand(one) : [', ', ...operand(one)]))
          : [];
      const distinct: Fragment =
        name === 'select'
          ? []
          : name === 'selectDistinct'
            ? ['DISTINCT ']
            : ['DISTINCT ON ', ...parenthesized(expressions), ' '];
      const columns = fields === undefined || fields.kind === 'undefined' ? [] : selection(machine, fields);
      return chainOf(builder, {
        ...chain,
        names: { ...names, isAll: columns.length === 0 },
        query: { ...query, distinct, columns },
      });
    });
  const handle: Native = {
    kind: 'native',
    title: 'a handle of Drizzle',
    isHandle: true,
    inTransaction: () => drizzleHandle(machine, {}, schema),
    member: (name) => {
      if (ownEntry(verbs, name) !== undefined) return start(name);
      switch (name) {
        case 'query':
          return relational(machine, owner, schema);
        case 'execute':
          return native(name, ([text], at) =>
            awaited(machine, (awaitedAt) => runFragment(machine, owner, sqlText(text), [at], awaitedAt)),
          );
        case 'transaction':
          return native(name, (args, at) => transaction(machine, owner, schema, args, at));
        case 'rollback':
          return native(name, () => (machine.raise(), never));
        case '$with':
          return native(name, ([title]) => commonTable(machine, constantText(title) ?? '?'));
        case 'with':
          return native(name, (tables) =>
            drizzleHandle(machine, owner, schema, [
              ...common,
              ...tables.map((one) => commonTables.get(one) ?? notRead('a table of WITH is not read')),
            ]),
          );
        case '$count':
          return native(name, ([table, where], at) =>
            awaited(machine, (awaitedAt) =>
              count(machine, owner, [table ?? undefinedValue, where ?? undefinedValue], at, awaitedAt),
            ),
          );
        case '$client':
          return undefined;
        default:
          return native(name, (_, at) => {
            machine.notUnderstood(at, `\`${name}\` of Drizzle is not read`);
            return undefinedValue;
          });
      }
    },
  };
  return handle;
}

function sqlText(text: Abstract | undefined): Fragment {
  const constant = constantText(text);
  if (constant !== undefined) return [constant];
  return text?.kind === 'native' && text.sql !== undefined
    ? text.sql()
    : notRead(`the SQL text is ${whyNotConstant(text)}`);
}

/** What runs when it is awaited. */
function awaited(machine: Machine, run: (at: ts.Node) => Abstract): Native {
  const promise: Native = {
    kind: 'native',
    title: 'a query of Drizzle',
    isHandle: false,
    isChain: true,
    settle: run,
    member: (name, at) => machine.member(run(at), name, at),
  };
  return promise;
}

function count(
  machine: Machine,
  owner: Owner,
  [table, where]: readonly Abstract[],
  at: ts.Node,
  awaitedAt: ts.Node,
): Abstract {
  const query = {
    ...newQuery('select', [operand(table ?? undefinedValue)], aliasOfTable(table)),
    columns: [['count(*) AS count']],
  };
  const condition = where === undefined ? [] : conditionFragment(where);
  const fragment = printQuery(withCondition(query, condition), machine.dialect);
  const rows = runFragment(machine, owner, fragment, [at], awaitedAt);
  return ofRows(rows, (statement) => ({
    kind: 'value',
    value: { kind: 'column', statement, column: 'count', row: 'first' },
  }));
}

const commonTables = new WeakMap<Abstract, Fragment>();

/** `db.$with('name').as(query)`: its columns have the names of the query's selection. */
function commonTable(machine: Machine, title: string): Native {
  return {
    kind: 'native',
    title: 'a common table of Drizzle',
    isHandle: false,
    member: (name) =>
      native(name, ([query]) => {
        const name2 = identifier(title, machine.dialect);
        const table: Native = {
          kind: 'native',
          title: 'a common table of Drizzle',
          isHandle: false,
          sql: () => [name2],
          member: (property) => sqlValue(machine, [{ kind: 'column-part', table: title, name: property }]),
        };
        commonTables.set(table, [
          `${name2} AS `,
          ...(query?.kind === 'native' ? (query.sql?.() ?? []) : notRead('a table of WITH is not read')),
        ]);
        return table;
      }),
  };
}

function transaction(
  machine: Machine,
  owner: Owner,
  schema: Abstract | null,
  [fn, options]: readonly Abstract[],
  at: ts.Node,
): Abstract {
  const run = (connection: Connection) => () =>
    machine.settle(machine.call(fn ?? undefinedValue, [drizzleHandle(machine, connection, schema)], at), at);
  if (owner !== null) return inSavepoint(machine, owner, 'savepoint', at, run(owner));
  const level = options?.kind === 'object' ? options.properties.get('isolationLevel')?.value : undefined;
  const connection: Connection = {};
  return machine.inTransaction(connection, levelIn(String(constantOf(level) ?? '')), at, run(connection));
}

/** `db.query.users.findFirst({ where: eq(users.id, id) })` */
function relational(machine: Machine, owner: Owner, schema: Abstract | null): Native {
  return {
    kind: 'native',
    title: 'queries of Drizzle',
    isHandle: true,
    member: (property, at) => {
      const table = schema === null ? undefined : machine.member(schema, property, at);
      return {
        kind: 'native',
        title: `db.query.${property}`,
        isHandle: true,
        member: (name) =>
          native(name, ([options], callAt) => {
            const query = findQuery(machine, name, property, table, options, callAt);
            return fixedChain(builder, {
              machine,
              owner,
              names: { machine, table: table ?? null, isAll: false },
              query,
              calls: [callAt],
            });
          }),
      };
    },
  };
}

const builder: Builder<DrizzleNames> = {
  title: 'a query of Drizzle',
  isMutable: true,
  clauses: drizzleClauses,
  endings: {
    as: ({ machine, query, calls }, [alias]) => {
      const title = constantText(alias) ?? '?';
      const sql: Fragment = [
        ...parenthesized(printQuery(query, machine.dialect)),
        ` AS ${identifier(title, machine.dialect)}`,
      ];
      machine.reached.withoutStep(calls);
      return {
        kind: 'native',
        title: 'a subquery of Drizzle',
        isHandle: false,
        sql: () => sql,
        member: (property) => sqlValue(machine, [{ kind: 'column-part', table: title, name: property }]),
      };
    },
    execute: (chain, _, at) => settled(chain, at),
    prepare: (chain) => fixedChain(builder, chain),
  },
  settle: (chain, at) => settled(chain, at),
};

function settled(chain: Parameters<typeof runQuery>[0], at: ts.Node): Abstract {
  const { query, machine } = chain;
  const rows = runQuery(chain, at);
  if (query.gives === 'first') return firstRow(rows);
  return !returnsRows(query) && dialects[machine.dialect].givesPairs ? arrayOf([rows, undefinedValue]) : rows;
}
