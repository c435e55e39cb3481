/** Knex: `knex('table')` and its methods, `raw`, `transaction` with a function or without. A builder changes itself. */
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
import { pgResult } from '../drivers/pg.ts';
import { namesHandle } from '../handle-name.ts';
import type { Connection } from '../emitter.ts';
import type { Driver, Machine, Owner } from '../machine.ts';
import type { Project } from '../project.ts';
import { levelIn } from '../level.ts';
import { startsAsStatement } from '../sql-text.ts';
import { inSavepoint } from '../transactions.ts';
import { constantOf } from '../value-arithmetic.ts';
import {
  type Builder,
  type Chain,
  chainOf,
  columnOf,
  firstRow,
  fixedChain,
  rowCount,
  runFragment,
  runQuery,
} from './chain.ts';
import { beginsTransaction } from './begins-transaction.ts';
import { dialects } from './dialect.ts';
import { constantText, join, notRead, parenthesized } from './fragment.ts';
import { identifier } from './identifier.ts';
import { conflictClauses, knexClauses } from './knex-clauses.ts';
import {
  columnFragment,
  innerQuery,
  type KnexNames,
  rawFragment,
  selectedFragments,
  tableFragments,
} from './knex-expressions.ts';
import { tableNameIn } from './table-fields.ts';
import { newQuery, returnsRows } from './query.ts';
import { ownEntry } from './own-entry.ts';

export const knex: Driver = {
  modules: /^knex$/,
  call: (machine, { path }) =>
    /^(?:default|knex|Knex)$/.test(path.at(-1) ?? 'default') ? knexHandle(machine, null) : undefined,
  ofType: (machine, { path }) => {
    if (path.at(-1) === 'Transaction') return knexHandle(machine, {});
    return /^(?:Knex|knex|default)$/.test(path.at(-1) ?? '') ? knexHandle(machine, null) : undefined;
  },
  isLostStatement,
  byUse: {
    isUse,
    handleOf: (machine, owner) => knexHandle(machine, owner),
    inTransaction: (machine, connection) => knexHandle(machine, connection),
  },
};

/** Knex's handle is a function, so that a table's name is what shows a statement: `trx('a').where(...)`, `db.select('n').from('a')`. */
function isLostStatement(
  api: Project['ts'],
  { expression: callee, arguments: args, parent }: ts.CallExpression,
): boolean {
  const [table] = args;
  if (args.length !== 1 || table === undefined || !api.isStringLiteralLike(table)) return false;
  if (api.isPropertyAccessExpression(callee) && /^(?:from|into|table)$/.test(callee.name.text))
    // `Array.from('abc')`, `Buffer.from('abc')`
    return !/^[A-Z]/.test(callee.expression.getText());
  if (!api.isPropertyAccessExpression(parent)) return false;
  const { text: next } = parent.name;
  // Of a method, `page.locator('a').first()`, only what no other chain has.
  // `crypto.createHash('md5').update(text)`
  if (api.isPropertyAccessExpression(callee))
    return (
      !callee.name.text.startsWith('create') &&
      /^(?:where|insert|update|del$|increment|decrement|(?:inner|left|right)(?:Outer)?Join)/.test(next)
    );
  return api.isIdentifier(callee) && callee.text !== '$' && Object.hasOwn(knexClauses, next);
}

/** The same, where a constant has the table's name; `trx.raw('SELECT ...')`. */
function isUse(api: Project['ts'], call: ts.CallExpression, first: unknown): boolean {
  const { expression: callee, arguments: args, parent } = call;
  if (beginsTransaction(api, call) || namesTableLater(api, call)) return true;
  if (typeof first !== 'string') return false;
  if (api.isPropertyAccessExpression(callee)) {
    // Of a chain, `db.insert(row).into('items')`, the beginning is lost.
    const { expression: receiver } = callee;
    if (!api.isIdentifier(receiver) && !api.isPropertyAccessExpression(receiver)) return false;
    const isNamed = namesHandle.test(api.isIdentifier(receiver) ? receiver.text : receiver.name.text);
    if (callee.name.text === 'raw') return isNamed || startsAsStatement(first);
    if (callee.name.text === 'ref') return isNamed;
  }
  if (isLostStatement(api, call)) return true;
  return (
    args.length === 1 &&
    api.isIdentifier(callee) &&
    /^\w+$/.test(first) &&
    api.isPropertyAccessExpression(parent) &&
    Object.hasOwn(knexClauses, parent.name.text)
  );
}

/** `db.select('n').from('items')`, `db.insert(row).into('items')`: the table's name comes behind. */
function namesTableLater(api: Project['ts'], call: ts.CallExpression): boolean {
  const { expression: callee } = call;
  if (!api.isPropertyAccessExpression(callee) || api.isCallExpression(callee.expression)) return false;
  if (!/^(?:select|insert|count|distinct|max|min|with|withRecursive)$/.test(callee.name.text)) return false;
  let node: ts.Node = call;
  while (api.isPropertyAccessExpression(node.parent) && api.isCallExpression(node.parent.parent)) {
    const [table] = node.parent.parent.arguments;
    if (/^(?:from|into)$/.test(node.parent.name.text)) return table !== undefined && api.isStringLiteralLike(table);
    node = node.parent.parent;
  }
  return false;
}

const owners = new WeakMap<Abstract, Owner>();

function knexHandle(machine: Machine, owner: Owner, common: readonly Fragment[] = []): Native {
  const names: KnexNames = { machine, condition: (tables) => start(tables) };
  const start = (tables: readonly Fragment[], at?: ts.Node): Native => {
    const query = { ...newQuery('select', tables, tableNameIn(tables)), common };
    return chainOf(builder, { machine, owner, names, query, calls: at === undefined ? [] : [at] });
  };
  const handle: Native = {
    kind: 'native',
    title: 'a handle of Knex',
    isHandle: true,
    call: ([table], at) => start(table === undefined ? [] : tableFragments(names, table), at),
    member: (name, at) => handleMember({ machine, owner, names, start, common }, name, at),
  };
  owners.set(handle, owner);
  return handle;
}

interface Handle {
  readonly machine: Machine;
  readonly owner: Owner;
  readonly names: KnexNames;
  readonly start: (tables: readonly Fragment[], at: ts.Node) => Native;
  readonly common: readonly Fragment[];
}

function handleMember(handle: Handle, name: string, memberAt: ts.Node): Abstract | undefined {
  const { machine, owner, names, start } = handle;
  switch (name) {
    case 'raw':
      return native(name, ([text, values], at) => rawOf(names, owner, rawFragment(machine, text, values), [at]));
    case 'ref':
      return native(name, ([column]) => refOf(names, columnFragment(names, column)));
    case 'fn':
      return functionsOf(names, owner);
    case 'transaction':
      return native(name, (args, at) => transaction(handle, args, at));
    case 'commit':
    case 'rollback':
      if (owner === null) return undefined;
      return native(name, (_, at) => {
        if (name === 'commit') machine.commit(owner, at);
        else machine.rollback(owner);
        return undefinedValue;
      });
    case 'with':
    case 'withRecursive':
      return native(name, ([title, second, third], at) => {
        const [columns, query] = third === undefined ? [undefined, second] : [second, third];
        const sql = innerQuery(names, query, at);
        const inner = sql ?? notRead('the query of WITH is not read');
        const keyword = name === 'withRecursive' && handle.common.length === 0 ? 'RECURSIVE ' : '';
        const one: Fragment = [
          `${keyword}${identifier(constantText(title) ?? '?', machine.dialect)}`,
          ...(columns === undefined ? [] : parenthesized(join(selectedFragments(names, columns), ', '))),
          ' AS ',
          ...(sql === undefined ? parenthesized(inner) : inner),
        ];
        return knexHandle(machine, owner, [...handle.common, one]);
      });
    case 'schema':
    case 'migrate':
    case 'seed':
      return undefinedValue;
    case 'client':
      return clientOf(machine, owner);
    case 'destroy':
    case 'initialize':
    case 'on':
    case 'isCompleted':
      return native(name, () => undefinedValue);
    case 'queryBuilder':
      return native(name, (_, at) => start([], at));
    case 'batchInsert':
    case 'transactionProvider':
      return native(name, (_, at) => {
        machine.notUnderstood(at, `\`${name}\` of Knex is not read`);
        return undefinedValue;
      });
    default:
      return machine.member(start([], memberAt), name, memberAt);
  }
}

/** What the connection's own object says of the engine, and a handle. */
function clientOf(machine: Machine, owner: Owner): Native {
  const handle = knexHandle(machine, owner);
  const { knexDriver } = dialects[machine.dialect];
  const member: NonNullable<Native['member']> = (name, at) => {
    if (name === 'driverName') return knexDriver === null ? unknown('which driver it is') : constant(knexDriver);
    return name === 'config' ? unknown('the settings of Knex') : handle.member?.(name, at);
  };
  return { ...handle, member };
}

function functionsOf(names: KnexNames, owner: Owner): Native {
  const texts: Readonly<Record<string, string>> = { now: 'CURRENT_TIMESTAMP', uuid: 'gen_random_uuid()' };
  return {
    kind: 'native',
    title: 'functions of Knex',
    isHandle: false,
    member: (name) =>
      native(name, () => {
        const text = ownEntry(texts, name);
        return rawOf(names, owner, text === undefined ? notRead(`\`fn.${name}\` of Knex is not read`) : [text], []);
      }),
  };
}

/** `knex.ref('a.b').as('c')` */
function refOf(names: KnexNames, fragment: Fragment): Native {
  const { dialect } = names.machine;
  return {
    kind: 'native',
    title: 'a reference of Knex',
    isHandle: false,
    isChain: true,
    sql: () => fragment,
    member: (name) =>
      name === 'as'
        ? native(name, ([alias]) =>
            refOf(names, [...fragment, ` AS ${identifier(constantText(alias) ?? '?', dialect)}`]),
          )
        : undefined,
  };
}

/** `knex.raw(...)`: a statement when it is awaited, a part of one otherwise. */
function rawOf(names: KnexNames, owner: Owner, fragment: Fragment, calls: readonly ts.Node[]): Native {
  const { machine } = names;
  const raw: Native = {
    kind: 'native',
    title: 'SQL of Knex',
    isHandle: false,
    isChain: true,
    sql: () => {
      machine.reached.withoutStep(calls);
      return fragment;
    },
    settle: (at) => {
      const rows = runFragment(machine, owner, fragment, calls, at);
      return dialects[machine.dialect].givesPairs ? arrayOf([rows, undefinedValue]) : pgResult(rows);
    },
    member: (name) => {
      if (name === 'transacting')
        return native(name, ([trx]) => rawOf(names, owners.get(trx ?? undefinedValue) ?? owner, fragment, calls));
      if (name === 'as' || name === 'wrap')
        return native(name, ([first, second]) => {
          const [before, after] = [constantText(first) ?? '', constantText(second) ?? ''];
          const text: Fragment =
            name === 'as'
              ? [...parenthesized(fragment), ` AS ${identifier(before, machine.dialect)}`]
              : [before, ...fragment, after];
          return rawOf(names, owner, text, calls);
        });
      return undefined;
    },
  };
  return raw;
}

function transaction({ machine, owner }: Handle, args: readonly Abstract[], at: ts.Node): Abstract {
  const fn = args.find(({ kind }) => kind === 'function' || kind === 'native');
  const options = args.find(({ kind }) => kind === 'object');
  const level = levelIn(
    String(constantOf(options?.kind === 'object' ? options.properties.get('isolationLevel')?.value : undefined) ?? ''),
  );
  // A transaction in a transaction is a savepoint.
  if (owner !== null && fn !== undefined)
    return inSavepoint(machine, owner, 'savepoint', at, () => machine.call(fn, [knexHandle(machine, owner)], at));
  const connection: Connection = {};
  const trx = knexHandle(machine, connection);
  if (fn !== undefined)
    return machine.inTransaction(connection, level, at, () => machine.settle(machine.call(fn, [trx], at), at));
  machine.begin(connection, level, at);
  return trx;
}

const builder: Builder<KnexNames> = {
  title: 'a query of Knex',
  isMutable: true,
  clauses: knexClauses,
  properties: { client: ({ machine, owner }) => clientOf(machine, owner) },
  endings: {
    transacting: (chain, [trx]) =>
      fixedChain(builder, { ...chain, owner: owners.get(trx ?? undefinedValue) ?? chain.owner }),
    onConflict: (chain, [columns]) => conflict(chain, columns),
    modify: (chain, [fn, ...rest], at) => {
      const self = chainOf(builder, chain);
      chain.machine.call(fn ?? undefinedValue, [self, ...rest], at);
      return self;
    },
    clone: (chain) => fixedChain(builder, chain),
    truncate: ({ names, owner, query, calls }) =>
      rawOf(names, owner, ['TRUNCATE TABLE ', ...join(query.tables, ', ')], calls),
    toSQL: () => objectOf({}),
    toString: () => unknown('the text of a query'),
    toQuery: () => unknown('the text of a query'),
    stream: (chain, _, at) => runQuery(chain, at),
  },
  settle: (chain, at) => {
    const { query, machine } = chain;
    const rows = runQuery(chain, at);
    if (query.gives === 'first') return firstRow(rows);
    if (query.gives !== 'rows') return columnOf(rows, query.gives.column);
    if (returnsRows(query)) return rows;
    return query.verb === 'insert' && !dialects[machine.dialect].hasReturning
      ? arrayOf([machine.member(rows, 'insertId', at)])
      : rowCount(rows);
  },
};

/** `onConflict('id').merge()`, `.ignore()` */
function conflict(chain: Chain<KnexNames>, columns: Abstract | undefined): Native {
  return {
    kind: 'native',
    title: 'a conflict of Knex',
    isHandle: false,
    isChain: true,
    member: (name) => {
      const clause = ownEntry(conflictClauses, name);
      return native(name, (args, at) => {
        const query =
          clause === undefined
            ? { ...chain.query, notRead: notRead(`\`${name}\` of onConflict is not read`) }
            : clause(chain, [columns ?? undefinedValue, ...args], at);
        return fixedChain(builder, { ...chain, query });
      });
    },
  };
}
