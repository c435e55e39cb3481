/** Functions in FROM: those that give many rows, others as one row of one column; several in step; numbered on request. */
import type { Node, RangeFunction } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { notSupported, type Row, type SqlType, types } from '../model/index.ts';
import { compileExpression, setReturning } from '../expressions/index.ts';
import type { Frame } from '../expression.ts';
import { noAggregates } from './grouping.ts';
import { inStep } from './in-step.ts';
import { joined, type Namespace, type RangeItem } from './namespace.ts';
import type { Values } from './query.ts';
import type { QueryScope } from './scope.ts';
import { rowOf } from './source.ts';
import { columnTitle } from './target.ts';
import { stringsOf } from './tree.ts';

export interface FunctionItem {
  readonly item: RangeItem;
  readonly rowsOf: (frame: Frame) => Iterable<Row>;
  readonly needs: ReadonlySet<number>;
}

interface Called {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly rows: (frame: Frame) => Iterable<Values>;
}

/** Functions see the items before them, LATERAL or not. */
export function functionItem(range: RangeFunction, scope: QueryScope, visible: Namespace): FunctionItem {
  const { functions = [], alias, ordinality = false, coldeflist } = range;
  if (coldeflist !== undefined) throw notSupported('a column definition list in FROM');
  const nodes = functions.map((node) => ('List' in node ? node.List.items?.[0] : node) as Node);
  scope.clause = 'functions in FROM';
  scope.collector ??= noAggregates(scope);
  const { result: called, uses } = scope.tracked(() =>
    scope.within(joined(visible, { items: [], columns: [] }), () => nodes.map((node) => call(node, scope))),
  );
  const [first] = nodes;
  assert(first !== undefined, 'a function is called');
  const names = stringsOf(alias?.colnames);
  const name = alias?.aliasname ?? columnTitle(first);
  const outputs = called.flatMap(({ columns }) => columns);
  // A function with one column: the alias names the column, too.
  const isAlone = outputs.length === 1 && alias?.aliasname !== undefined;
  const shown = outputs.map((column) => ({ ...column, name: isAlone ? name : column.name }));
  if (ordinality) shown.push({ name: 'ordinality', type: types.int8 });
  const columns = shown.map(({ name: own, type }, cell) => ({
    name: names[cell] ?? own,
    type,
    modifier: -1,
    cell,
    isNullable: true,
  }));
  const item: RangeItem = {
    name,
    schema: null,
    row: scope.newRow(),
    table: null,
    source: 'function',
    columns,
    cellsRead: new Set(),
  };
  return { item, rowsOf: (frame) => rowsInStep(called, ordinality, frame), needs: uses };
}

function call(node: Node, scope: QueryScope): Called {
  const set = 'FuncCall' in node ? setReturning(node, scope) : undefined;
  if (set !== undefined) return set;
  const expression = compileExpression(node, scope);
  const type = expression.type.name === 'unknown' ? types.text : expression.type;
  return { columns: [{ name: columnTitle(node), type }], rows: (frame) => [[expression.evaluate(frame)]] };
}

function* rowsInStep(called: readonly Called[], ordinality: boolean, frame: Frame): Iterable<Row> {
  const [first] = called;
  if (called.length === 1 && first !== undefined && !ordinality) {
    // One function alone gives its rows as they come: there may be many.
    for (const values of first.rows(frame)) yield rowOf(values);
    return;
  }
  let number = 0n;
  for (const step of inStep(called.map(({ rows }) => rows(frame)))) {
    const values = step.flatMap((row, f) => row ?? called[f]?.columns.map(() => null) ?? []);
    number += 1n;
    yield rowOf(ordinality ? [...values, number] : values);
  }
}
