/** Handles whose origin is not in the sources, and transactions of helpers that are not: known by how they are used. */
import type ts from 'typescript';
import type { Abstract, FunctionValue, Native } from '../abstract-value.ts';
import { calledName, type OutsideCall } from '../called-name.ts';
import { commonConnection, openConnection } from '../common-connection.ts';
import type { Connection } from '../emitter.ts';
import { modulesOf } from '../imported-modules.ts';
import { namesHandle } from '../handle-name.ts';
import type { Machine } from '../machine.ts';
import { constantOf } from '../value-arithmetic.ts';
import { drivers } from './index.ts';
import { sqlOf } from './postgres.ts';
import { openClient } from './text-handle.ts';

/** `context.db('items').where(...)`, `services.db.selectFrom('items')`: a builder of the library that the sources import. */
export const opaqueHandle: OutsideCall = (machine, callee, args, at) => {
  const { ts } = machine.project;
  if (!isOutside(callee) || !ts.isCallExpression(at)) return undefined;
  const handleOf = drivers.byUse(ts, at, constantOf(args[0]), modulesOf(machine.project));
  if (handleOf === undefined) return undefined;
  const handle = handleOf(machine, openConnection(machine));
  const { expression } = at;
  // `context.db('items')` calls a handle that is a function.
  const isMethod = ts.isPropertyAccessExpression(expression) && !namesHandle.test(expression.name.text);
  const method = isMethod ? machine.member(handle, expression.name.text, at) : handle;
  return machine.call(method, args, at);
};

/** `this.sqlTransaction(async (sql) => ...)` of code outside the sources: its function runs in a transaction on the handle that it uses. */
export const opaqueTransaction: OutsideCall = (machine, callee, args, at) => {
  const name = calledName(machine, at);
  if (!isOutside(callee) || !runsTransaction.test(name)) return undefined;
  const fn = args.find((arg): arg is FunctionValue => arg.kind === 'function');
  const connection = commonConnection(machine);
  const passedOn = name.endsWith('.transaction') ? drivers.inTransaction(modulesOf(machine.project)) : undefined;
  const handle =
    fn === undefined ? undefined : (usedHandle(machine, fn, connection) ?? passedOn?.(machine, connection));
  if (fn === undefined || handle === undefined) return undefined;
  machine.assumed.add(`${name} runs its function in a transaction, as its name says`);
  return machine.inTransaction(connection, null, at, () => machine.settle(machine.call(fn, [handle], at), at));
};

/** `withTransaction`, `sql.begin`, `db.transaction().execute`. */
const runsTransaction = /(?:transaction|(?:^|\.)begin|\.transaction\(.*\)\.execute)$/i;

/** What other code gave, or a module that is not in the sources and no driver's. */
export function isOutside(callee: Abstract): boolean {
  return callee.kind === 'value' || (callee.kind === 'external' && callee.module !== '') || isMade(callee);
}

function isMade(callee: Abstract): boolean {
  return callee.kind === 'external' && callee.path.includes('()');
}

/** What the function's first parameter must be, by what is called on it; `undefined`: nothing is. */
function usedHandle(machine: Machine, { node }: FunctionValue, connection: Connection): Native | undefined {
  const { ts, checker } = machine.project;
  const [parameter] = node.parameters;
  if (parameter === undefined || node.body === undefined || !ts.isIdentifier(parameter.name)) return undefined;
  const symbol = checker.getSymbolAtLocation(parameter.name);
  const isParameter = (used: ts.Node): boolean => ts.isIdentifier(used) && checker.getSymbolAtLocation(used) === symbol;
  const find = (used: ts.Node): Native | undefined => {
    if (ts.isTaggedTemplateExpression(used) && isParameter(used.tag)) return sqlOf(machine, connection);
    if (ts.isCallExpression(used)) {
      const { expression: callee } = used;
      const [first] = used.arguments;
      const isMethod = ts.isPropertyAccessExpression(callee);
      if (isParameter(isMethod ? callee.expression : callee)) {
        const text = first !== undefined && ts.isStringLiteralLike(first) ? first.text : undefined;
        const handleOf = drivers.byUse(ts, used, text, modulesOf(machine.project));
        if (handleOf !== undefined) return handleOf(machine, connection);
        if (isMethod && /^(?:query|execute)$/.test(callee.name.text)) return openClient(machine, connection);
      }
    }
    return ts.forEachChild(used, find);
  };
  return find(node.body);
}
