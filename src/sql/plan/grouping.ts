/**
 * GROUP BY: what is a key, which columns may be used beside aggregates, and the groups themselves. A group stands for its rows as the
 * first of them; its aggregates and its keys are in the frame's computed values.
 */
import type { FuncCall, Node, SelectStmt } from '@pgsql/types';
import { assert, AssertionFailure } from '../../base/index.ts';
import { isIdentity, hashReader, notSupported, SqlError } from '../model/index.ts';
import { primaryKey } from '../catalog/relation.ts';
import { type Aggregate, aggregateOf, compileExpression, isAggregate, valuesReader } from '../expressions/index.ts';
import type { Expression } from '../expression.ts';
import type { RangeItem } from './namespace.ts';
import { computedExpression, groupKeyMark, type CallCollector, type QueryScope } from './scope.ts';
import type { Source } from './cursor.ts';
import { groupsOf } from './groups.ts';
import { columnNames, integerConstant, rewrite, treeText } from './tree.ts';
import type { WindowCollector } from './window.ts';
import type { Execution } from '../execution.ts';

interface GroupKey {
  readonly text: string;
  readonly expression: Expression;
}

/** Is the query grouped: by GROUP BY, HAVING, or an aggregate outside of subqueries? */
export function isGrouped(select: SelectStmt): boolean {
  if (select.groupClause !== undefined || select.havingClause !== undefined) return true;
  return hasAggregate(select.targetList) || hasAggregate(select.sortClause);
}

/** Looks not into subqueries; a window function is no aggregate, but its arguments may be. */
function hasAggregate(tree: unknown): boolean {
  if (Array.isArray(tree)) return tree.some(hasAggregate);
  if (typeof tree !== 'object' || tree === null || 'SubLink' in tree) return false;
  if ('FuncCall' in tree && isPlainAggregate(tree.FuncCall as FuncCall)) return true;
  return Object.values(tree).some(hasAggregate);
}

function isPlainAggregate(call: FuncCall): boolean {
  return call.over === undefined && isAggregate(call);
}

export class Grouping implements CallCollector {
  readonly aggregates: Aggregate[] = [];
  readonly #keys: GroupKey[];
  readonly #scope: QueryScope;
  readonly #windows: WindowCollector;
  /** Executions in which there was no row to compute from. */
  readonly #rowless = new WeakSet<Execution>();
  #isInside = false;

  constructor(keys: readonly Node[], scope: QueryScope, windows: WindowCollector) {
    this.#scope = scope;
    this.#windows = windows;
    scope.clause = 'GROUP BY';
    this.#keys = keys.map((node) => ({ text: treeText(node), expression: compileExpression(node, scope) }));
  }

  /** Marks what is a key as a whole, so that it is not computed again from columns that are not. */
  readonly prepare = (node: Node): Node => {
    if (this.#keys.length === 0) return node;
    return rewrite(node, (part) => {
      if ('FuncCall' in part && isPlainAggregate(part.FuncCall)) return part;
      if ('SubLink' in part || columnNames(part) !== undefined || 'A_Const' in part || 'String' in part)
        return undefined;
      const number = this.#keys.findIndex(({ text }) => text === treeText(part));
      if (number < 0) return undefined;
      return { ColumnRef: { fields: [{ String: { sval: groupKeyMark } }, { String: { sval: String(number) } }] } };
    });
  };

  readonly key = (number: number): Expression => {
    const key = this.#keys[number];
    assert(key !== undefined, `group key ${number} is known`);
    const { type, modifier, isUnsigned = false } = key.expression;
    return { ...computedExpression(number, type, modifier), isUnsigned };
  };

  readonly take = (call: FuncCall): Expression | undefined => {
    if (call.over !== undefined) return this.#windows.take(call);
    if (!isAggregate(call)) return undefined;
    if (this.#isInside) throw misplaced('aggregate function calls cannot be nested', (call.location ?? 0) + 1);
    this.#isInside = true;
    try {
      const aggregate = this.#scope.ownAggregate(call, () => aggregateOf(call, this.#scope));
      this.aggregates.push(aggregate);
      const { type, modifier, isUnsigned } = aggregate;
      return { ...computedExpression(this.width - 1, type, modifier), isUnsigned };
    } finally {
      this.#isInside = false;
    }
  };

  get keys(): readonly Expression[] {
    return this.#keys.map(({ expression }) => expression);
  }

  /** The number of computed values before those of window functions. */
  get width(): number {
    return this.#keys.length + this.aggregates.length;
  }

  readonly checkColumn = (
    item: RangeItem,
    cell: number,
    name: string,
    isInSubquery: boolean,
    position: number,
  ): void => {
    if (this.#isInside || this.#isKey(item, cell)) return;
    const shown = `${item.name}.${name}`;
    throw new SqlError(
      '42803',
      isInSubquery
        ? `subquery uses ungrouped column "${shown}" from outer query`
        : `column "${shown}" must appear in the GROUP BY clause or be used in an aggregate function`,
      { ...(position > 0 ? { position } : {}), ...this.#inMysql(name) },
    );
  };

  #inMysql(name: string): SqlError['detail'] {
    if (this.#scope.clause === 'HAVING')
      return { mysqlNumber: 1054, mysqlMessage: `Unknown column '${name}' in 'HAVING'` };
    return this.#keys.length === 0 ? mixedColumns : {};
  }

  /** A key itself, or determined by the primary key. */
  #isKey(item: RangeItem, cell: number): boolean {
    const isGroupedBy = (other: number): boolean =>
      this.#keys.some(({ expression: { column } }) => column?.row === item.row && column.cell === other);
    if (isGroupedBy(cell)) return true;
    const primary = item.table === null ? undefined : primaryKey(item.table);
    return primary?.parts.every((part) => isGroupedBy(part.cell)) ?? false;
  }

  /** Was there, without GROUP BY, no row to compute from? */
  metNoRow(execution: Execution): boolean {
    return this.#rowless.has(execution);
  }

  source(input: Source): Source {
    const { keys } = this;
    const { dialect } = this.#scope;
    const [first] = keys;
    return groupsOf(input, {
      keyCount: keys.length,
      valuesOf: valuesReader(keys),
      hashOf: hashReader(
        keys.map(({ type }) => type),
        dialect,
      ),
      only: first !== undefined && keys.length === 1 && isIdentity(first.type, dialect) ? first.evaluate : null,
      aggregates: this.aggregates,
      rowless: this.#rowless,
    });
  }
}

/** GROUP BY's entries as expressions: ordinals and output names are replaced by what they stand for. */
export function groupKeys(select: SelectStmt, scope: QueryScope): Node[] {
  return (select.groupClause ?? []).flatMap((node): Node[] => {
    if ('GroupingSet' in node) throw notSupported('GROUPING SETS, CUBE and ROLLUP');
    if ('RowExpr' in node) return node.RowExpr.args ?? [];
    const ordinal = integerConstant(node);
    if (ordinal !== undefined) return [targetAt(select, ordinal, 'GROUP BY')];
    const [name, another] = columnNames(node) ?? [];
    if (name === undefined || another !== undefined) return [node];
    if (scope.namespace.columns.some((column) => column.name === name)) return [node];
    return [targetNamed(select, name) ?? node];
  });
}

export function targetAt(select: SelectStmt, ordinal: number, clause: string): Node {
  const entry = select.targetList?.[ordinal - 1];
  const node = entry !== undefined && 'ResTarget' in entry ? entry.ResTarget.val : undefined;
  if (node === undefined) throw new SqlError('42P10', `${clause} position ${ordinal} is not in select list`);
  return node;
}

function targetNamed(select: SelectStmt, name: string): Node | undefined {
  for (const entry of select.targetList ?? []) {
    if ('ResTarget' in entry && entry.ResTarget.name === name) return entry.ResTarget.val;
  }
  return undefined;
}

/** Of an aggregate. */
function misplaced(message: string, position: number): SqlError {
  return new SqlError('42803', message, { position, mysqlNumber: 1111, mysqlMessage: 'Invalid use of group function' });
}

/** Where aggregates have no place: WHERE, ON, VALUES, SET. */
export function noAggregates(scope: QueryScope): CallCollector {
  return {
    take: (call) => {
      const position = (call.location ?? 0) + 1;
      if (call.over !== undefined) {
        throw new SqlError('42P20', `window functions are not allowed in ${scope.clause}`, { position });
      }
      if (!isAggregate(call)) return undefined;
      throw misplaced(`aggregate functions are not allowed in ${scope.clause}`, position);
    },
    checkColumn: () => undefined,
    key: (number) => {
      throw new AssertionFailure(`group key ${number} is asked for where nothing is grouped`);
    },
  };
}

const mixedColumns: SqlError['detail'] = {
  mysqlNumber: 1140,
  mysqlMessage:
    'Mixing of GROUP columns (MIN(),MAX(),COUNT(),...) with no GROUP columns is illegal if there is no GROUP BY clause',
};
