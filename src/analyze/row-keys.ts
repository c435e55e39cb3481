/** Which row a condition names: by equality with the columns of a unique index. */
import type { Node } from '@pgsql/types';
import { type Column, columnAtCell, columnNamed, type Index, type Table } from '../sql/index.ts';
import type { AccessedRow } from './access.ts';
import type { Dialect, Value } from './application.ts';
import { keyConstants } from './key-constants.ts';
import type { Schema } from './schema.ts';
import { aliasOf, type FromTable, namesOf } from './sql-tree.ts';

/** A table of a statement, and the rows of it that the statement's conditions let through. */
export interface Source {
  readonly table: Table;
  readonly alias: string;
  /** Several where the key is IN a list. */
  readonly rows: readonly AccessedRow[];
  /** Do conditions say more than the key? */
  readonly mayMiss: boolean;
  /** What the conditions say columns to equal. */
  readonly equals: ReadonlyMap<string, Value>;
}

/** What an expression computes from parameters alone, for a column where one has it; `undefined`: the server computes it from rows. */
export type ValueOf = (node: Node | undefined, column?: Column) => Value | undefined;

interface Reading {
  readonly valueOf: ValueOf;
  readonly schema: Schema;
}

interface Equality {
  readonly column: string;
  /** One for `=`, several for IN. */
  readonly values: readonly Value[];
}

/** Tables joined by key to a row that is named are named too: a second look, with the first one's rows known. O(tables^2 * conditions) */
export function sourcesOf(
  from: readonly (FromTable & { readonly table: Table })[],
  reading: Reading,
): readonly Source[] {
  let sources: readonly Source[] = [];
  for (let known = -1, now = 0; known < now; ) {
    known = now;
    const before = sources;
    sources = from.map(({ table, relation, conditions }) =>
      source(table, aliasOf(relation), conditions, before, reading),
    );
    now = sources.filter(({ rows }) => rows[0]?.kind === 'key').length;
  }
  return sources;
}

function source(table: Table, alias: string, all: readonly Node[], known: readonly Source[], reading: Reading): Source {
  const conditions = all.filter((node) => !isAlwaysTrue(node, reading));
  const tables = conditions.map((node) => equalityOf(node, table, alias, known, reading));
  const equalities = tables.flatMap((each) => each ?? []);
  const found = uniqueIndexes(table)
    .map((index) => keysOf(table, index, equalities, reading.schema))
    .find((keys) => keys !== undefined);
  const equals = new Map(
    equalities.flatMap(({ column, values: [value, ...more] }) =>
      value === undefined || more.length > 0 ? [] : [[column, value] as const],
    ),
  );
  if (found === undefined) return { table, alias, rows: [{ kind: 'condition' }], mayMiss: true, equals };
  const mayMiss = conditions.length > found.columns;
  return { table, alias, rows: found.rows, mayMiss, equals };
}

/** The primary key first: constants name rows by it. */
export function uniqueIndexes(table: Table): readonly Index[] {
  const whole = table.indexes.filter(
    ({ isUnique, predicate, parts }) => isUnique && predicate === null && parts.every(({ cell }) => cell >= 0),
  );
  return whole.toSorted((a, b) => Number(b.isPrimary) - Number(a.isPrimary));
}

const keysMax = 16;

function keysOf(
  table: Table,
  index: Index,
  equalities: readonly Equality[],
  schema: Schema,
): { readonly rows: readonly AccessedRow[]; readonly columns: number } | undefined {
  let tuples: readonly (readonly Value[])[] = [[]];
  for (const column of indexColumns(table, index)) {
    const equal = equalities.filter((each) => each.column === column);
    const [first] = equal.toSorted((a, b) => a.values.length - b.values.length);
    if (first === undefined) return undefined;
    tuples = tuples.flatMap((tuple) => first.values.map((value) => [...tuple, value]));
    if (tuples.length > keysMax) return undefined;
  }
  const rows = tuples.map((values): AccessedRow => keyRow(table, index, values, schema));
  return { rows, columns: index.parts.length };
}

export function keyRow(table: Table, index: Index, values: readonly Value[], schema: Schema): KeyRow {
  const columns = index.parts.flatMap(({ cell }) => columnAtCell(table, cell) ?? []);
  const { values: named, constant } = keyConstants(table, columns, values, schema);
  return { ...rowOfValues(index, named), constant };
}

/** Of values that are no constants. */
export function rowOfValues({ name, isPrimary }: Index, values: readonly Value[]): KeyRow {
  return { kind: 'key', index: name, isPrimary, values, constant: null };
}

export function indexColumns(table: Table, { parts }: Index): readonly string[] {
  return parts.map(({ cell }) => columnAtCell(table, cell)?.name ?? '');
}

function equalityOf(
  node: Node,
  table: Table,
  alias: string,
  known: readonly Source[],
  { valueOf, schema }: Reading,
): Equality | undefined {
  if (!('A_Expr' in node)) return undefined;
  const { kind, name = [], lexpr, rexpr } = node.A_Expr;
  if (operatorOf(name) !== '=') return undefined;
  const { dialect } = schema;
  const left = ownColumn(lexpr, table, alias, known, dialect);
  if (kind === 'AEXPR_IN') {
    const items = rexpr !== undefined && 'List' in rexpr ? (rexpr.List.items ?? []) : [];
    const values = items.flatMap((item) => valueOf(item, left) ?? []);
    if (left === undefined || values.length < items.length || items.some((item) => mayBeList[dialect](item, valueOf)))
      return undefined;
    return { column: left.name, values };
  }
  if (kind !== 'AEXPR_OP') return undefined;
  const right = ownColumn(rexpr, table, alias, known, dialect);
  if (left !== undefined) return equality(left, valueOf(rexpr, left) ?? joinedValue(rexpr, alias, known, dialect));
  return right === undefined
    ? undefined
    : equality(right, valueOf(lexpr, right) ?? joinedValue(lexpr, alias, known, dialect));
}

/** `1=1`, which programs that build SQL begin or end a condition with, and TRUE. */
function isAlwaysTrue(node: Node, { valueOf }: Reading): boolean {
  const constantOf = (operand: Node | undefined): unknown => {
    const value = valueOf(operand);
    return value?.kind === 'constant' ? (value.value ?? undefined) : undefined;
  };
  if (!('A_Expr' in node)) return constantOf(node) === true;
  const { kind, name = [], lexpr, rexpr } = node.A_Expr;
  const left = constantOf(lexpr);
  return kind === 'AEXPR_OP' && operatorOf(name) === '=' && left !== undefined && left === constantOf(rexpr);
}

function operatorOf(name: readonly Node[]): string | undefined {
  const [only] = name;
  return name.length === 1 && only !== undefined && 'String' in only ? only.String.sval : undefined;
}

function equality({ name }: Column, value: Value | undefined): Equality | undefined {
  return value === undefined ? undefined : { column: name, values: [value] };
}

/** `IN (?)`: MySQL's drivers put the elements of a list there. */
const mayBeList: Readonly<Record<Dialect, (item: Node, valueOf: ValueOf) => boolean>> = {
  postgres: () => false,
  mysql: (item, valueOf) => {
    const value = valueOf(item);
    const isOne = value?.kind === 'constant' || (value?.kind === 'column' && value.row === 'first');
    return 'ParamRef' in item && !isOne;
  },
};

function ownColumn(
  node: Node | undefined,
  table: Table,
  alias: string,
  known: readonly Source[],
  dialect: Dialect,
): Column | undefined {
  if (node === undefined || !('ColumnRef' in node)) return undefined;
  const names = namesOf(node.ColumnRef);
  const column = columnNamed(table, names.at(-1) ?? '', dialect);
  if (column === undefined) return undefined;
  const isOthers = known.some(
    (other) => other.alias !== alias && columnNamed(other.table, column.name, dialect) !== undefined,
  );
  return names.length === 1 ? (isOthers ? undefined : column) : names.at(-2) === alias ? column : undefined;
}

/** A column of another table's row, where that row is named: the same row gives the same value. */
function joinedValue(
  node: Node | undefined,
  alias: string,
  known: readonly Source[],
  dialect: Dialect,
): Value | undefined {
  if (node === undefined || !('ColumnRef' in node)) return undefined;
  const names = namesOf(node.ColumnRef);
  const name = names.at(-1);
  const owners = known.filter(
    (other) =>
      other.alias !== alias &&
      columnNamed(other.table, name ?? '', dialect) !== undefined &&
      (names.length === 1 || names.at(-2) === other.alias),
  );
  const [owner] = owners;
  const [row] = owner?.rows ?? [];
  if (owners.length !== 1 || owner?.rows.length !== 1 || row?.kind !== 'key') return undefined;
  return { kind: 'expression', operator: `${owner.table.name}.${name}`, operands: row.values };
}

/** Two accesses with the same text are of the same row; `undefined`: it is not known of which. */
export function rowText(table: Table, row: AccessedRow): string | undefined {
  if (row.kind !== 'key') return undefined;
  const known = keyTexts.get(row);
  const text = known === undefined ? keyText(row) : known;
  if (known === undefined) keyTexts.set(row, text);
  return text === null ? undefined : `${table.id} ${text}`;
}

type KeyRow = Extract<AccessedRow, { kind: 'key' }>;

/** Each is asked for many times: for every variant of every path. */
const keyTexts = new WeakMap<KeyRow, string | null>();

function keyText({ values, index }: KeyRow): string | null {
  const texts = values.map(sameText);
  return texts.every((text) => text !== undefined) ? `${index} ${texts.join(', ')}` : null;
}

/** Two values with the same text are the same value of one run; the unknown is never. An argument may have the printed form of a column. */
function sameText(value: Value): string | undefined {
  return isKnown(value) ? JSON.stringify(value) : undefined;
}

function isKnown(value: Value): boolean {
  return value.kind === 'expression' ? value.operands.every(isKnown) : value.kind !== 'unknown';
}
