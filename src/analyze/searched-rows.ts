/** Rows that statements look for by a condition: a job that is ready, a coupon with this code, an agent of a team of this kind. */
import type { Table } from '../sql/index.ts';
import type { ParameterColumns } from './parameter-columns.ts';
import { canHold, foundRow } from './row-counts.ts';
import { indexColumns, uniqueIndexes } from './row-keys.ts';
import type { Asked } from './searches/asked.ts';
import type { Search } from './searches/statement-searches.ts';
import type { AnalyzedPath, AnalyzedStatement } from './transactions.ts';
import type { ValueClasses } from './value-classes.ts';
import type { Instance } from './witness-instance.ts';
import type { RowAsked, WitnessRow, WitnessRows } from './witness-rows.ts';

/**
 * Arguments with which a column is compared, and those that are inserted into it, are equal: what one instance inserts or finds, the other looks for. Of one
 * instance that compares it with several, each is that of the other instances in its place.
 */
export function shareCompared(instances: readonly Instance[], columns: ParameterColumns, classes: ValueClasses): void {
  const compared = instances.map((instance) => comparedArguments(instance, columns));
  const inserted = instances.map((instance) => insertedArguments(instance, columns));
  for (const column of new Set(compared.flatMap((byColumn) => [...byColumn.keys()]))) {
    const [first = [], ...others] = compared.flatMap((byColumn) => {
      const nodes = byColumn.get(column);
      return nodes === undefined ? [] : [nodes];
    });
    for (const [at, node] of first.entries())
      for (const other of others) if (other[at] !== undefined) classes.share(node, other[at]);
    const known = new Set([...first, ...others.flat()]);
    const [one] = first;
    for (const node of inserted.flatMap((byColumn) => byColumn.get(column) ?? []))
      if (one !== undefined && !known.has(node)) classes.share(one, node);
  }
}

type Nodes = ReadonlyMap<string, readonly string[]>;

/** By column: arguments with which a condition that names no row by key compares it. */
function comparedArguments(instance: Instance, columns: ParameterColumns): Nodes {
  const found = new Map<string, string[]>();
  for (const { statement, moments } of instance.path.path) {
    const isNamed = (table: Table): boolean =>
      moments.flat().some(({ row, table: own }) => row.kind === 'key' && own.id === table.id);
    for (const { sources, asked } of columns.searches(statement))
      for (const { column, sign, value } of asked) {
        const table = sources.find(({ alias }) => alias === column.alias)?.table;
        const given = value.kind === 'parameter' ? statement.parameters[value.number - 1] : undefined;
        if (sign !== '=' || given?.kind !== 'argument' || table === undefined || isNamed(table)) continue;
        add(found, keyOf(table, column.name), instance.nodeOf(given));
      }
  }
  return found;
}

function insertedArguments(instance: Instance, columns: ParameterColumns): Nodes {
  const found = new Map<string, string[]>();
  for (const { statement } of instance.path.path)
    for (const [at, value] of statement.parameters.entries()) {
      const place = columns.of(statement, at);
      if (value.kind === 'argument' && place?.isWritten === true)
        add(found, keyOf(place.table, place.column.name), instance.nodeOf(value));
    }
  return found;
}

function keyOf(table: Table, column: string): string {
  return `${table.id} ${column}`;
}

/** Each node once. */
function add(nodes: Map<string, string[]>, column: string, node: string): void {
  const known = nodes.get(column) ?? [];
  if (!known.includes(node)) nodes.set(column, [...known, node]);
}

/** @param foundRows of conditions of which nothing says how many rows they find */
export function addSearchedRows(
  instance: Instance,
  rows: WitnessRows,
  columns: ParameterColumns,
  foundRows: number,
): void {
  const { path, variant } = instance.path;
  for (const [at, analyzed] of path.entries()) {
    if (variant.missed.has(at) || variant.idle.has(at)) continue;
    const { statement } = analyzed;
    for (const search of columns.searches(statement)) {
      const [fewest, most] = rowsWanted(search, analyzed, path);
      if (most === 0) continue;
      const count = Math.max(fewest, Math.min(foundRows, most));
      const place = new PlacedSearch(search, instance, at, rows);
      place.find(count, (number) => instance.parameter(statement, number));
    }
  }
}

/** Of a result, so that the path can be as it is: the fewest and the most rows. */
function rowsWanted(
  search: Search,
  analyzed: AnalyzedStatement,
  path: AnalyzedPath,
): readonly [fewest: number, most: number] {
  const { result } = analyzed.statement;
  if (search.kind === 'inner') return [1, 1];
  if (search.kind === 'outermost') return [0, Infinity];
  if (result === null) return [analyzed.moments.flat().some(({ writes }) => writes.size > 0) ? 1 : 0, Infinity];
  const conditions = path.flatMap((one) => one.conditions);
  const canBe = (count: 0 | 1): boolean => canHold(conditions, new Map([[result, foundRow(count, analyzed)]]));
  return [canBe(0) ? 0 : 1, canBe(1) ? Infinity : 0];
}

type ParameterOf = (number: number) => string | number | undefined;

class PlacedSearch {
  readonly #search: Search;
  readonly #instance: Instance;
  readonly #at: number;
  readonly #rows: WitnessRows;

  constructor(search: Search, instance: Instance, at: number, rows: WitnessRows) {
    this.#search = search;
    this.#instance = instance;
    this.#at = at;
    this.#rows = rows;
  }

  /** @param count of rows where no statement names them */
  find(count: number, parameterOf: ParameterOf): void {
    const { sources, asked } = this.#search;
    const result = this.#instance.path.path[this.#at]?.statement.result ?? null;
    const found = new Map<string, readonly WitnessRow[]>();
    const open: string[] = [];
    for (const { alias, table } of sources) {
      const named = this.#instance.rowsNamedBy(this.#at, table, this.#rows);
      if (named === null) return;
      const known = named.length > 0 ? named : this.#instance.rowsNamedIn(result, table, this.#rows);
      if (known.length === 0 && !this.#instance.namesRowOf(table)) open.push(alias);
      found.set(alias, known);
    }
    for (const { alias, table } of sources) {
      if (!open.includes(alias)) continue;
      const what = asked.filter(({ column }) => column.alias === alias);
      const text = JSON.stringify([
        this.#instance.path.path[this.#at]?.statement.sql,
        alias,
        what.map((one) => valueText(one, parameterOf)),
      ]);
      found.set(
        alias,
        Array.from({ length: count }, (_, number) => this.#rows.addNameless(table, `${text} ${number}`)),
      );
    }
    for (const one of asked) this.#ask(one, found, parameterOf);
  }

  #ask(
    { column: { alias, name }, sign, value }: Asked,
    found: ReadonlyMap<string, readonly WitnessRow[]>,
    parameterOf: ParameterOf,
  ): void {
    const table = this.#search.sources.find((source) => source.alias === alias)?.table;
    if (table === undefined) return;
    const askedOf = (rowAsked: RowAsked['value']): void => {
      const asked: RowAsked = { column: name, sign, value: rowAsked };
      for (const row of found.get(alias) ?? []) row.asked.push(asked);
      if (rowAsked.kind !== 'row' && !isKey(table, name)) this.#rows.prefer(table, asked);
    };
    if (value.kind === 'parameter') {
      const given = parameterOf(value.number);
      if (given !== undefined) askedOf({ kind: 'constant', value: given });
    } else if (value.kind === 'column') {
      const [row] = found.get(value.column.alias) ?? [];
      if (row !== undefined) askedOf({ kind: 'row', row, column: value.column.name });
    } else askedOf(value);
  }
}

/** By itself: two rows have two values. */
function isKey(table: Table, name: string): boolean {
  return uniqueIndexes(table).some((index) => indexColumns(table, index).every((column) => column === name));
}

function valueText({ column, sign, value }: Asked, parameterOf: ParameterOf): unknown {
  return [column.name, sign, value.kind === 'parameter' ? parameterOf(value.number) : value];
}
