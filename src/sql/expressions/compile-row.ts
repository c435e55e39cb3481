/** Comparing rows: `(a, b) = (c, d)`, `(a, b) < (c, d)`. PostgreSQL manual, 9.25.5. */
import type { Node } from '@pgsql/types';
import type { Expression, Frame } from '../expression.ts';
import { SqlError, type SqlValue } from '../model/index.ts';
import { applyOperator } from './apply-operator.ts';
import { namesOf, positionOf } from './compiler.ts';
import { truth } from './compile-logic.ts';
import type { Compiler } from './compiler.ts';
import { coerceToBoolean } from './coerce.ts';

export function isRowNode(node: Node): boolean {
  return 'RowExpr' in node;
}

export function rowParts(node: Node, compiler: Compiler): Expression[] {
  if (!('RowExpr' in node)) return [compiler.compile(node)];
  return (node.RowExpr.args ?? []).flatMap((each) => rowPart(each, compiler));
}

/** `t.*` inside a row stands for its columns. */
export function rowPart(node: Node, { compile, scope }: Compiler): readonly Expression[] {
  const names = 'ColumnRef' in node ? namesOf(node.ColumnRef.fields) : [];
  if (!('ColumnRef' in node) || names.length < 2 || names.at(-1) !== '*') return [compile(node)];
  return scope.columnsOf(names.slice(0, -1), positionOf(node.ColumnRef.location));
}

/** @param wanted how many columns MySQL asks for */
export function otherLength(message: string, wanted: number, position?: number): SqlError {
  const mysqlMessage = `Operand should contain ${wanted} column(s)`;
  return new SqlError('42601', message, {
    ...(position === undefined ? {} : { position }),
    mysqlNumber: 1241,
    mysqlMessage,
  });
}

/** @throws SqlError 42601 rows of different lengths */
export function compareRows(
  operator: string,
  left: readonly Expression[],
  right: readonly Expression[],
  compiler: Compiler,
  position: number,
): Expression {
  if (left.length !== right.length)
    throw otherLength('unequal number of entries in row expressions', left.length, position);
  const name = operator === '!=' ? '<>' : operator;
  const apply = (each: string): Expression[] =>
    left.map((part, i) =>
      coerceToBoolean(applyOperator(each, [part, right[i] ?? part], compiler.scope, position), 'AND', compiler.scope),
    );
  const isRowFree = [...left, ...right].every((each) => each.isRowFree);
  if (name === '=') {
    const equal = apply('=');
    return truth(compiler, isRowFree, (frame) => allTrue(equal, frame));
  }
  if (name === '<>') {
    const equal = apply('=');
    return truth(compiler, isRowFree, (frame) => negated(allTrue(equal, frame)));
  }
  if (!['<', '<=', '>', '>='].includes(name)) {
    throw new SqlError('0A000', `could not determine interpretation of row comparison operator ${name}`, { position });
  }
  return ordered(apply('='), apply(name), compiler, isRowFree);
}

/** The first pair that differs decides; a NULL before it leaves it open. */
function ordered(
  equal: readonly Expression[],
  holds: readonly Expression[],
  compiler: Compiler,
  isRowFree: boolean,
): Expression {
  const last = equal.length - 1;
  return truth(compiler, isRowFree, (frame) => {
    for (const [i, part] of equal.entries()) {
      const same = part.evaluate(frame);
      if (same === null) return null;
      if (same === false || i === last) return holds[i]?.evaluate(frame) ?? null;
    }
    return null;
  });
}

function allTrue(parts: readonly Expression[], frame: Frame): SqlValue {
  let result: SqlValue = true;
  for (const { evaluate } of parts) {
    const value = evaluate(frame);
    if (value === false) return false;
    if (value === null) result = null;
  }
  return result;
}

function negated(value: SqlValue): SqlValue {
  return value === null ? null : value === false;
}
