/** FROM: what is joined, which names that makes visible, and which conditions ON and USING give. */
import type { JoinExpr, Node, RangeSubselect, RangeVar, SelectStmt } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { engineRules, notSupported, SqlError, type Row, types } from '../model/index.ts';
import type { Relation, View, VirtualTable } from '../catalog/relation.ts';
import type { Frame } from '../expression.ts';
import { commonTableRows } from './common-table.ts';
import { compileConjuncts, type Conjunct } from './conjunct.ts';
import { type FunctionItem, functionItem } from './from-function.ts';
import type { FromList, FromNode, Leaf } from './join.ts';
import {
  emptyNamespace,
  joined,
  type Namespace,
  namespaceOf,
  type RangeItem,
  tableColumns,
  type VisibleColumn,
} from './namespace.ts';
import { PushedDown } from './push-down.ts';
import { keptRows } from './kept-rows.ts';
import { type OutputColumn, type PlannedQuery, type Values } from './query.ts';
import type { QueryScope } from './scope.ts';
import { rowOf } from './source.ts';
import { stringsOf } from './tree.ts';
import { runningOf } from '../execution.ts';
import { isTemporary } from '../catalog/name.ts';

export interface From extends FromList {
  readonly namespace: Namespace;
}

const noNeeds: ReadonlySet<number> = new Set();

const emptyFrom: From = { nodes: [], conjuncts: [], namespace: emptyNamespace };

/** `visible`: what LATERAL may look at besides the items before. */
export function planFrom(clause: readonly Node[] | undefined, scope: QueryScope, visible = emptyNamespace): From {
  let from = emptyFrom;
  for (const node of clause ?? []) {
    const next = planItem(node, scope, joined(visible, from.namespace));
    from = {
      nodes: [...from.nodes, ...next.nodes],
      conjuncts: [...from.conjuncts, ...next.conjuncts],
      namespace: joinedOnce(from.namespace, next.namespace),
    };
  }
  return from;
}

function planItem(node: Node, scope: QueryScope, visible: Namespace): From {
  if ('RangeVar' in node) return planRelation(node.RangeVar, scope);
  if ('JoinExpr' in node) return planJoin(node.JoinExpr, scope, visible);
  if ('RangeSubselect' in node) return planSubselect(node.RangeSubselect, scope, visible);
  if ('RangeFunction' in node) return fromFunction(functionItem(node.RangeFunction, scope, visible));
  throw notSupported(`${Object.keys(node)[0] ?? 'this item'} in FROM`);
}

/** A table by its name, as UPDATE, DELETE and INSERT have it too. */
export function tableItem(range: RangeVar, relation: Relation, scope: QueryScope): RangeItem {
  assert(relation.kind === 'table', `${relation.name} is a table`);
  scope.planning.relationsRead.add(relation.id);
  const columns = renamed(tableColumns(relation), range.alias?.colnames);
  return {
    name: range.alias?.aliasname ?? relation.name,
    schema: relation.schema,
    row: scope.newRow(),
    table: relation,
    columns,
    cellsRead: new Set(),
  };
}

function planRelation(range: RangeVar, scope: QueryScope): From {
  const found = range.schemaname === undefined ? scope.commonTable(range.relname ?? '') : undefined;
  const name = range.alias?.aliasname ?? range.relname ?? '';
  if (found !== undefined) {
    const { table, depth } = found;
    scope.planning.commonTablesRead.add(table);
    const named = { name, source: 'WITH query', names: range.alias?.colnames } as const;
    return rowsItem(named, table.columns, scope, (frame) => commonTableRows(table, depth, frame));
  }
  const relation = scope.planning.relation(range);
  scope.planning.relationsRead.add(relation.id);
  scope.planning.readsTemporary ||= isTemporary(relation.schema);
  switch (relation.kind) {
    case 'table':
      scope.planning.lock(relation.id, 'access share');
      return leafOf(tableItem(range, relation, scope), null);
    case 'view':
      return planView(relation, range, scope);
    case 'sequence':
      return rowsItem({ name, source: 'sequence', names: range.alias?.colnames }, sequenceColumns, scope, () => [
        [relation.last, 0n, relation.isCalled],
      ]);
    case 'virtual':
      return planVirtual(relation, name, range, scope);
  }
}

function planVirtual(relation: VirtualTable, name: string, range: RangeVar, scope: QueryScope): From {
  const { hasCapitalCatalog, databasesAreSchemas } = engineRules[scope.dialect];
  const own = relation.columns.map(({ name: title, type }, cell) => {
    return { ...plainOutput({ name: hasCapitalCatalog ? title.toUpperCase() : title, type }), cell };
  });
  const columns = renamed(own, range.alias?.colnames);
  return leafOf(
    { name, schema: null, row: scope.newRow(), table: null, columns, cellsRead: new Set(), systemName: relation.name },
    (frame) => {
      const { kept, surroundings } = runningOf(frame);
      const known = kept.get(relation) as Values[] | undefined;
      const rows = known ?? [
        ...relation.rows(databasesAreSchemas ? surroundings.database : null, surroundings.activity),
      ];
      kept.set(relation, rows);
      return asRows(rows);
    },
  );
}

const sequenceColumns: readonly OutputColumn[] = [
  { name: 'last_value', type: types.int8 },
  { name: 'log_cnt', type: types.int8 },
  { name: 'is_called', type: types.bool },
].map(plainOutput);

function plainOutput({ name, type }: Pick<OutputColumn, 'name' | 'type'>): OutputColumn {
  return { name, type, modifier: -1, isNullable: true, origin: null };
}

/** A view sees nothing of the query around it. */
function planView(view: View, range: RangeVar, scope: QueryScope): From {
  assert('SelectStmt' in view.query, 'a view is a query');
  const root = scope.child('part').detached();
  const inner = fromQuery(view.query.SelectStmt, root, scope);
  const columns = inner.columns.map((column, i) => ({ ...column, name: view.columnNames?.[i] ?? column.name }));
  const named = { name: range.alias?.aliasname ?? view.name, source: 'view', names: range.alias?.colnames } as const;
  return rowsItem(named, columns, scope, inner.rows, noNeeds, inner.close);
}

function planSubselect(
  { subquery, lateral = false, alias }: RangeSubselect,
  scope: QueryScope,
  visible: Namespace,
): From {
  assert(subquery !== undefined && 'SelectStmt' in subquery, 'a subquery in FROM is a SELECT');
  const inner = scope.child('part');
  const { result: query, uses } = scope.tracked(() =>
    scope.within(lateral ? visible : emptyNamespace, () => fromQuery(subquery.SelectStmt, inner, scope)),
  );
  const source = subquery.SelectStmt.valuesLists === undefined ? 'subquery' : 'VALUES';
  const named = { name: alias?.aliasname ?? '', source, names: alias?.colnames } as const;
  return rowsItem(named, query.columns, scope, query.rows, uses, query.close);
}

interface FromQuery {
  readonly columns: readonly OutputColumn[];
  readonly rows: (frame: Frame) => Iterable<Values>;
  /** As `Leaf` has it, for an item. `null`: it is planned. */
  readonly close: ((item: RangeItem, conjuncts: readonly Conjunct[]) => readonly Conjunct[]) | null;
}

/** @param own its scope, empty still @param scope that of the query around */
function fromQuery(select: SelectStmt, own: QueryScope, scope: QueryScope): FromQuery {
  const locks = select.lockingClause !== undefined;
  const rowsOf = (planned: () => PlannedQuery) => (locks ? lockedFirst(planned, scope) : keptOf(planned, scope));
  const open = scope.planners.open(select, own);
  if (open === null) {
    const query = checked(scope.planners.query(select, own));
    return { columns: query.columns, rows: rowsOf(() => query), close: null };
  }
  const pushed = new PushedDown(open);
  return {
    columns: open.columns,
    rows: rowsOf(() => pushed.planned),
    close(item, conjuncts) {
      const left = pushed.close(item, conjuncts);
      checked(pushed.planned);
      return left;
    },
  };
}

/** @throws SqlError 0A000 */
function checked(query: PlannedQuery): PlannedQuery {
  if (query.locking !== null && query.isCorrelated)
    throw notSupported('FOR UPDATE in a subquery that depends on the query around it');
  return query;
}

function keptOf(planned: () => PlannedQuery, { planning }: QueryScope): FromQuery['rows'] {
  return (frame) => keptRows(planned(), frame, runningOf(frame), planning);
}

/** A query that locks rows runs before the statement. */
function lockedFirst(planned: () => PlannedQuery, scope: QueryScope): FromQuery['rows'] {
  scope.planning.prelude.push(function* lockFirst(running) {
    const query = planned();
    assert(query.locking !== null, 'only what locks has to go first');
    running.kept.set(query, yield* query.locking(null, running));
  });
  return (frame) => runningOf(frame).kept.get(planned()) as Values[];
}

function rowsItem(
  {
    name,
    source,
    names,
  }: Pick<Required<RangeItem>, 'name' | 'source'> & { readonly names: readonly Node[] | undefined },
  columns: readonly OutputColumn[],
  scope: QueryScope,
  rows: (frame: Frame) => Iterable<Values>,
  needs: ReadonlySet<number> = noNeeds,
  close: FromQuery['close'] = null,
): From {
  const own = columns.map((column, cell) => ({
    ...column,
    cell,
    type: column.type.name === 'unknown' ? types.text : column.type,
  }));
  const item: RangeItem = {
    name,
    schema: null,
    row: scope.newRow(),
    table: null,
    source,
    columns: renamed(own, names),
    cellsRead: new Set(),
  };
  const closeItem = close === null ? undefined : (conjuncts: readonly Conjunct[]) => close(item, conjuncts);
  return leafOf(item, (frame) => asRows(rows(frame)), needs, closeItem);
}

function* asRows(rows: Iterable<Values>): Iterable<Row> {
  for (const values of rows) yield rowOf(values);
}

function fromFunction({ item, rowsOf, needs }: FunctionItem): From {
  return leafOf(item, rowsOf, needs);
}

function leafOf(
  item: RangeItem,
  rowsOf: ((frame: Frame) => Iterable<Row>) | null,
  needs: ReadonlySet<number> = noNeeds,
  close?: Leaf['close'],
): From {
  const leaf: FromNode = { kind: 'leaf', item, rowsOf, needs, close };
  return { nodes: [leaf], conjuncts: [], namespace: namespaceOf(item) };
}

function renamed<T extends { readonly name: string }>(columns: readonly T[], names: readonly Node[] | undefined): T[] {
  const given = stringsOf(names);
  return columns.map((column, i) => ({ ...column, name: given[i] ?? column.name }));
}

function planJoin(join: JoinExpr, scope: QueryScope, visible: Namespace): From {
  const { larg, rarg, jointype, usingClause, isNatural = false, quals } = join;
  assert(larg !== undefined && rarg !== undefined, 'a join has two sides');
  if (join.alias !== undefined) throw notSupported('an alias of a join');
  const left = planItem(larg, scope, visible);
  const right = planItem(rarg, scope, joined(visible, left.namespace));
  const names = isNatural ? commonNames(left.namespace, right.namespace) : stringsOf(usingClause);
  const both = joinedOnce(left.namespace, right.namespace);
  const namespace =
    names.length === 0
      ? both
      : merged(left.namespace, right.namespace, names, jointype === 'JOIN_FULL', jointype === 'JOIN_RIGHT');
  scope.clause = 'JOIN conditions';
  const on = [
    ...names.flatMap((name) => usingConjuncts(name, left.namespace, right.namespace, scope)),
    ...scope.within(joined(visible, both), () => compileConjuncts(quals, scope)),
  ];
  return { ...joinNodes(jointype, left, right, on), namespace };
}

function joinNodes(kind: JoinExpr['jointype'], left: From, right: From, on: readonly Conjunct[]): FromList {
  switch (kind) {
    case 'JOIN_LEFT':
      return { nodes: [{ kind: 'left', left, right, on }], conjuncts: [] };
    case 'JOIN_RIGHT':
      return { nodes: [{ kind: 'left', left: right, right: left, on }], conjuncts: [] };
    case 'JOIN_FULL':
      return { nodes: [{ kind: 'full', left, right, on }], conjuncts: [] };
    default:
      return { nodes: [...left.nodes, ...right.nodes], conjuncts: [...left.conjuncts, ...right.conjuncts, ...on] };
  }
}

function joinedOnce(left: Namespace, right: Namespace): Namespace {
  for (const { name, schema, table } of right.items) {
    const other = left.items.find((item) => item.name === name && name !== '');
    if (
      other === undefined ||
      (table !== null && other.table !== null && schema !== other.schema && table !== other.table)
    )
      continue;
    throw new SqlError('42712', `table name "${name}" specified more than once`);
  }
  return joined(left, right);
}

function commonNames(left: Namespace, right: Namespace): string[] {
  return left.columns.map(({ name }) => name).filter((name) => right.columns.some((column) => column.name === name));
}

/** USING columns come first and once; qualified names still find both. */
function merged(
  left: Namespace,
  right: Namespace,
  names: readonly string[],
  isFull: boolean,
  isRight: boolean,
): Namespace {
  const shared = names.map((name): VisibleColumn => {
    const own = usingColumn(left, name, 'left');
    const other = usingColumn(right, name, 'right');
    return isFull ? { kind: 'merged', name, left: own, right: other } : isRight ? other : own;
  });
  const others = [...left.columns, ...right.columns].filter(({ name }) => !names.includes(name));
  return { items: [...left.items, ...right.items], columns: [...shared, ...others] };
}

function usingColumn({ columns }: Namespace, name: string, side: 'left' | 'right'): VisibleColumn {
  const found = columns.filter((column) => column.name === name);
  const [column] = found;
  if (column === undefined) {
    throw new SqlError('42703', `column "${name}" specified in USING clause does not exist in ${side} table`);
  }
  if (found.length > 1) {
    throw new SqlError('42702', `common column name "${name}" appears more than once in ${side} table`);
  }
  return column;
}

/** `left.name = right.name`, under names that no statement can contain. */
function usingConjuncts(name: string, left: Namespace, right: Namespace, scope: QueryScope): Conjunct[] {
  const pair = [usingColumn(left, name, 'left'), usingColumn(right, name, 'right')];
  const names = [`\u0000left ${name}`, `\u0000right ${name}`];
  const reference = (text: string | undefined): Node => ({ ColumnRef: { fields: [{ String: { sval: text ?? '' } }] } });
  const condition: Node = {
    A_Expr: {
      kind: 'AEXPR_OP',
      name: [{ String: { sval: '=' } }],
      lexpr: reference(names[0]),
      rexpr: reference(names[1]),
    },
  };
  const columns = pair.map((column, i): VisibleColumn => ({ ...column, name: names[i] ?? '' }));
  return scope.within({ items: [], columns }, () => compileConjuncts(condition, scope));
}
