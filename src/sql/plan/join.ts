/**
 * The order of joins and how each table is read. Inner joins are one list of items and one pool of conditions: they go as written, but an
 * item whose whole key is known goes first. A condition is evaluated as soon as the rows that it looks at are there.
 */
import { assert } from '../../base/index.ts';
import { keyText, engineRules, type Row, type SqlValue } from '../model/index.ts';
import type { Expression, Frame } from '../expression.ts';
import type { Table } from '../catalog/relation.ts';
import { type Access, accessWays, indexStep } from './access.ts';
import { allOf, type Comparison, type Conjunct } from './conjunct.ts';
import { wholeScan } from './covering-index.ts';
import { type Merge, mergeOf, mergeSource } from './merge-join.ts';
import type { RangeItem } from './namespace.ts';
import type { Planning } from './planning.ts';
import { catalogSource, rowCondition } from './row-condition.ts';
import type { Source } from './cursor.ts';
import { hashSource } from './hash-source.ts';
import { filtered, fullJoin, leftJoin, nested, rowsSource, single, tableSource } from './source.ts';

export type FromNode = Leaf | OuterJoin;

export interface Leaf {
  readonly kind: 'leaf';
  readonly item: RangeItem;
  /** What is not a stored table. */
  readonly rowsOf: ((frame: Frame) => Iterable<Row>) | null;
  /** LATERAL: rows that have to be there before. */
  readonly needs: ReadonlySet<number>;
  /** Plans a query of FROM, which takes conditions in. @returns those that it leaves to the join */
  readonly close?: ((conjuncts: readonly Conjunct[]) => readonly Conjunct[]) | undefined;
}

export interface OuterJoin {
  readonly kind: 'left' | 'full';
  readonly left: FromList;
  readonly right: FromList;
  readonly on: readonly Conjunct[];
}

/** Items that are joined with each other, and what has to hold of them. */
export interface FromList {
  readonly nodes: readonly FromNode[];
  readonly conjuncts: readonly Conjunct[];
}

/** FROM items by the numbers of their rows. */
type Items = ReadonlyMap<number, RangeItem>;

export function planJoins(list: FromList, planning: Planning, known: Items = new Map()): Source {
  const present = new Map(known);
  const waiting = [...list.nodes];
  let pending = [...list.conjuncts];
  const pair = known.size === 0 ? joinOfPair(list, planning) : null;
  if (pair !== null && 'outer' in pair) return mergeSource(pair, pending, planning);
  let source: Source | null = null;
  while (waiting.length > 0) {
    const node = source === null && pair !== null ? pair : nextNode(waiting, pending, present, planning);
    waiting.splice(waiting.indexOf(node), 1);
    const rows = rowsOf(node);
    const isThere = (row: number): boolean => present.has(row) || rows.includes(row);
    const ready = pending.filter(({ uses }) => [...uses].every(isThere));
    pending = pending.filter((conjunct) => !ready.includes(conjunct));
    const step = nodeSource(node, ready, { present, known }, planning);
    source = source === null ? step : nested(source, step);
    for (const item of itemsOf(node)) present.set(item.row, item);
  }
  if (source === null) return single(allOf(pending));
  return pending.length === 0 ? source : filtered(source, allOf(pending));
}

/** The table that the join begins with, and how it is read; `null`: with something else. */
export function firstRead(
  list: FromList,
  planning: Planning,
): { readonly item: RangeItem; readonly table: Table; readonly access: Access | null } | null {
  const first = nextNode(list.nodes, list.conjuncts, new Map(), planning);
  if (first.kind !== 'leaf' || first.item.table === null) return null;
  const { item } = first;
  const { table } = first.item;
  const ways = waysOfLeaf(item, table, list.conjuncts, { present: new Map(), known: new Map() }, planning);
  return { item, table, access: planning.wayAmong(table, ways) };
}

function itemsOf(node: FromNode): RangeItem[] {
  return node.kind === 'leaf' ? [node.item] : [...node.left.nodes, ...node.right.nodes].flatMap(itemsOf);
}

export function rowsOf(node: FromNode): number[] {
  return itemsOf(node).map(({ row }) => row);
}

/**
 * The next as written whose needs are met, unless another is found by its whole key. Of equals MariaDB begins with the one by whose rows the others are
 * found by their whole keys, or with another, by the sizes of the tables.
 */
function nextNode(
  waiting: readonly FromNode[],
  conjuncts: readonly Conjunct[],
  present: Items,
  planning: Planning,
): FromNode {
  const possible = waiting.filter((node) => needsOf(node).every((row) => present.has(row)));
  const isPresent = (row: number): boolean => present.has(row);
  const scores = possible.map((node) => accessScore(node, conjuncts, isPresent, planning));
  const bestScore = Math.max(...scores);
  const best = possible.filter((_, i) => scores[i] === bestScore);
  const first = best[0] ?? waiting[0];
  assert(first !== undefined, 'an item is left to join');
  const { isClustered } = engineRules[planning.dialect];
  return isClustered && bestScore < pointScore
    ? nextOfEquals(first, best, possible, { conjuncts, present, planning })
    : first;
}

/** How PostgreSQL joins two tables of which no condition finds a row by its key: which one it begins with, or by two indexes. `null`: other joins. */
function joinOfPair({ nodes, conjuncts }: FromList, planning: Planning): FromNode | Merge | null {
  const [a, b, another] = nodes;
  if (!engineRules[planning.dialect].mergesJoins || a?.kind !== 'leaf' || b?.kind !== 'leaf' || another !== undefined)
    return null;
  if (a.item.table === null || b.item.table === null) return null;
  const first = nextNode(nodes, conjuncts, new Map(), planning);
  if (accessScore(first, conjuncts, () => false, planning) === pointScore) return null;
  const [from, to] = first === a ? [a, b] : [b, a];
  const merges = [mergeOf(from.item, to.item, conjuncts, planning), mergeOf(to.item, from.item, conjuncts, planning)];
  const merged = merges.filter((merge) => merge !== null);
  const names = [`beginning with ${from.item.name}`, `beginning with ${to.item.name}`];
  for (const { outer, inner } of merged) names.push(`by merging ${outer.index.name} with ${inner.index.name}`);
  const way = planning.choose(`${a.item.name} and ${b.item.name}`, names, false);
  return merged[way - 2] ?? (way === 1 ? to : from);
}

interface Joining {
  readonly conjuncts: readonly Conjunct[];
  /** What has been joined. */
  readonly present: Items;
  readonly planning: Planning;
}

function nextOfEquals(
  first: FromNode,
  equals: readonly FromNode[],
  possible: readonly FromNode[],
  { conjuncts, present, planning }: Joining,
): FromNode {
  const opened = equals.map((node) => {
    if (node.kind !== 'leaf') return 0;
    const isThere = (row: number): boolean => present.has(row) || row === node.item.row;
    const others = possible.filter((other) => other !== node);
    return others.filter((other) => accessScore(other, conjuncts, isThere, planning) === pointScore).length;
  });
  const most = Math.max(...opened);
  const likely = equals[opened.indexOf(most)];
  if (most === 0 || likely?.kind !== 'leaf' || likely.item.table === null) return first;
  const others = equals.filter((node): node is Leaf => node.kind === 'leaf' && node !== likely);
  const names = others.map(({ item }) => item.name);
  const ways = [`before ${names.join(' and ')}`, ...names.map((name) => `after ${name}`)];
  return [likely, ...others][planning.choose(likely.item.table.name, ways, false)] ?? likely;
}

const pointScore = 3;

function accessScore(
  node: FromNode,
  conjuncts: readonly Conjunct[],
  isKnown: (row: number) => boolean,
  { dialect }: Planning,
): number {
  if (node.kind !== 'leaf' || node.item.table === null) return 0;
  const [access] = accessWays(node.item.table, node.item.row, conjuncts, isKnown, dialect);
  return access === null || access === undefined ? 0 : access.isPoint ? pointScore : access.equalities > 0 ? 2 : 1;
}

function needsOf(node: FromNode): number[] {
  if (node.kind === 'leaf') return [...node.needs];
  const own = rowsOf(node);
  return [...node.left.nodes, ...node.right.nodes].flatMap(needsOf).filter((row) => !own.includes(row));
}

interface RowsThere {
  /** What has been joined, and `known`. */
  readonly present: Items;
  /** From outside the list. */
  readonly known: Items;
}

function nodeSource(node: FromNode, conjuncts: readonly Conjunct[], there: RowsThere, planning: Planning): Source {
  if (node.kind === 'leaf') return leafSource(node, conjuncts, there, planning);
  const { present } = there;
  const leftRows = node.left.nodes.flatMap(rowsOf);
  const rightRows = node.right.nodes.flatMap(rowsOf);
  if (node.kind === 'full') {
    const joined = fullJoin({
      left: planJoins(node.left, planning, present),
      right: planJoins(node.right, planning, present),
      leftRows,
      rightRows,
      on: allOf(node.on),
    });
    return filtered(joined, allOf(conjuncts));
  }
  // Conditions of WHERE on the left side alone may go below the join; those on the right side see its NULLs and stay above.
  const isLeft = (row: number): boolean => present.has(row) || leftRows.includes(row);
  const below = conjuncts.filter(({ uses }) => [...uses].every(isLeft));
  const above = conjuncts.filter((conjunct) => !below.includes(conjunct));
  const left = planJoins({ nodes: node.left.nodes, conjuncts: [...node.left.conjuncts, ...below] }, planning, present);
  const right = planJoins(
    { nodes: node.right.nodes, conjuncts: [...node.right.conjuncts, ...node.on] },
    planning,
    new Map([...present, ...node.left.nodes.flatMap(itemsOf).map((item) => [item.row, item] as const)]),
  );
  return filtered(leftJoin(left, right, rightRows), allOf(above));
}

function leafSource(leaf: Leaf, given: readonly Conjunct[], there: RowsThere, planning: Planning): Source {
  const { item } = leaf;
  const conjuncts = leaf.close?.(given) ?? given;
  const isKnown = (row: number): boolean => there.present.has(row);
  if (item.table !== null) {
    const access = planning.access(item.table, waysOfLeaf(item, item.table, conjuncts, there, planning), false);
    if (access !== null) {
      planning.steps.push(indexStep(access, item.name));
      noteLookUp(access, item, item.table, there.present);
      return tableSource(item.table.id, item.row, access.paths, rowCondition(item, conjuncts, planning));
    }
  }
  const hashed = there.present.size > 0 && leaf.needs.size === 0 ? hashJoin(leaf, conjuncts, isKnown, planning) : null;
  if (hashed !== null) return hashed;
  planning.steps.push({ nodeType: item.table === null ? 'Scan' : 'Seq Scan', relation: item.name });
  return plainSource(leaf, conjuncts, planning);
}

/** The item before, whose rows give the keys, is read with this in view. */
function noteLookUp({ keyColumn, index }: Access, item: RangeItem, { id: table }: Table, present: Items): void {
  const before = keyColumn === null ? undefined : present.get(keyColumn.row);
  if (keyColumn === null || before === undefined) return;
  before.lookUps ??= [];
  before.lookUps.push({ cell: keyColumn.cell, table, index: index.id, cells: item.cellsRead });
}

/**
 * A key that rows of an inner join give is looked up, or the table is read whole where MariaDB expects few rows. One that is constant, or that the left side
 * of an outer join gives, has one way.
 */
function waysOfLeaf(
  { row }: RangeItem,
  table: Table,
  conjuncts: readonly Conjunct[],
  { present, known }: RowsThere,
  { dialect }: Planning,
): readonly (Access | null)[] {
  const ways = accessWays(table, row, conjuncts, (each) => present.has(each), dialect);
  if (ways.length > 1 || ways[0]?.isPoint !== true) return ways;
  const [given] = accessWays(table, row, conjuncts, (each) => known.has(each), dialect);
  return given?.isPoint === true ? ways : [...ways, null];
}

function plainSource({ item, rowsOf: rows }: Leaf, conjuncts: readonly Conjunct[], planning: Planning): Source {
  if (item.table !== null) {
    const paths = wholeScan(item, item.table, planning.dialect);
    return tableSource(item.table.id, item.row, paths, rowCondition(item, conjuncts, planning));
  }
  const source = rowsSource(item.row, rows ?? (() => []), allOf(conjuncts));
  return item.systemName !== undefined && rows !== null
    ? catalogSource(source, item, rows, conjuncts, planning)
    : source;
}

function hashJoin(
  leaf: Leaf,
  conjuncts: readonly Conjunct[],
  isKnown: (row: number) => boolean,
  planning: Planning,
): Source | null {
  const { row } = leaf.item;
  const equal = conjuncts.flatMap((conjunct) => {
    const found = conjunct.comparisons.find((each) => isHashable(each, row, isKnown));
    return found === undefined ? [] : [found];
  });
  if (equal.length === 0) return null;
  planning.steps.push({ nodeType: 'Hash Join', relation: leaf.item.name });
  const own = conjuncts.filter(({ uses }) => [...uses].every((used) => used === row));
  const build = plainSource(leaf, own, planning);
  const columns = equal.map(({ cell, type }) => ({ cell, type }));
  return hashSource({
    row,
    build,
    buildKey: keyOf(
      columns.map(({ cell, type }) => ({ type, evaluate: (frame) => cellOf(frame, row, cell) })),
      planning,
    ),
    probeKey: keyOf(
      equal.map(({ values }) => values[0] as Expression),
      planning,
    ),
    filter: allOf(conjuncts.filter((conjunct) => !own.includes(conjunct))),
  });
}

/** Equal values of one type have one key; between types they may differ, so those are compared one by one. */
function isHashable(
  { row: own, cell, kind, uses, values, type }: Comparison,
  row: number,
  isKnown: (row: number) => boolean,
): boolean {
  return (
    own === row &&
    cell >= 0 &&
    kind === '=' &&
    uses.size > 0 &&
    [...uses].every(isKnown) &&
    values[0]?.type.oid === type.oid
  );
}

export function cellOf(frame: Frame, row: number, cell: number): SqlValue {
  const source = frame.rows[row];
  if (source === null || source === undefined) return null;
  const value = source.values[cell];
  return value === undefined ? source.load(source, cell) : value;
}

function keyOf(
  parts: readonly Pick<Expression, 'type' | 'evaluate'>[],
  { dialect }: Planning,
): (frame: Frame) => string | null {
  return (frame) => {
    let key = '';
    for (const { type, evaluate } of parts) {
      const value = evaluate(frame);
      if (value === null) return null;
      const text = keyText(value, type, dialect);
      key += `${text.length}:${text}`;
    }
    return key;
  };
}
