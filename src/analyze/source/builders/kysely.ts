/** Kysely: chains of `selectFrom`, `insertInto`, `updateTable`, `deleteFrom`, run by `execute`; transactions by `transaction().execute(fn)`. */
import type ts from 'typescript';
import type { IsolationName } from '../../../sql/index.ts';
import {
  type Abstract,
  arrayOf,
  native,
  type Native,
  objectOf,
  undefinedValue,
  type Fragment,
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import { type Driver, normalCompletion, type Machine, type Owner } from '../machine.ts';
import { levelIn } from '../level.ts';
import { choose, constantOf, truthOf } from '../value-arithmetic.ts';
import { type Builder, chainOf, type Ending, firstRow, requireRow, rowCount, runQuery } from './chain.ts';
import { jsonHelper } from './kysely-json.ts';
import { identifier, snakeCase } from './identifier.ts';
import { constantText } from './fragment.ts';
import { kyselyClauses } from './kysely-clauses.ts';
import { aliased, expressionOf, functions, type Naming, sqlTag, tables, withOwner } from './kysely-expressions.ts';
import { newQuery, printQuery, type Query, returnsRows } from './query.ts';
import { ownEntry } from './own-entry.ts';

type Names = Naming & { readonly common: readonly Fragment[] };

const starting = /^(?:selectFrom|insertInto|updateTable|deleteFrom|replaceInto|mergeInto)$/;

export const kysely: Driver = {
  modules: /^kysely(?:\/helpers\/postgres)?$/,
  construct: (machine, { path }, [options]) =>
    path.at(-1) === 'Kysely' ? kyselyHandle(machine, null, namingOf(options)) : undefined,
  ofType: (machine, { path }) => {
    if (path.at(-1) === 'Kysely') return kyselyHandle(machine, null, namingIn(machine));
    const isTransaction = /^(?:Controlled)?Transaction$/.test(path.at(-1) ?? '');
    return isTransaction ? kyselyHandle(machine, {}, namingIn(machine)) : undefined;
  },
  call: (machine, { module, path }, args) =>
    module === 'kysely' ? undefined : jsonHelper(names(machine, null, asWritten, []), path.at(-1), args),
  value: (machine, { path }) =>
    path.length === 1 && path[0] === 'sql' ? sqlTag(names(machine, null, asWritten, [])) : undefined,
  startsStatement: starting,
  byUse: {
    isUse: (api, { expression: callee }) => api.isPropertyAccessExpression(callee) && starting.test(callee.name.text),
    handleOf: (machine, owner) => kyselyHandle(machine, owner, namingIn(machine)),
  },
};

const asWritten = (name: string): string => name;

/** CamelCasePlugin: `createdAt` is `created_at`. */
function namingOf(options: Abstract | undefined): (name: string) => string {
  const plugins = options?.kind === 'object' ? options.properties.get('plugins')?.value : undefined;
  const isCamelCase =
    plugins?.kind === 'array' &&
    plugins.elements.value.some((one) => one.kind === 'external' && one.path.includes('CamelCasePlugin'));
  return isCamelCase ? snakeCase : asWritten;
}

/** Of a handle that is not made here: the sources have one way to write names. */
function namingIn({ project }: Machine): (name: string) => string {
  return project.files.some(({ text }) => text.includes('CamelCasePlugin')) ? snakeCase : asWritten;
}

function names(machine: Machine, owner: Owner, nameOf: (name: string) => string, common: readonly Fragment[]): Names {
  const naming: Names = { machine, nameOf, common, start: (name) => starts(naming, owner, name) };
  return naming;
}

function kyselyHandle(machine: Machine, owner: Owner, nameOf: (name: string) => string): Native {
  return handle(names(machine, owner, nameOf, []), owner);
}

function handle(naming: Names, owner: Owner): Native {
  const db: Native = {
    kind: 'native',
    title: 'a handle of Kysely',
    isHandle: true,
    member: (name) => starts(naming, owner, name) ?? handleMember(naming, owner, name),
  };
  return withOwner(db, owner);
}

const verbs: Readonly<Record<string, Query['verb']>> = {
  selectFrom: 'select',
  insertInto: 'insert',
  updateTable: 'update',
  deleteFrom: 'delete',
};

/** The methods that begin a statement. */
function starts(naming: Names, owner: Owner, name: string): Abstract | undefined {
  const verb = ownEntry(verbs, name);
  if (verb === undefined && name !== 'selectNoFrom') return undefined;
  return native(name, ([table], at) => {
    const from = name === 'selectNoFrom' ? [] : tables(naming, table, at);
    const query = { ...newQuery(verb ?? 'select', from), common: naming.common };
    const first = chainOf(builder, { machine: naming.machine, owner, names: naming, query, calls: [at] });
    return name === 'selectNoFrom'
      ? naming.machine.call(naming.machine.member(first, 'select', at), [table ?? undefinedValue], at)
      : first;
  });
}

function handleMember(naming: Names, owner: Owner, name: string): Abstract {
  const { machine, nameOf } = naming;
  switch (name) {
    case 'transaction':
      return native(name, () => transaction(naming));
    case 'startTransaction':
      return native(name, () => controlledStart(naming));
    case 'connection':
      return native(name, () =>
        executing((fn, at) => machine.call(fn, [handle(names(machine, {}, nameOf, []), {})], at)),
      );
    case 'with':
    case 'withRecursive':
      return native(name, (args, at) => handle(withCommon(naming, owner, name, args, at), owner));
    case 'fn':
      return functions(naming);
    case 'withPlugin':
    case 'withoutPlugins':
    case 'withTables':
    case 'withSchema':
      return native(name, () => handle(naming, owner));
    default:
      return native(name, (_, at) => {
        if (/^(?:destroy|isTransaction|getExecutor)$/.test(name)) return undefinedValue;
        if (name !== 'schema' && name !== 'introspection' && name !== 'dynamic')
          machine.notUnderstood(at, `\`${name}\` of Kysely is not read`);
        return undefinedValue;
      });
  }
}

/** An object whose `execute` calls a function. */
function executing(run: (fn: Abstract, at: ts.Node) => Abstract): Native {
  return {
    kind: 'native',
    title: 'a connection of Kysely',
    isHandle: false,
    member: (name) => native(name, ([fn], at) => run(fn ?? undefinedValue, at)),
  };
}

function withCommon(naming: Names, owner: Owner, name: string, [given, fn]: readonly Abstract[], at: ts.Node): Names {
  const { machine, nameOf, common } = naming;
  const inner = machine.call(fn ?? undefinedValue, [handle(naming, owner)], at);
  const title = constantText(given) ?? '?';
  const keyword = name === 'withRecursive' && common.length === 0 ? 'RECURSIVE ' : '';
  const sql: Fragment = inner.kind === 'native' ? (inner.sql?.() ?? []) : [];
  return names(machine, owner, nameOf, [...common, [`${keyword}${identifier(title, machine.dialect)} AS `, ...sql]]);
}

/** `transaction()` and `startTransaction()`: options, then `execute`. */
function transactionOf(level: IsolationName | null, execute: (level: IsolationName | null) => Native): Native {
  return {
    kind: 'native',
    title: 'a transaction of Kysely',
    isHandle: false,
    member: (name) => {
      if (name === 'setIsolationLevel')
        return native(name, ([given]) => transactionOf(levelIn(String(constantOf(given) ?? '')), execute));
      return name === 'execute' ? execute(level) : native(name, () => transactionOf(level, execute));
    },
  };
}

function transaction({ machine, nameOf }: Names): Native {
  return transactionOf(null, (level) =>
    native('execute', ([fn], at) => {
      const connection: Connection = {};
      const inner = kyselyHandle(machine, connection, nameOf);
      return machine.inTransaction(connection, level, at, () =>
        machine.settle(machine.call(fn ?? undefinedValue, [inner], at), at),
      );
    }),
  );
}

/** `startTransaction().execute()`: a handle with `commit()` and `rollback()`. */
function controlledStart(naming: Names): Native {
  const { machine } = naming;
  return transactionOf(null, (level) =>
    native('execute', (_, at) => {
      const connection: Connection = {};
      machine.begin(connection, level, at);
      return controlled(naming, connection);
    }),
  );
}

function controlled(naming: Names, connection: Connection): Native {
  const { machine, nameOf } = naming;
  const inner = kyselyHandle(machine, connection, nameOf);
  const ends: Readonly<Record<string, (name: string, at: ts.Node) => void>> = {
    commit: (_, at) => machine.commit(connection, at),
    rollback: () => machine.rollback(connection),
    savepoint: (name, at) => machine.savepoint(connection, name, at),
    rollbackToSavepoint: (name) => machine.emitter.push({ kind: 'rollback-to-savepoint', name }),
    releaseSavepoint: () => undefined,
  };
  const outer: Native = {
    ...inner,
    member: (name, at) => {
      const end = ownEntry(ends, name);
      if (end === undefined) return inner.member?.(name, at);
      return native(name, ([savepoint]) =>
        executing((_, executedAt) => {
          end(constantText(savepoint) ?? 'savepoint', executedAt);
          return outer;
        }),
      );
    },
  };
  return withOwner(outer, connection);
}

const execute: Ending<Names> = (chain, _, at) => {
  const rows = runQuery(chain, at);
  return returnsRows(chain.query) ? rows : arrayOf([changes(rows)]);
};

const executeTakeFirst: Ending<Names> = (chain, _, at) => {
  const rows = runQuery(chain, at);
  return returnsRows(chain.query) ? firstRow(rows) : changes(rows);
};

/** What INSERT, UPDATE and DELETE give without RETURNING. */
function changes(rows: Abstract): Abstract {
  const count = rowCount(rows);
  return objectOf({
    numInsertedOrUpdatedRows: count,
    numUpdatedRows: count,
    numChangedRows: count,
    numDeletedRows: count,
  });
}

const builder: Builder<Names> = {
  title: 'a query of Kysely',
  isMutable: false,
  clauses: kyselyClauses,
  endings: {
    execute,
    executeTakeFirst,
    stream: execute,
    executeTakeFirstOrThrow: (chain, args, at) => {
      const row = executeTakeFirst(chain, args, at);
      return returnsRows(chain.query) ? requireRow(chain.machine, row) : row;
    },
    as: ({ machine, names: naming, query, calls }, [alias]) =>
      expressionOf(naming, aliased(machine, ['(', ...printQuery(query, machine.dialect), ')'], alias), calls),
    $call: (chain, [fn], at) => chain.machine.call(fn ?? undefinedValue, [chainOf(builder, chain)], at),
    $if: (chain, [condition, fn], at) => {
      const { machine } = chain;
      const plain = chainOf(builder, chain);
      let added: Abstract = plain;
      const truth = truthOf(condition ?? undefinedValue);
      machine.fork(
        truth,
        () => ((added = machine.call(fn ?? undefinedValue, [plain], at)), normalCompletion),
        () => normalCompletion,
      );
      return choose(truth, added, plain);
    },
    compile: ({ machine }, _, at) => {
      machine.notUnderstood(at, '`compile` of a query of Kysely is not read');
      return undefinedValue;
    },
  },
};
