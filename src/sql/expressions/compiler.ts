/** What the parts of the compiler need of each other. */
import type { Node } from '@pgsql/types';
import type { Expression, Scope } from '../expression.ts';

export interface Compiler {
  readonly scope: Scope;
  readonly compile: (node: Node) => Expression;
}

/** The parser counts bytes from 0 (-1: unknown); errors count characters from 1 (0: unknown). The same for texts in ASCII. */
export function positionOf(location: number | undefined): number {
  return (location ?? -1) + 1;
}

/** The words of a qualified name. */
export function namesOf(nodes: readonly Node[] | undefined): string[] {
  return (nodes ?? []).map((node) => ('String' in node ? (node.String.sval ?? '') : '*'));
}

export function nodesOf(node: Node | undefined): readonly Node[] {
  if (node === undefined) return [];
  return 'List' in node ? (node.List.items ?? []) : [node];
}

/** An expression whose value is set from outside, again and again: the elements of an array, the rows of a subquery. */
export interface Cell {
  readonly expression: Expression;
  value: Exclude<ReturnType<Expression['evaluate']>, undefined>;
}

export function cellOf(model: Pick<Expression, 'type'>): Cell {
  const cell: Cell = {
    value: null,
    expression: { type: model.type, modifier: -1, isRowFree: false, evaluate: () => cell.value },
  };
  return cell;
}
