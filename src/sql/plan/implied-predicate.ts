/**
 * A partial index has every wanted row only if the conditions imply its own: PostgreSQL 15, manual "11.8. Partial Indexes", and `operator_predicate_proof`
 * in predtest.c, of which this has constants that are integers. What a statement's parameters are is not looked at.
 */
import type { Node } from '@pgsql/types';
import type { Index } from '../catalog/relation.ts';
import type { Conjunct } from './conjunct.ts';
import { columnNames, conjunctsOf, integerConstant, operatorOf, rewrite, treeText } from './tree.ts';

/** @param row of the table in the frame */
export function impliesPredicate({ predicate }: Index, conjuncts: readonly Conjunct[], row: number): boolean {
  if (predicate === null) return true;
  const given = conjuncts.filter(({ uses }) => uses.size === 1 && uses.has(row)).map(({ node }) => unqualified(node));
  return conjunctsOf(predicate).every((wanted) => given.some((each) => implies(each, wanted)));
}

/** The columns of one row, without the name of its table. */
function unqualified(node: Node): Node {
  return rewrite(node, (each) => {
    const name = columnNames(each)?.at(-1);
    return name === undefined ? undefined : { ColumnRef: { fields: [{ String: { sval: name } }] } };
  });
}

function implies(given: Node, wanted: Node): boolean {
  if (treeText(given) === treeText(wanted)) return true;
  if ('NullTest' in wanted)
    return wanted.NullTest.nulltesttype === 'IS_NOT_NULL' && isFalseForNull(given, wanted.NullTest.arg);
  const ranges = rangesOf(given);
  const [range, another] = rangesOf(wanted);
  if (range === undefined || another !== undefined) return false;
  return ranges.length > 0 && ranges.every((each) => each.subject === range.subject && isWithin(each, range));
}

const strictKinds = new Set(['AEXPR_OP', 'AEXPR_IN', 'AEXPR_BETWEEN', 'AEXPR_LIKE', 'AEXPR_ILIKE', 'AEXPR_OP_ANY']);

/** A comparison of it with anything. */
function isFalseForNull(given: Node, subject: Node | undefined): boolean {
  if (!('A_Expr' in given) || !strictKinds.has(given.A_Expr.kind ?? '')) return false;
  const { lexpr, rexpr, kind } = given.A_Expr;
  if (kind === 'AEXPR_OP' && !isOperator(operatorOf(given.A_Expr))) return false;
  const sides = kind === 'AEXPR_OP' ? [lexpr, rexpr] : [lexpr];
  return sides.some((side) => treeText(side) === treeText(subject));
}

const mirrored = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=', '<>': '<>' } as const;
type Operator = keyof typeof mirrored;

function isOperator(text: string): text is Operator {
  return text in mirrored;
}

/** `subject operator value` */
interface Range {
  readonly subject: string;
  readonly operator: Operator;
  readonly value: number;
}

/** Of `IN` one for each value, of which one holds; else one, or none where the condition is another. */
function rangesOf(node: Node): Range[] {
  if (!('A_Expr' in node)) return [];
  const { lexpr, rexpr, kind } = node.A_Expr;
  const operator = operatorOf(node.A_Expr);
  const subject = treeText(lexpr);
  if (kind === 'AEXPR_IN' && operator === '=' && rexpr !== undefined && 'List' in rexpr) {
    const values = (rexpr.List.items ?? []).map(integerConstant);
    const known = values.filter((value) => value !== undefined);
    return known.length < values.length ? [] : known.map((value) => ({ subject, operator, value }));
  }
  if (kind !== 'AEXPR_OP' || !isOperator(operator)) return [];
  const value = integerConstant(rexpr);
  if (value !== undefined) return [{ subject, operator, value }];
  const left = integerConstant(lexpr);
  return left === undefined ? [] : [{ subject: treeText(rexpr), operator: mirrored[operator], value: left }];
}

/** Does every value of one satisfy the other? */
function isWithin({ operator, value }: Range, wanted: Range): boolean {
  const bound = wanted.value;
  switch (operator) {
    case '=':
      return satisfies(value, wanted.operator, bound);
    case '>':
      return ['>', '>=', '<>'].includes(wanted.operator) && value >= bound;
    case '<':
      return ['<', '<=', '<>'].includes(wanted.operator) && value <= bound;
    case '>=':
      return wanted.operator === '>=' ? value >= bound : ['>', '<>'].includes(wanted.operator) && value > bound;
    case '<=':
      return wanted.operator === '<=' ? value <= bound : ['<', '<>'].includes(wanted.operator) && value < bound;
    case '<>':
      return wanted.operator === '<>' && value === bound;
  }
}

function satisfies(value: number, operator: Operator, bound: number): boolean {
  switch (operator) {
    case '=':
      return value === bound;
    case '<':
      return value < bound;
    case '<=':
      return value <= bound;
    case '>':
      return value > bound;
    case '>=':
      return value >= bound;
    case '<>':
      return value !== bound;
  }
}
