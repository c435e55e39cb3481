/** Subqueries in expressions: EXISTS, IN, ANY, ALL, scalar, row and ARRAY. */
import type { Node, SubLink } from '@pgsql/types';
import {
  engineRules,
  keyText,
  notSupported,
  arrayOf,
  isSameType,
  types,
  type SqlArray,
  type SqlValue,
} from '../model/index.ts';
import type { Expression, Frame, Subquery, SubqueryJoin, SubqueryUse } from '../expression.ts';
import { applyOperator } from './apply-operator.ts';
import { truth } from './compile-logic.ts';
import { once, oneRow, someRow } from './subquery-rows.ts';
import { quantified } from './quantified.ts';
import { compareRows, otherLength, rowParts } from './compile-row.ts';
import { cellOf, namesOf, positionOf } from './compiler.ts';
import type { Compiler } from './compiler.ts';
import type { Execution } from '../execution.ts';

type Rows = (frame: Frame) => Iterable<readonly SqlValue[]>;

export function compileSubLink(link: SubLink, compiler: Compiler): Expression {
  if (link.subselect === undefined) throw notSupported('this subquery', positionOf(link.location));
  const subquery = compiler.scope.subquery(link.subselect, useOf(link));
  const isRowFree = !subquery.isCorrelated;
  const rows = kept(subquery);
  switch (link.subLinkType) {
    case 'EXISTS_SUBLINK':
      return { ...truth(compiler, isRowFree, someRow(subquery)), join: subquery.join };
    case 'EXPR_SUBLINK': {
      const { type, isUnsigned = false } = onlyColumn(subquery);
      const row = once(subquery, oneRow);
      return { type, modifier: -1, isRowFree, isUnsigned, evaluate: (frame) => row(frame)?.[0] ?? null };
    }
    case 'ARRAY_SUBLINK': {
      const { type } = onlyColumn(subquery);
      if (type.name === 'array') throw notSupported('an array of more than one dimension', positionOf(link.location));
      const element = type.name === 'unknown' ? types.text : type;
      return {
        type: arrayOf(element),
        modifier: -1,
        isRowFree,
        evaluate: (frame): SqlArray => ({ kind: 'array', elements: [...rows(frame)].map(([value = null]) => value) }),
      };
    }
    case 'ANY_SUBLINK':
      return compileMembership(link, subquery, rows, true, compiler);
    case 'ALL_SUBLINK':
      return compileMembership(link, subquery, rows, false, compiler);
    case 'ROWCOMPARE_SUBLINK':
      return compileRowSubquery(link, subquery, rows, compiler);
    default:
      throw notSupported('this subquery', positionOf(link.location));
  }
}

function useOf({ subLinkType }: SubLink): SubqueryUse {
  return subLinkType === 'ANY_SUBLINK' || subLinkType === 'ALL_SUBLINK' ? 'compared' : 'value';
}

/** Rows that do not depend on the query around are read once a statement. */
function kept(subquery: Subquery): Rows {
  return once<readonly (readonly SqlValue[])[]>(subquery, (rows) => [...rows]);
}

function onlyColumn({ columns }: Subquery): Subquery['columns'][number] {
  const [column] = columns;
  if (column === undefined || columns.length > 1) throw otherLength('subquery must return only one column', 1);
  return column;
}

/** `x IN (SELECT ...)`, `x > ALL (SELECT ...)`, `(a, b) IN (SELECT c, d)`. */
function compileMembership(
  link: SubLink,
  subquery: Subquery,
  rows: Rows,
  isAny: boolean,
  compiler: Compiler,
): Expression {
  const operator = namesOf(link.operName).at(-1) ?? '=';
  const prepared = prepare(link, operator, subquery, compiler);
  const { parts, cells, test } = prepared;
  const isRowFree = !subquery.isCorrelated && parts.every((each) => each.isRowFree);
  const join = isAny ? anyJoin(prepared, subquery, rows, compiler) : undefined;
  const [only] = parts;
  const [column] = subquery.columns;
  const canLookUp = isAny && operator === '=' && parts.length === 1 && !subquery.isCorrelated;
  if (canLookUp && only !== undefined && column !== undefined && isSameType(only.type, column.type)) {
    return { ...lookUp(only, rows, compiler, isRowFree), join };
  }
  const evaluate: Expression['evaluate'] = (frame) =>
    quantified(rows(frame), isAny, (row) => {
      setCells(cells, row);
      return test.evaluate(frame);
    });
  return { ...truth(compiler, isRowFree, evaluate), join };
}

/** PostgreSQL joins the rows with those of the subquery, unless that looks at them: prepjointree.c, `convert_ANY_sublink_to_join`. */
function anyJoin(
  { parts, cells, test }: ReturnType<typeof prepare>,
  { isCorrelated }: Subquery,
  rows: Rows,
  { scope }: Compiler,
): SubqueryJoin | undefined {
  const isConstant = parts.every(({ isRowFree }) => isRowFree);
  const isVolatile = parts.some((each) => each.isVolatile === true);
  if (!engineRules[scope.dialect].joinsSubqueries || isCorrelated || isConstant || isVolatile) return undefined;
  const holds = (row: readonly SqlValue[], frame: Frame): boolean => {
    setCells(cells, row);
    return test.evaluate(frame) === true;
  };
  return {
    openFor: null,
    of: (frame) => {
      for (const row of rows(frame)) if (holds(row, frame)) return (changed) => holds(row, changed);
      return () => false;
    },
  };
}

function setCells(cells: ReturnType<typeof prepare>['cells'], row: readonly SqlValue[]): void {
  cells.forEach((cell, i) => {
    cell.value = row[i] ?? null;
  });
}

function prepare(link: SubLink, operator: string, subquery: Subquery, compiler: Compiler) {
  const position = positionOf(link.location);
  const testNode: Node = link.testexpr ?? { A_Const: { isnull: true } };
  const parts = rowParts(testNode, compiler);
  checkColumns(parts.length, subquery.columns.length);
  const cells = subquery.columns.map(({ type }) => cellOf({ type: type.name === 'unknown' ? types.text : type }));
  const columns = cells.map(({ expression }) => expression);
  const [left] = parts;
  const [right] = columns;
  const test =
    parts.length === 1 && left !== undefined && right !== undefined
      ? applyOperator(operator, [left, right], compiler.scope, position)
      : compareRows(operator, parts, columns, compiler, position);
  return { parts, cells, test };
}

function checkColumns(wanted: number, given: number): void {
  if (given > wanted) throw otherLength('subquery has too many columns', wanted);
  if (given < wanted) throw otherLength('subquery has too few columns', wanted);
}

/** A set of keys for each statement, instead of a walk for each row. */
function lookUp(subject: Expression, rows: Rows, compiler: Compiler, isRowFree: boolean): Expression {
  const { dialect } = compiler.scope;
  const { type } = subject;
  const sets = new WeakMap<Execution, ReadonlySet<string>>();
  const keyOf = (value: SqlValue): string => keyText(value, type, dialect);
  const nullKey = keyOf(null);
  return truth(compiler, isRowFree, (frame) => {
    const keys = sets.get(frame.execution) ?? new Set([...rows(frame)].map(([value = null]) => keyOf(value)));
    sets.set(frame.execution, keys);
    if (keys.size === 0) return false;
    const value = subject.evaluate(frame);
    if (value === null) return null;
    return keys.has(keyOf(value)) ? true : keys.has(nullKey) ? null : false;
  });
}

/** `(a, b) = (SELECT c, d)`: no row gives NULL, more than one is an error. */
function compileRowSubquery(link: SubLink, subquery: Subquery, rows: Rows, compiler: Compiler): Expression {
  const operator = namesOf(link.operName).at(-1) ?? '=';
  const { parts, cells, test } = prepare(link, operator, subquery, compiler);
  const isRowFree = !subquery.isCorrelated && parts.every((each) => each.isRowFree);
  return truth(compiler, isRowFree, (frame) => {
    const row = oneRow(rows(frame));
    if (row === undefined) return null;
    setCells(cells, row);
    const value = test.evaluate(frame);
    return value === null ? null : value === true || value === 1;
  });
}
