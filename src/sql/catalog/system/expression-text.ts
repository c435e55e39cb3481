/** Expressions as the catalog shows them: defaults, checks, index expressions. What it cannot write is left out (`null`). */
import type { Node } from '@pgsql/types';
import { stringsOf } from '../../plan/tree.ts';
import { typeTitle } from '../../type-title.ts';
import { type SqlType, typeByName } from '../../type.ts';

/** `type`: what a literal becomes, as PostgreSQL shows it: `'new'::text`. */
export function expressionText(node: Node, type?: SqlType): string | null {
  try {
    return written(node, type);
  } catch (error) {
    if (error instanceof Unwritable) return null;
    throw error;
  }
}

/** What `pg_get_expr` shows when it is asked to be pretty: brackets around the whole are left out. */
export function prettyText(text: string): string {
  return text;
}

class Unwritable extends Error {}

function written(node: Node, type?: SqlType): string {
  if ('A_Const' in node) return constant(node.A_Const, type);
  if ('ColumnRef' in node) return stringsOf(node.ColumnRef.fields).join('.');
  if ('FuncCall' in node) {
    const name = stringsOf(node.FuncCall.funcname).at(-1) ?? '';
    const args = node.FuncCall.args ?? [];
    if (name === 'nextval' && args[0] !== undefined) return `nextval(${written(args[0])}::regclass)`;
    return `${name}(${args.map((each) => written(each)).join(', ')})`;
  }
  if ('SQLValueFunction' in node) return (node.SQLValueFunction.op ?? '').replace(/^SVFOP_/, '').replace(/_N$/, '');
  if ('TypeCast' in node && node.TypeCast.arg !== undefined) {
    const name = stringsOf(node.TypeCast.typeName?.names).at(-1) ?? '';
    const known = typeByName(name);
    return `${written(node.TypeCast.arg)}::${known === undefined ? name : typeTitle(known)}`;
  }
  if ('A_Expr' in node && node.A_Expr.kind === 'AEXPR_OP' && node.A_Expr.rexpr !== undefined) {
    const operator = stringsOf(node.A_Expr.name).at(-1) ?? '';
    const left = node.A_Expr.lexpr === undefined ? '' : `${written(node.A_Expr.lexpr)} `;
    return `(${left}${operator} ${written(node.A_Expr.rexpr)})`;
  }
  if ('BoolExpr' in node) {
    const parts = (node.BoolExpr.args ?? []).map((each) => written(each));
    if (node.BoolExpr.boolop === 'NOT_EXPR') return `(NOT ${parts[0]})`;
    return `(${parts.join(node.BoolExpr.boolop === 'OR_EXPR' ? ' OR ' : ' AND ')})`;
  }
  if ('NullTest' in node && node.NullTest.arg !== undefined) {
    return `(${written(node.NullTest.arg)} IS ${node.NullTest.nulltesttype === 'IS_NULL' ? 'NULL' : 'NOT NULL'})`;
  }
  throw new Unwritable();
}

function constant(node: Extract<Node, { A_Const: unknown }>['A_Const'], type?: SqlType): string {
  if (node.isnull === true) return 'NULL';
  if (node.boolval !== undefined) return String(node.boolval.boolval === true);
  if (node.fval !== undefined) return node.fval.fval ?? '0';
  if (node.sval !== undefined) {
    const text = `'${(node.sval.sval ?? '').replaceAll("'", "''")}'`;
    return type === undefined ? text : `${text}::${typeTitle(type)}`;
  }
  return String(node.ival?.ival ?? 0);
}
