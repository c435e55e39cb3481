/** What a statement compares a column with or writes into it: a constant, a parameter, or something that only the server can compute. */
import type { A_Const, Node } from '@pgsql/types';

export type Operand =
  | { readonly kind: 'constant'; readonly value: string | number | boolean | null }
  /** From 0. */
  | { readonly kind: 'parameter'; readonly index: number }
  | { readonly kind: 'default' };

/** `undefined`: an expression. */
export function operandOf(node: Node | undefined): Operand | undefined {
  if (node === undefined) return undefined;
  if ('A_Const' in node) return constantOf(node.A_Const);
  if ('ParamRef' in node) return { kind: 'parameter', index: (node.ParamRef.number ?? 1) - 1 };
  if ('SetToDefault' in node) return { kind: 'default' };
  // `$1::int`, `'7'::bigint`: the column's type takes the text as the cast does, or `cellValue` finds it uncertain.
  if ('TypeCast' in node && isPlainCast(node.TypeCast.typeName)) return operandOf(node.TypeCast.arg);
  return undefined;
}

/** The value, or `undefined` where it is not known: a DEFAULT, a parameter that was not given. */
export function valueOf(operand: Operand | undefined, parameters: readonly unknown[]): unknown {
  if (operand === undefined || operand.kind === 'default') return undefined;
  return operand.kind === 'constant' ? operand.value : parameters[operand.index];
}

function constantOf({ ival, fval, sval, boolval, isnull }: A_Const): Operand | undefined {
  if (isnull === true) return { kind: 'constant', value: null };
  if (ival !== undefined) return { kind: 'constant', value: ival.ival ?? 0 };
  if (fval !== undefined) return { kind: 'constant', value: fval.fval ?? '0' };
  if (sval !== undefined) return { kind: 'constant', value: sval.sval ?? '' };
  return boolval === undefined ? undefined : { kind: 'constant', value: boolval.boolval ?? false };
}

const plainCasts = new Set(['int2', 'int4', 'int8', 'text', 'varchar', 'uuid', 'bool']);

function isPlainCast(type: { names?: Node[]; typmods?: Node[]; arrayBounds?: Node[] } | undefined): boolean {
  if (type?.typmods !== undefined || type?.arrayBounds !== undefined) return false;
  const last = type?.names?.at(-1);
  return last !== undefined && 'String' in last && plainCasts.has(last.String.sval ?? '');
}
