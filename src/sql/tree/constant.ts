/**
 * Constants, as PostgreSQL's parser makes them. In this folder `at` is the offset in the statement's text of what a node stands for: the
 * `location` of its error messages.
 */
import type { Node } from '@pgsql/types';

const int4Max = 2 ** 31 - 1;

export function integerNode(value: number, at: number): Node {
  return { A_Const: { ival: value === 0 ? {} : { ival: value }, location: at } };
}

/** Digits, perhaps with a point and an exponent: an integer where 32 bits hold it, else a numeric. */
export function numberNode(text: string, at: number): Node {
  const isInteger = /^\d+$/.test(text) && Number(text) <= int4Max;
  return isInteger ? integerNode(Number(text), at) : numericNode(text, at);
}

function numericNode(text: string, at: number): Node {
  return { A_Const: { fval: { fval: text }, location: at } };
}

export function stringNode(value: string, at: number): Node {
  return { A_Const: { sval: { sval: value }, location: at } };
}

export function nullNode(at: number): Node {
  return { A_Const: { isnull: true, location: at } };
}

/** @param digits behind their base: `x4d`, `b101` */
export function bitsNode(digits: `x${string}` | `b${string}`, at: number): Node {
  return { A_Const: { bsval: { bsval: digits }, location: at } };
}

/** `undefined`: not a constant number. */
export function negatedConstant(node: Node, at: number): Node | undefined {
  if (!('A_Const' in node)) return undefined;
  const { ival, fval } = node.A_Const;
  if (ival !== undefined) return integerNode(-(ival.ival ?? 0), at);
  if (fval === undefined) return undefined;
  const { fval: text = '' } = fval;
  return numericNode(text.startsWith('-') ? text.slice(1) : `-${text}`, at);
}
