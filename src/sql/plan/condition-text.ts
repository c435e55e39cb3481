/** A condition as a person would write it, with the values of parameters: `is_locked = 1 and owner is null`. */
import type { A_Const, A_Expr, BoolExpr, FuncCall, Node, NullTest, SubLink } from '@pgsql/types';
import { formatText, types, type SqlValue } from '../model/index.ts';
import type { Conjunct } from './conjunct.ts';
import type { Planning } from './planning.ts';
import { columnNames, operatorOf, stringsOf } from './tree.ts';

interface Words {
  /** The table that the condition is about: its columns need no qualifier. */
  readonly table: string;
  readonly parameter: (number: number) => string;
}

export function conditionText(
  conjuncts: readonly Conjunct[],
  table: string,
  parameters: readonly SqlValue[],
  planning: Planning,
): string {
  const slots = planning.parameterTypes(types.text);
  const parameter = (number: number): string => {
    const value = parameters[number - 1];
    const type = slots[number - 1];
    if (value === null || value === undefined || type === undefined) return value === null ? 'null' : `$${number}`;
    return valueText(formatText(value, type, planning.dialect), typeof value === 'string');
  };
  return conjuncts.map(({ node }) => part(node, { table, parameter })).join(' and ');
}

/** With brackets where it stands beside `and`. */
function part(node: Node, words: Words): string {
  const isOr = 'BoolExpr' in node && node.BoolExpr.boolop === 'OR_EXPR';
  return isOr ? `(${textOf(node, words)})` : textOf(node, words);
}

function textOf(node: Node | undefined, words: Words): string {
  if (node === undefined) return '...';
  if ('ColumnRef' in node) return columnText(node, words);
  if ('A_Const' in node) return constantText(node.A_Const);
  if ('ParamRef' in node) return words.parameter(node.ParamRef.number ?? 0);
  if ('A_Expr' in node) return expressionText(node.A_Expr, words);
  if ('BoolExpr' in node) return booleanText(node.BoolExpr, words);
  if ('NullTest' in node) return nullText(node.NullTest, words);
  if ('TypeCast' in node) return textOf(node.TypeCast.arg, words);
  if ('FuncCall' in node) return callText(node.FuncCall, words);
  if ('SubLink' in node) return subqueryText(node.SubLink, words);
  if ('List' in node) return (node.List.items ?? []).map((each) => textOf(each, words)).join(', ');
  if ('A_ArrayExpr' in node) return (node.A_ArrayExpr.elements ?? []).map((each) => textOf(each, words)).join(', ');
  return '...';
}

/** Names that no SQL text can have stand for the two sides of USING. */
function columnText(node: Node, { table }: Words): string {
  const names = (columnNames(node) ?? ['*']).map((name) => name.replace('\u0000', ''));
  return (names.at(-2) === table ? names.slice(-1) : names.slice(-2)).join('.');
}

function constantText(constant: A_Const): string {
  const { ival, fval, sval, boolval, isnull } = constant;
  if (isnull === true) return 'null';
  if (ival !== undefined) return String(ival.ival ?? 0);
  if (fval !== undefined) return fval.fval ?? '0';
  if (boolval !== undefined) return String(boolval.boolval ?? false);
  return sval === undefined ? '...' : valueText(sval.sval ?? '', true);
}

function valueText(text: string, isQuoted: boolean): string {
  const short = text.length <= 40 ? text : `${text.slice(0, 37)}...`;
  return isQuoted ? `'${short}'` : short;
}

function expressionText(expression: A_Expr, words: Words): string {
  const { kind, lexpr, rexpr } = expression;
  const [left, right] = [textOf(lexpr, words), textOf(rexpr, words)];
  const operator = operatorOf(expression);
  switch (kind) {
    case 'AEXPR_IN':
      return `${left} ${operator === '<>' ? 'not in' : 'in'} (${right})`;
    case 'AEXPR_OP_ANY':
      return `${left} ${operator} any (${right})`;
    case 'AEXPR_OP_ALL':
      return `${left} ${operator} all (${right})`;
    case 'AEXPR_BETWEEN':
      return `${left} between ${right.replace(', ', ' and ')}`;
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE': {
      const word = kind === 'AEXPR_LIKE' ? 'like' : 'ilike';
      return `${left} ${operator.startsWith('!') ? 'not ' : ''}${word} ${right}`;
    }
    case 'AEXPR_DISTINCT':
      return `${left} is distinct from ${right}`;
    case 'AEXPR_NOT_DISTINCT':
      return `${left} is not distinct from ${right}`;
    default:
      return lexpr === undefined ? `${operator}${right}` : `${left} ${operator} ${right}`;
  }
}

function booleanText({ boolop, args = [] }: BoolExpr, words: Words): string {
  if (boolop === 'NOT_EXPR') return `not (${textOf(args[0], words)})`;
  return args.map((each) => part(each, words)).join(boolop === 'AND_EXPR' ? ' and ' : ' or ');
}

function nullText({ arg, nulltesttype }: NullTest, words: Words): string {
  return `${textOf(arg, words)} is ${nulltesttype === 'IS_NOT_NULL' ? 'not ' : ''}null`;
}

function callText({ funcname, args = [], agg_star: isStar = false }: FuncCall, words: Words): string {
  const name = stringsOf(funcname).at(-1) ?? '...';
  return `${name}(${isStar ? '*' : args.map((each) => textOf(each, words)).join(', ')})`;
}

function subqueryText({ subLinkType, testexpr }: SubLink, words: Words): string {
  const query = '(select ...)';
  if (subLinkType === 'EXISTS_SUBLINK') return `exists ${query}`;
  return testexpr === undefined ? query : `${textOf(testexpr, words)} in ${query}`;
}
