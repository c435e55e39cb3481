/** WHERE as far as it can be written down: which keys it names, and whether that is all it says. */
import type { Node } from '@pgsql/types';
import { conjunctsOf, stringsOf } from '../sql/index.ts';
import type { Comparison, Condition } from '../trace/index.ts';
import { cellValue, rowName } from './column-value.ts';
import { type Operand, operandOf, valueOf } from './operand.ts';
import type { RecordedColumn, RecordedSchema, RecordedTable } from './schema.ts';

/** A table as a statement calls it. */
export interface Source {
  readonly table: RecordedTable;
  readonly alias: string;
}

interface ColumnCondition {
  readonly source: Source;
  readonly column: RecordedColumn;
  readonly comparison: Comparison;
  /** `list`: one of these; the comparison is then `=`. */
  readonly operand:
    | Operand
    | { readonly kind: 'list'; readonly items: readonly Operand[] }
    | { readonly kind: 'array'; readonly index: number };
}

/** A conjunction. `isComplete`: these conditions are all of it. */
export interface Conditions {
  readonly list: readonly ColumnCondition[];
  readonly isComplete: boolean;
}

/** Which columns the names of a statement mean. */
export interface Names {
  readonly schema: RecordedSchema;
  readonly sources: readonly Source[];
  /** Is every source a table that is known? If not, a bare name may mean a column of the others. */
  readonly isClosed: boolean;
}

export function conditionsOf(where: Node | undefined, names: Names): Conditions {
  const found = conjunctsOf(where).map((node) => conditionsOfNode(node, names));
  const list = found.flatMap((each) => each ?? []);
  return { list, isComplete: found.every((each) => each !== undefined) };
}

/** The column that a reference means; `undefined`: none of a table that is known, or it is not certain which. */
export function resolveColumn(
  node: Node | undefined,
  names: Names,
): { source: Source; column: RecordedColumn } | undefined {
  if (node === undefined || !('ColumnRef' in node)) return undefined;
  const parts = (node.ColumnRef.fields ?? []).map((field) => ('String' in field ? (field.String.sval ?? '') : null));
  const name = parts.at(-1);
  if (name === null || name === undefined || parts.length > 2) return undefined;
  const qualifier = parts.length === 2 ? parts[0] : undefined;
  if (qualifier === undefined && !names.isClosed) return undefined;
  const found = names.sources
    .filter(({ alias }) => qualifier === undefined || alias === qualifier)
    .flatMap((source) => {
      const column = names.schema.column(source.table, name);
      return column === undefined ? [] : [{ source, column }];
    });
  return found.length === 1 ? found[0] : undefined;
}

/** The names of the rows of `table` that WHERE names by key; `undefined`: it does not, or they are not certain. */
export function namedRows(
  source: Source,
  conditions: Conditions,
  parameters: readonly unknown[],
): readonly string[] | undefined {
  const { table } = source;
  if (table.key.length === 0) return undefined;
  const only = table.key.length === 1 ? singleKey(source, conditions) : undefined;
  if (only !== undefined) {
    const name = rowName(table, [valueOf(only, parameters)], 'statement');
    return name === undefined ? undefined : [name];
  }
  let tuples: unknown[][] = [[]];
  for (const column of table.key) {
    const values = keyValues(source, column, conditions, parameters);
    if (values === undefined) return undefined;
    tuples = tuples.flatMap((tuple) => values.map((value) => [...tuple, value]));
    if (tuples.length > rowsMax) return undefined;
  }
  const names = tuples.map((tuple) => rowName(table, tuple, 'statement'));
  return names.every((name) => name !== undefined) ? [...new Set(names)] : undefined;
}

/** `id = $1` of a table with one key column, which most statements are. A source is of one statement, so it is looked for once. */
function singleKey(source: Source, { list }: Conditions): Operand | undefined {
  const known = singleKeys.get(source);
  if (known !== undefined) return known === null ? undefined : known;
  const found = list.find(
    (each) => each.source === source && each.column === source.table.key[0] && each.comparison === '=',
  );
  const operand =
    found === undefined || found.operand.kind === 'list' || found.operand.kind === 'array' ? null : found.operand;
  singleKeys.set(source, operand);
  return operand === null ? undefined : operand;
}

const singleKeys = new WeakMap<Source, Operand | null>();

/** A key with more values than this is a range, not a list of rows. */
const rowsMax = 10_000;

/** Is every condition one on the key, and none on a part of it twice? Then WHERE is true of these rows and of no other. */
export function isKeyOnly({ table }: Source, { list, isComplete }: Conditions): boolean {
  const columns = new Set(list.map(({ column }) => column));
  return (
    isComplete &&
    list.length === table.key.length &&
    table.key.every((column) => columns.has(column)) &&
    list.every(({ comparison }) => comparison === '=')
  );
}

/** The whole of WHERE as column, comparison, value; `undefined` where a part of it cannot be said so. */
export function writtenConditions(
  conditions: Conditions,
  parameters: readonly unknown[],
): readonly Condition[] | undefined {
  if (!conditions.isComplete) return undefined;
  const written: Condition[] = [];
  for (const { column, comparison, operand } of conditions.list) {
    if (operand.kind === 'list' || operand.kind === 'array') return undefined;
    const isNumber = column.kind === 'integer' || column.kind === 'float';
    const isExact = column.kind === 'text' || column.kind === 'uuid' || column.kind === 'boolean';
    if (!isNumber && !(isExact && (comparison === '=' || comparison === '!='))) return undefined;
    const given = valueOf(operand, parameters);
    const value = given === undefined ? undefined : cellValue(column, given, 'statement');
    if (value === undefined || value === null || (isNumber && typeof value !== 'number')) return undefined;
    written.push({ column: column.name, comparison, value });
  }
  return written;
}

function keyValues(
  source: Source,
  column: RecordedColumn,
  { list }: Conditions,
  parameters: readonly unknown[],
): readonly unknown[] | undefined {
  const found = list.find((each) => each.source === source && each.column === column && each.comparison === '=');
  if (found === undefined) return undefined;
  const { operand } = found;
  if (operand.kind === 'list') return operand.items.map((item) => valueOf(item, parameters));
  if (operand.kind !== 'array') return [valueOf(operand, parameters)];
  const array = parameters[operand.index];
  return Array.isArray(array) ? (array as unknown[]) : undefined;
}

const mirrored: Readonly<Record<string, Comparison>> = {
  '=': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};
const straight: Readonly<Record<string, Comparison>> = {
  '=': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

function conditionsOfNode(node: Node, names: Names): ColumnCondition[] | undefined {
  if (!('A_Expr' in node)) return undefined;
  const { kind, name, lexpr, rexpr } = node.A_Expr;
  // `OPERATOR(schema.=)` may be another one.
  const sign = name?.length === 1 ? (stringsOf(name)[0] ?? '') : '';
  const left = resolveColumn(lexpr, names);
  switch (kind) {
    case 'AEXPR_OP': {
      const right = left === undefined ? resolveColumn(rexpr, names) : undefined;
      const operand = operandOf(left === undefined ? lexpr : rexpr);
      const comparison = (left === undefined ? mirrored : straight)[sign];
      const place = left ?? right;
      return place === undefined || operand === undefined || comparison === undefined
        ? undefined
        : [{ ...place, comparison, operand }];
    }
    case 'AEXPR_IN': {
      const items =
        rexpr !== undefined && 'List' in rexpr ? (rexpr.List.items ?? []).map((item) => operandOf(item)) : [];
      if (left === undefined || sign !== '=' || items.length === 0) return undefined;
      const known = items.flatMap((item) => item ?? []);
      return known.length < items.length
        ? undefined
        : [{ ...left, comparison: '=', operand: { kind: 'list', items: known } }];
    }
    case 'AEXPR_OP_ANY': {
      const array = rexpr !== undefined && 'TypeCast' in rexpr ? rexpr.TypeCast.arg : rexpr;
      const operand = operandOf(array);
      if (left === undefined || sign !== '=' || operand?.kind !== 'parameter') return undefined;
      return [{ ...left, comparison: '=', operand: { kind: 'array', index: operand.index } }];
    }
    case 'AEXPR_BETWEEN': {
      const bounds =
        rexpr !== undefined && 'List' in rexpr ? (rexpr.List.items ?? []).map((item) => operandOf(item)) : [];
      const [from, to] = bounds;
      if (left === undefined || from === undefined || to === undefined) return undefined;
      return [
        { ...left, comparison: '>=', operand: from },
        { ...left, comparison: '<=', operand: to },
      ];
    }
    default:
      return undefined;
  }
}
