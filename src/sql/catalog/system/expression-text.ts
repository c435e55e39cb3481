/**
 * Expressions as the catalog shows them: defaults, checks, index expressions. PostgreSQL's ruleutils.c: operators in brackets, and casts
 * where an operator or function takes another type than it is given. What it cannot write is left out (`null`).
 */
import type { A_Expr, FuncCall, Node, TypeCast } from '@pgsql/types';
import { operandTypes } from '../../expressions/call.ts';
import { functionTable } from '../../expressions/functions.ts';
import { operatorTable } from '../../expressions/operators.ts';
import { choose } from '../../expressions/signature.ts';
import { parseStatement } from '../../parse.ts';
import { stringsOf } from '../../plan/tree.ts';
import {
  SqlError,
  modifierOf,
  typeTitle,
  arrayOf,
  isSameType,
  type SqlType,
  typeByName,
  types,
} from '../../model/index.ts';
import { quoteName } from '../name.ts';
import type { Table } from '../relation.ts';

/**
 * @param type what a literal becomes, as PostgreSQL shows it: `'new'::text`
 * @param table whose columns are mentioned; without it no casts are added
 */
export function expressionText(node: Node, type?: SqlType, table?: Table): string | null {
  return textOrNull(() => written(node, { isPretty: false, table }, type).text);
}

/** What `pg_get_expr` shows when it is asked to be pretty: brackets only where they are needed. */
export function prettyText(text: string): string {
  return textOrNull(() => written(parsed(text), { isPretty: true, table: undefined }).text) ?? text;
}

class Unwritable extends Error {}

function textOrNull(write: () => string): string | null {
  try {
    return write();
  } catch (error) {
    if (error instanceof Unwritable || error instanceof SqlError) return null;
    throw error;
  }
}

function parsed(text: string): Node {
  const tree = parseStatement(`SELECT ${text}`);
  const [target] = tree !== null && 'SelectStmt' in tree ? (tree.SelectStmt.targetList ?? []) : [];
  const value = target !== undefined && 'ResTarget' in target ? target.ResTarget.val : undefined;
  if (value === undefined) throw new Unwritable();
  return value;
}

interface Style {
  readonly isPretty: boolean;
  readonly table: Table | undefined;
}

interface Written {
  readonly text: string;
  /** `undefined`: not known, and then no cast is shown. */
  readonly type: SqlType | undefined;
  /** Of an operator: how tightly it binds. */
  readonly operator?: string;
}

function written(node: Node, style: Style, type?: SqlType): Written {
  if ('A_Const' in node) return constant(node.A_Const, type);
  if ('ColumnRef' in node) return column(stringsOf(node.ColumnRef.fields), style);
  if ('FuncCall' in node) return functionCall(node.FuncCall, style);
  if ('SQLValueFunction' in node)
    return { text: (node.SQLValueFunction.op ?? '').replace(/^SVFOP_/, '').replace(/_N$/, ''), type: undefined };
  if ('TypeCast' in node) return typeCast(node.TypeCast, style);
  if ('A_Expr' in node) return operation(node.A_Expr, style);
  if ('BoolExpr' in node) {
    const { boolop = 'AND_EXPR', args = [] } = node.BoolExpr;
    const word = boolop.replace('_EXPR', '');
    const parts = args.map((each) => condition(written(each, style), word, style));
    return operatorText(word === 'NOT' ? `NOT ${parts[0]}` : parts.join(` ${word} `), word, types.bool, style);
  }
  if ('NullTest' in node && node.NullTest.arg !== undefined) {
    const test = node.NullTest.nulltesttype === 'IS_NULL' ? 'NULL' : 'NOT NULL';
    const text = `${operand(written(node.NullTest.arg, style), style)} IS ${test}`;
    return operatorText(text, 'IS', types.bool, style);
  }
  if ('CoalesceExpr' in node) {
    const values = (node.CoalesceExpr.args ?? []).map((each) => written(each, style));
    const known = values.find((each) => each.type !== undefined && each.type.name !== 'unknown')?.type;
    const shown = values.map((each) => (each.type?.name === 'unknown' ? castTo(each, known, style) : each).text);
    return { text: `COALESCE(${shown.join(', ')})`, type: known };
  }
  if ('CollateClause' in node && node.CollateClause.arg !== undefined) {
    const collated = castTo(written(node.CollateClause.arg, style, types.text), types.text, style);
    const collation = stringsOf(node.CollateClause.collname).map(quoteName).join('.');
    return { text: `(${collated.text} COLLATE ${collation})`, type: collated.type };
  }
  if ('A_ArrayExpr' in node) {
    const elements = (node.A_ArrayExpr.elements ?? []).map((each) => written(each, style));
    const element = elements[0]?.type;
    const text = `ARRAY[${elements.map((each) => each.text).join(', ')}]`;
    return { text, type: element === undefined ? undefined : arrayOf(element) };
  }
  throw new Unwritable();
}

function column(names: readonly string[], { table }: Style): Written {
  const name = names.at(-1) ?? '';
  return {
    text: names.map(quoteName).join('.'),
    type: table?.columns.find((each) => each.name === name)?.type,
  };
}

function functionCall({ funcname, args = [] }: FuncCall, style: Style): Written {
  const name = stringsOf(funcname).at(-1) ?? '';
  const [first] = args;
  if (name === 'nextval' && first !== undefined && 'A_Const' in first)
    return { text: `nextval(${written(first, style).text}::regclass)`, type: types.int8 };
  const operands = args.map((each) => written(each, style));
  const given = operands.flatMap((each) => each.type ?? []);
  const choice = given.length === operands.length ? choose(functionTable.get(name) ?? [], given) : 'none';
  const chosen = typeof choice === 'object' && style.table !== undefined ? choice : undefined;
  const shown = operands.map((each, i) => castTo(each, chosen?.parameters[i], style).text);
  return { text: `${quoteName(name)}(${shown.join(', ')})`, type: chosen?.result };
}

function typeCast({ arg, typeName }: TypeCast, style: Style): Written {
  if (arg === undefined) throw new Unwritable();
  const names = stringsOf(typeName?.names);
  const name = names.at(-1) ?? '';
  const base = typeByName(name);
  const isArray = (typeName?.arrayBounds ?? []).length > 0;
  const numbers = (typeName?.typmods ?? []).map((each) => ('A_Const' in each ? (each.A_Const.ival?.ival ?? 0) : 0));
  const title = base === undefined ? quoteName(name) : typeTitle(base, modifierOf(base, numbers));
  const type = base !== undefined && isArray ? arrayOf(base) : base;
  // A literal with a type is one constant.
  const isLiteral = 'A_Const' in arg && arg.A_Const.sval !== undefined;
  const inner = written(arg, style);
  const text = isLiteral ? inner.text : castOperand(inner, style);
  return { text: `${text}::${title}${isArray ? '[]' : ''}`, type };
}

/** As `wanted`, with a cast where it is of another type. */
function castTo(value: Written, wanted: SqlType | undefined, style: Style): Written {
  const { text, type } = value;
  if (wanted === undefined || type === undefined || isSameType(type, wanted) || wanted.name === 'record') return value;
  const title = typeTitle(wanted);
  return { text: `${type.name === 'unknown' ? text : castOperand(value, style)}::${title}`, type: wanted };
}

function castOperand({ text, operator }: Written, { isPretty }: Style): string {
  return isPretty && operator === undefined ? text : `(${text})`;
}

function operation(expression: A_Expr, style: Style): Written {
  const { kind, name, lexpr, rexpr } = expression;
  const operator = stringsOf(name).at(-1) ?? '';
  if (rexpr === undefined) throw new Unwritable();
  if (kind === 'AEXPR_IN' && lexpr !== undefined && 'List' in rexpr)
    return membership(lexpr, operator, rexpr.List.items ?? [], style);
  if (kind === 'AEXPR_BETWEEN' && lexpr !== undefined && 'List' in rexpr)
    return between(lexpr, rexpr.List.items, style);
  if ((kind === 'AEXPR_OP_ANY' || kind === 'AEXPR_OP_ALL') && lexpr !== undefined) {
    const word = kind === 'AEXPR_OP_ANY' ? 'ANY' : 'ALL';
    const text = `${operand(written(lexpr, style), style)} ${operator} ${word} (${written(rexpr, style).text})`;
    return operatorText(text, operator, types.bool, style);
  }
  const words = { AEXPR_LIKE: '~~', AEXPR_ILIKE: '~~*' } as Readonly<Record<string, string>>;
  if (kind !== 'AEXPR_OP' && words[kind ?? ''] === undefined) throw new Unwritable();
  const sides = [...(lexpr === undefined ? [] : [lexpr]), rexpr].map((each) => written(each, style));
  return binary(operator, sides, style);
}

function binary(operator: string, sides: readonly Written[], style: Style): Written {
  const given = sides.flatMap(({ type }) => type ?? []);
  const wanted =
    style.table === undefined || given.length < sides.length ? undefined : operandTypes(operatorTable, operator, given);
  const choice = wanted === undefined ? 'none' : choose(operatorTable.get(operator) ?? [], wanted);
  const shown = sides.map((side, i) => operand(castTo(side, wanted?.[i], style), style, operator, i));
  const text = shown.length === 1 ? `${operator} ${shown[0]}` : shown.join(` ${operator} `);
  return operatorText(text, operator, typeof choice === 'object' ? choice.result : undefined, style);
}

/** `a IN (1, 2)` is kept as `a = ANY (ARRAY[1, 2])`; strings have the column's type first. */
function membership(lexpr: Node, operator: string, items: readonly Node[], style: Style): Written {
  const left = written(lexpr, style);
  const { type } = left;
  const elements = items.map((each) => castTo(written(each, style), type, style).text);
  const word = operator === '<>' ? '<> ALL' : '= ANY';
  const array = `ARRAY[${elements.join(', ')}]`;
  const isVarchar = type?.name === 'varchar';
  const shown = isVarchar ? `(${array})::text[]` : array;
  const text = `${operand(isVarchar ? castTo(left, types.text, style) : left, style)} ${word} (${shown})`;
  return operatorText(text, '=', types.bool, style);
}

function between(lexpr: Node, bounds: readonly Node[] | undefined, style: Style): Written {
  const [low, high] = bounds ?? [];
  if (low === undefined || high === undefined) throw new Unwritable();
  const left = written(lexpr, style);
  const parts = [binary('>=', [left, written(low, style)], style), binary('<=', [left, written(high, style)], style)];
  return operatorText(parts.map(({ text }) => text).join(' AND '), 'AND', types.bool, style);
}

function operatorText(text: string, operator: string, type: SqlType | undefined, { isPretty }: Style): Written {
  return isPretty ? { text, type, operator } : { text: `(${text})`, type };
}

const additive = new Set(['+', '-']);
const multiplicative = new Set(['*', '/', '%']);

/** ruleutils.c, isSimpleNode: an operator inside another keeps its brackets but where arithmetic needs none. */
function operand({ text, operator }: Written, { isPretty }: Style, around = '', place = 0): string {
  if (!isPretty || operator === undefined) return text;
  if (additive.has(around) && (multiplicative.has(operator) || (additive.has(operator) && place === 0))) return text;
  return multiplicative.has(around) && multiplicative.has(operator) && place === 0 ? text : `(${text})`;
}

function condition({ text, operator }: Written, around: string, { isPretty }: Style): string {
  if (!isPretty || operator === undefined) return text;
  const isInner = ['AND', 'OR'].includes(operator);
  const isFree = !isInner || operator === around || (around === 'OR' && operator === 'AND');
  return isFree ? text : `(${text})`;
}

function constant(node: Extract<Node, { A_Const: unknown }>['A_Const'], type?: SqlType): Written {
  if (node.isnull === true) return { text: 'NULL', type: types.unknown };
  if (node.boolval !== undefined) return { text: String(node.boolval.boolval === true), type: types.bool };
  if (node.fval !== undefined) return { text: node.fval.fval ?? '0', type: types.numeric };
  if (node.sval === undefined) return { text: String(node.ival?.ival ?? 0), type: types.int4 };
  const text = `'${(node.sval.sval ?? '').replaceAll("'", "''")}'`;
  return type === undefined ? { text, type: types.unknown } : { text: `${text}::${typeTitle(type)}`, type };
}
