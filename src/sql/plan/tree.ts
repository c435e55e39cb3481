/** Looking at the parser's trees: names, constants, AND lists, equality of expressions. */
import type { A_Expr, ColumnRef, Node } from '@pgsql/types';

/** The strings of a list of names: column references, function and operator names. */
export function stringsOf(nodes: readonly Node[] | undefined): string[] {
  const strings: string[] = [];
  for (const node of nodes ?? []) if ('String' in node) strings.push(node.String.sval ?? '');
  return strings;
}

/** `a.b.c` as names; undefined for `*` and anything else. */
export function columnNames(node: Node | undefined): string[] | undefined {
  if (node === undefined || !('ColumnRef' in node)) return undefined;
  const { fields = [] } = node.ColumnRef;
  return fields.every((field) => 'String' in field) ? stringsOf(fields) : undefined;
}

/** `*` or `t.*`: the qualifier. */
export function starQualifier(node: Node | undefined): string[] | undefined {
  if (node === undefined || !('ColumnRef' in node)) return undefined;
  const fields: ColumnRef['fields'] = node.ColumnRef.fields ?? [];
  const last = fields.at(-1);
  return last !== undefined && 'A_Star' in last ? stringsOf(fields.slice(0, -1)) : undefined;
}

/** The integer that a constant is, for ordinals. */
export function integerConstant(node: Node | undefined): number | undefined {
  if (node === undefined || !('A_Const' in node)) return undefined;
  const constant = node.A_Const;
  return constant.ival === undefined ? undefined : (constant.ival.ival ?? 0);
}

/** Is it a constant that is not an integer? PostgreSQL refuses those in ORDER BY and GROUP BY. */
export function isOtherConstant(node: Node): boolean {
  return 'A_Const' in node && node.A_Const.ival === undefined;
}

/** The terms of an AND. */
export function conjunctsOf(node: Node | undefined): Node[] {
  if (node === undefined) return [];
  if ('BoolExpr' in node && node.BoolExpr.boolop === 'AND_EXPR') return (node.BoolExpr.args ?? []).flatMap(conjunctsOf);
  return [node];
}

/** The operator of a plain binary expression: `=`, `<`. */
export function operatorOf(expression: A_Expr): string {
  return stringsOf(expression.name).at(-1) ?? '';
}

/** Text that is equal for equal expressions: places and the spelling of casts left out. */
export function treeText(node: unknown): string {
  return JSON.stringify(node, (key, value: unknown) => (isPlace(key) ? undefined : value));
}

function isPlace(key: string): boolean {
  return (
    key === 'location' ||
    key === 'rexpr_list_start' ||
    key === 'rexpr_list_end' ||
    key === 'list_start' ||
    key === 'list_end'
  );
}

/** A copy in which subtrees are exchanged; `exchange` gives the new one, or undefined to look further down. */
export function rewrite(node: Node, exchange: (node: Node) => Node | undefined): Node {
  return rewriteAny(node, exchange) as Node;
}

function rewriteAny(value: unknown, exchange: (node: Node) => Node | undefined): unknown {
  if (Array.isArray(value)) return value.map((each) => rewriteAny(each, exchange));
  if (typeof value !== 'object' || value === null) return value;
  if (isNode(value)) {
    const other = exchange(value);
    if (other !== undefined) return other;
  }
  let isChanged = false;
  const copy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    copy[key] = rewriteAny(each, exchange);
    if (copy[key] !== each) isChanged = true;
  }
  return isChanged || Array.isArray(value) ? copy : value;
}

/** Nodes are wrapped in an object whose only key names their kind. */
function isNode(value: object): value is Node {
  const keys = Object.keys(value);
  return keys.length === 1 && /^[A-Z]/.test(keys[0] ?? '');
}

/** All nodes of a tree, each before those inside it. O(size of the tree) */
export function nodesOf(value: unknown): Node[] {
  const nodes: Node[] = [];
  const visit = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return;
    if (!Array.isArray(each) && isNode(each)) nodes.push(each);
    for (const part of Object.values(each)) visit(part);
  };
  visit(value);
  return nodes;
}

/** Does any node of the tree satisfy this? */
export function someNode(value: unknown, test: (node: Node) => boolean): boolean {
  if (Array.isArray(value)) return value.some((each) => someNode(each, test));
  if (typeof value !== 'object' || value === null) return false;
  if (isNode(value) && test(value)) return true;
  return Object.values(value).some((each) => someNode(each, test));
}
