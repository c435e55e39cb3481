/** Prisma: calls of models by the names of schema.prisma, `$transaction` in both forms, raw SQL. A call runs when it is awaited. */
import type ts from 'typescript';
import { type Abstract, arrayOf, native, type Native, undefinedValue, type Fragment } from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Driver, Machine, Owner } from '../machine.ts';
import { levelIn } from '../level.ts';
import { constantOf } from '../value-arithmetic.ts';
import { rowCount, runFragment } from './chain.ts';
import { onEachPath } from './choices.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { constantText, join, notRead, operand, whyNotConstant } from './fragment.ts';
import { prismaCalls } from './prisma-calls.ts';
import type { PrismaCall } from './prisma-statement.ts';
import { parsePrismaSchema, type PrismaModel } from './prisma-schema.ts';
import { rawTemplate } from './raw-template.ts';

export const prisma: Driver = {
  modules: /(?:^|\/)@?prisma(?:\/|$|-client)|\/generated(?:\/|$)/,
  construct: (machine, { path }) => (path.at(-1) === 'PrismaClient' ? prismaHandle(machine, null) : undefined),
  ofType: (machine, { path }) => {
    if (path.at(-1) === 'TransactionClient') return prismaHandle(machine, {});
    return path.at(-1) === 'PrismaClient' ? prismaHandle(machine, null) : undefined;
  },
  value: (machine, { path }) => {
    if (path[0] !== 'Prisma') return undefined;
    if (path.length === 2 && path[1] === 'sql') return rawSql(machine);
    // `Prisma.TransactionIsolationLevel.Serializable`
    return path.length === 3 && path[1] === 'TransactionIsolationLevel'
      ? { kind: 'value', value: { kind: 'constant', value: path[2] ?? '' } }
      : undefined;
  },
  call: (_, { path }, args) => {
    if (path[0] !== 'Prisma') return undefined;
    const [first, second] = args;
    switch (path[1]) {
      case 'join':
        return sqlValue(
          first?.kind === 'array'
            ? join(first.elements.value.map(operand), constantText(second) ?? ', ')
            : notRead(`a list in the SQL text is ${whyNotConstant(first)}`),
        );
      case 'raw': {
        const text = constantText(first);
        return sqlValue(text === undefined ? notRead(`a part of the SQL text is ${whyNotConstant(first)}`) : [text]);
      }
      default:
        return undefined;
    }
  },
  startsStatement:
    /^(?:find(?:Unique|First)(?:OrThrow)?|findMany|(?:create|update|delete)Many|\$(?:query|execute)Raw(?:Unsafe)?)$/,
};

function sqlValue(fragment: Fragment): Native {
  return { kind: 'native', title: 'SQL of Prisma', isHandle: false, sql: () => fragment };
}

function rawSql(machine: Machine): Native {
  return {
    kind: 'native',
    title: 'Prisma.sql',
    isHandle: false,
    tag: (texts, holes, at) => {
      machine.reached.withoutStep([at]);
      return onEachPath(machine, holes, (known) => sqlValue(rawTemplate(texts, known)));
    },
  };
}

const schemas = new WeakMap<Machine['project'], ReadonlyMap<string, PrismaModel>>();

function modelsOf({ project }: Machine): ReadonlyMap<string, PrismaModel> {
  const texts = [...project.others].flatMap(([path, text]) => (path.endsWith('.prisma') ? [text] : []));
  const models = schemas.get(project) ?? parsePrismaSchema(texts);
  schemas.set(project, models);
  return models;
}

function prismaHandle(machine: Machine, owner: Owner): Native {
  const handle: Native = {
    kind: 'native',
    title: 'a client of Prisma',
    isHandle: true,
    inTransaction: () => prismaHandle(machine, {}),
    member: (name) => {
      switch (name) {
        case '$transaction':
          return native(name, (args, at) => transaction(machine, owner, args, at));
        case '$queryRaw':
        case '$executeRaw':
          return rawQuery(machine, owner, name);
        case '$queryRawUnsafe':
        case '$executeRawUnsafe':
          return native(name, ([text, ...values], at) =>
            lazy(machine, owner, (own) => {
              const rows = machine.statement(own, { text: text ?? undefinedValue, parameters: values, at });
              return name === '$executeRawUnsafe' ? rowCount(rows) : rows;
            }),
          );
        case '$extends':
          return native(name, () => handle);
        default:
          return name.startsWith('$') || name === 'constructor'
            ? native(name, () => undefinedValue)
            : modelHandle(machine, owner, name);
      }
    },
  };
  return handle;
}

function modelHandle(machine: Machine, owner: Owner, name: string): Native {
  const models = modelsOf(machine);
  const model = [...models.values()].find((one) => one.name.toLowerCase() === name.toLowerCase());
  return {
    kind: 'native',
    title: `the model ${name}`,
    isHandle: true,
    member: (method) =>
      native(method, (given, at) =>
        onEachPath(machine, given, ([options]) =>
          lazy(machine, owner, (own) => {
            const fault = faultOf(models, model, name, method, options);
            if (fault !== undefined || model === undefined) {
              machine.notUnderstood(at, fault ?? name);
              return { kind: 'value', value: { kind: 'unknown', reason: `what ${name}.${method} gives` } };
            }
            const call: PrismaCall = {
              machine,
              owner: own,
              models,
              model,
              alias: model.table,
              options: optionsOf(options),
              at,
            };
            return prismaCalls[method]?.(call) ?? undefinedValue;
          }),
        ),
      ),
  };
}

function faultOf(
  models: ReadonlyMap<string, PrismaModel>,
  model: PrismaModel | undefined,
  name: string,
  method: string,
  options: Abstract | undefined,
): string | undefined {
  if (models.size === 0) return 'no schema.prisma says which table a model is';
  if (model === undefined) return `the model ${name} is not in schema.prisma`;
  if (prismaCalls[method] === undefined) return `\`${method}\` of Prisma is not read`;
  return options !== undefined && options.kind !== 'undefined' && entriesOf(options) === null
    ? `what is passed to ${method} is ${whyNotConstant(options)}`
    : undefined;
}

/** A call that runs when it is awaited, or in `$transaction([...])`. */
function lazy(machine: Machine, owner: Owner, run: (owner: Owner) => Abstract): Native {
  return {
    kind: 'native',
    title: 'a call of Prisma',
    isHandle: false,
    isChain: true,
    settle: () => run(owner),
    runOn: run,
    member: (name, at) => {
      const value = run(owner);
      machine.notUnderstood(at, `\`${name}\` of a call of Prisma is not read`);
      return value;
    },
  };
}

function rawQuery(machine: Machine, owner: Owner, name: string): Native {
  const start = (fragment: Fragment, at: ts.Node): Native =>
    lazy(machine, owner, (own) => {
      const rows = runFragment(machine, own, fragment, [at], at);
      return name === '$executeRaw' ? rowCount(rows) : rows;
    });
  return {
    kind: 'native',
    title: name,
    isHandle: true,
    tag: (texts, holes, at) => onEachPath(machine, holes, (known) => start(rawTemplate(texts, known), at)),
    call: (given, at) =>
      onEachPath(machine, given, ([sql]) =>
        start(
          sql?.kind === 'native' && sql.sql !== undefined
            ? sql.sql()
            : notRead(`the SQL text is ${whyNotConstant(sql)}`),
          at,
        ),
      ),
  };
}

function transaction(machine: Machine, owner: Owner, [work, options]: readonly Abstract[], at: ts.Node): Abstract {
  const level = levelIn(String(constantOf(optionsOf(options).get('isolationLevel')) ?? ''));
  const connection: Connection = owner ?? {};
  return machine.inTransaction(connection, level, at, () =>
    onEachPath(machine, [work ?? undefinedValue], ([known = undefinedValue]) => {
      if (known.kind === 'array')
        return arrayOf(known.elements.value.map((one) => runOne(machine, one, connection, at)));
      if (known.kind === 'function')
        return machine.settle(machine.call(known, [prismaHandle(machine, connection)], at), at);
      return runOne(machine, known, connection, at);
    }),
  );
}

/** A call that waits, in a list or alone. */
function runOne(machine: Machine, call: Abstract, connection: Connection, at: ts.Node): Abstract {
  if (call.kind === 'native' && call.runOn !== undefined) return call.runOn(connection, at);
  if (call.kind === 'choice')
    return onEachPath(machine, [call], ([known]) => runOne(machine, known ?? undefinedValue, connection, at));
  machine.notUnderstood(at, `what is passed to $transaction is ${whyNotConstant(call)}`);
  return undefinedValue;
}
