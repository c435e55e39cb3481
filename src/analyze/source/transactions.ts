/** Begins and ends transactions, and names them after the function that asks for them. */
import type ts from 'typescript';
import type { IsolationName } from '../../sql/index.ts';
import type { Abstract } from './abstract-value.ts';
import type { Value } from '../application.ts';
import { allOf } from './conditions.ts';
import type { Connection } from './emitter.ts';
import { takeNextLevel } from './level.ts';
import { type Completion, normalCompletion, type Machine } from './machine.ts';

export function beginTransaction(
  machine: Machine,
  connection: Connection,
  level: IsolationName | null,
  at: ts.Node,
): void {
  const { emitter } = machine;
  if (emitter.open !== null) {
    machine.notUnderstood(
      at,
      emitter.open.connection === connection
        ? 'BEGIN in a transaction'
        : 'a second transaction begins while one is open',
    );
    return;
  }
  const { name, place } = origin(machine, at);
  const set = takeNextLevel(machine, connection, at);
  emitter.begin(connection, name, level ?? set, machine.place(place));
}

/** `withTransaction`, `beginTx`: a word like `run` or `open` alone may as well be the work itself. */
const namedAfterTransactions =
  /^(?:begin|start|open|with|run|in)_?(?:a_?)?(?:db_?)?(?:transaction|tx|trx|transactional)$/i;

/** The innermost function that is no helper, and the line in it. */
function origin(machine: Machine, at: ts.Node): { readonly name: string; readonly place: ts.Node } {
  const { ts } = machine.project;
  let place = at;
  for (const { fn, isHelper, call } of machine.frames.toReversed()) {
    if (isHelper || (fn !== null && namedAfterTransactions.test(nameOf(fn.node, ts) ?? ''))) {
      place = call;
      continue;
    }
    const name = fn === null ? undefined : nameOf(fn.node, ts);
    if (name !== undefined) return { name, place };
  }
  return { name: 'transaction', place };
}

export function nameOf(node: ts.Node, api: typeof ts): string | undefined {
  if (api.isConstructorDeclaration(node)) return undefined;
  const { name } = node as { name?: ts.Node };
  if (name !== undefined) return name.getText();
  const { parent } = node;
  if (api.isVariableDeclaration(parent) && api.isIdentifier(parent.name)) return parent.name.text;
  if (api.isPropertyAssignment(parent) || api.isPropertyDeclaration(parent)) return parent.name.getText();
  if (api.isBinaryExpression(parent) && api.isPropertyAccessExpression(parent.left)) return parent.left.name.text;
  return undefined;
}

/** A callback in a transaction: it commits behind it, a throw rolls it back and reaches the caller. */
export function inTransaction(
  machine: Machine,
  connection: Connection,
  level: IsolationName | null,
  at: ts.Node,
  body: () => Abstract,
): Abstract {
  const { open } = machine.emitter;
  if (open?.connection === connection) return body();
  if (open !== null) return besideOpen(machine, connection, level, at, body);
  beginTransaction(machine, connection, level, at);
  return untilCommit(machine, connection, at, body, machine.handlers, () => machine.raise());
}

/** @param raise What a throw does, once the transaction is rolled back */
function untilCommit(
  machine: Machine,
  connection: Connection,
  at: ts.Node,
  body: () => Abstract,
  outside: Machine['handlers'],
  raise: () => Completion,
): Abstract {
  const outer = machine.handlers;
  machine.handlers = [
    ...outside,
    () => {
      machine.rollback(connection);
      return raise();
    },
  ];
  const value = body();
  machine.handlers = outer;
  if (value.kind !== 'never') machine.commit(connection, at);
  return value;
}

/** While another connection's is open: it waits. A throw that leaves the inner one reaches the outer one. */
function besideOpen(
  machine: Machine,
  connection: Connection,
  level: IsolationName | null,
  at: ts.Node,
  body: () => Abstract,
): Abstract {
  const { emitter } = machine;
  const { path } = emitter;
  const thrown: Value[] = [];
  const { result, isBefore } = emitter.outside(() => {
    beginTransaction(machine, connection, level, at);
    return untilCommit(machine, connection, at, body, [], () => {
      thrown.push(allOf(emitter.path.slice(path.length)));
      return { end: 'throw', ended: [] };
    });
  });
  if (result.kind === 'never') machine.raise();
  else if (isBefore) {
    for (const condition of thrown)
      machine.fork(
        condition,
        () => machine.raise(),
        () => normalCompletion,
      );
  }
  return result;
}

/** A callback behind a savepoint: a throw in it rolls back to there and reaches the caller, who rolls all back unless it catches. */
export function inSavepoint(
  machine: Machine,
  connection: Connection,
  wanted: string,
  at: ts.Node,
  body: () => Abstract,
): Abstract {
  const name = machine.emitter.name(wanted);
  machine.savepoint(connection, name, at);
  const outer = machine.handlers;
  machine.handlers = [
    ...outer,
    () => {
      machine.emitter.push({ kind: 'rollback-to-savepoint', name });
      return machine.raise();
    },
  ];
  const value = machine.settle(body(), at);
  machine.handlers = outer;
  return value;
}
