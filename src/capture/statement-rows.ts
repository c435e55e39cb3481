/**
 * A statement that has run, as sets of rows: which keys it read and wrote, with which values. From the statement's conditions, its
 * parameters and its result, and from nothing else: what these do not say is `opaque` or `unknown`, never guessed.
 */
import type { TraceRows } from '../trace/index.ts';
import { cellValue, type CellValue, rowName } from './column-value.ts';
import { namedRows, type Source, writtenConditions } from './conditions.ts';
import type { Output, SelectPlan } from './plan-select.ts';
import type { DeletePlan, InsertPlan, UpdatePlan, WritePlan } from './plan-write.ts';
import { type Assignment } from './plan-write.ts';
import { type Operand, valueOf } from './operand.ts';
import type { RecordedColumn } from './schema.ts';

/** Some columns of a row; `null`: there is no such row. */
export type Image = Record<string, CellValue> | null;

export type RowEntry = readonly [row: string, image: Image];

/** What a server answered, whatever the driver or protocol. */
export interface StatementResult {
  readonly columns: readonly string[];
  readonly rowCount: number;
  readonly cell: (row: number, column: number) => unknown;
  /** Rows are objects: of two columns of one name only one is there. */
  readonly isByName: boolean;
  /** A cursor that was closed before its end: there may be more rows. */
  readonly isPartial?: boolean;
  /** Rows that were inserted, updated or deleted; `null`: not known. */
  readonly affected: number | null;
  /** Does `affected` count rows that an UPDATE found but left as they were? PostgreSQL does, MySQL on request. */
  readonly countsMatched: boolean;
  /** MySQL's first AUTO_INCREMENT value of the statement; 0: none. */
  readonly insertId: bigint;
  /** MySQL: values that did not fit may have been made to, without strict mode and by IGNORE. */
  readonly warnings?: number;
}

export type StatementRows = TraceRows<Image>;

const nothing: StatementRows = { reads: [], writes: [], unknown: [], predicates: [], lock: null, opaque: null };
export const opaqueReads: StatementRows = { ...nothing, opaque: 'reads' };
export const opaqueWrites: StatementRows = { ...nothing, opaque: 'writes' };

/** O(cells of the result + keys that the statement names). */
export function rowsOfStatement(
  plan: SelectPlan | WritePlan,
  parameters: readonly unknown[],
  result: StatementResult,
): StatementRows {
  if (plan.kind !== 'select' && mayHaveBent(plan, result)) return inTable(plan, opaqueWrites);
  switch (plan.kind) {
    case 'select':
      return selected(plan, parameters, result);
    case 'insert':
      return inTable(plan, inserted(plan, parameters, result));
    case 'update':
      return inTable(plan, updated(plan, parameters, result));
    case 'delete':
      return inTable(plan, deleted(plan, parameters, result));
  }
}

/** What a statement did when its result is not known. */
export function unseenRows(plan: SelectPlan | WritePlan): StatementRows {
  return plan.kind === 'select' ? { ...opaqueReads, lock: plan.lock } : inTable(plan, opaqueWrites);
}

/** Was something else written than the statement says? MySQL warns of each VALUES(c), too: it is no word of the standard's. */
function mayHaveBent(plan: WritePlan, { warnings = 0, affected }: StatementResult): boolean {
  if (affected === 0) return false;
  const isUpdate = plan.kind === 'insert' && plan.onConflict.kind === 'update';
  return warnings > (isUpdate ? plan.onConflict.fromRow.size : 0);
}

/** With the tables that were written, too: where it is not known which rows, and by foreign keys with actions. Triggers may write anything. */
function inTable(plan: WritePlan, rows: StatementRows): StatementRows {
  const { name, effects } = plan.target.table;
  const isWriter = rows.opaque === 'writes' || rows.writes.length > 0;
  const tables = isWriter ? [...effects.always, ...effectsOf(plan)] : effects.always;
  if (tables.includes('*')) return opaqueWrites;
  if (rows.opaque === 'writes') return { ...rows, tables: [name, ...tables] };
  return tables.length === 0 ? rows : { ...rows, opaque: 'writes', tables };
}

function effectsOf(plan: WritePlan): readonly string[] {
  const { hasOtherUnique, effects } = plan.target.table;
  switch (plan.kind) {
    case 'insert': {
      const { kind } = plan.onConflict;
      return kind === 'fail' || kind === 'skip' ? [] : [...effects.onDelete, ...effects.onKeyChange];
    }
    case 'update':
      return plan.movesRows || hasOtherUnique ? effects.onKeyChange : [];
    case 'delete':
      return effects.onDelete;
  }
}

function selected(plan: SelectPlan, parameters: readonly unknown[], result: StatementResult): StatementRows {
  const { outputs, lock } = plan;
  if (plan.isCount) return counted(plan, parameters, result);
  if (outputs === undefined || outputs.length !== result.columns.length) return { ...opaqueReads, lock };
  const reads = new Map<string, Image>();
  let isSure = !plan.readsMore && result.isPartial !== true;
  let named: readonly string[] | undefined;
  for (const source of plan.sources) {
    named = namedRows(source, plan.conditions, parameters);
    const fixed = plan.mayInventRows ? undefined : named;
    isSure = addRows(reads, source, outputs, result, fixed?.length === 1 ? fixed[0] : undefined) && isSure;
  }
  const [only] = plan.sources;
  const limit = plan.limit === null ? Infinity : limitOf(plan.limit, parameters);
  if (plan.isLookup && isSure && only !== undefined && (named?.length ?? 0) <= limit) {
    for (const name of named ?? []) if (!reads.has(name)) reads.set(name, null);
    return { ...nothing, reads: [...reads], lock, opaque: named === undefined ? 'reads' : null };
  }
  const isWhole = plan.isWhole && isSure && result.rowCount < limit;
  const where = isWhole ? writtenConditions(plan.conditions, parameters) : undefined;
  if (where === undefined || only === undefined) return { ...nothing, reads: [...reads], lock, opaque: 'reads' };
  return { ...nothing, reads: [...reads], lock, predicates: [{ table: only.table.name, where }] };
}

/** Nothing that the condition selects was there, or something was. */
function counted(
  { sources, conditions, lock, readsMore }: SelectPlan,
  parameters: readonly unknown[],
  result: StatementResult,
): StatementRows {
  const [only] = sources;
  const isNone = result.rowCount === 1 && result.isPartial !== true && Number(result.cell(0, 0)) === 0;
  const where = isNone && !readsMore ? writtenConditions(conditions, parameters) : undefined;
  if (where === undefined || only === undefined) return { ...opaqueReads, lock };
  return { ...nothing, lock, predicates: [{ table: only.table.name, where }] };
}

/** NULL is no limit; what is no number lets nothing be concluded. */
function limitOf(operand: Operand, parameters: readonly unknown[]): number {
  const value = valueOf(operand, parameters);
  if (value === null) return Infinity;
  const limit = Number(value);
  return Number.isNaN(limit) ? 0 : limit;
}

/** @returns whether every row of the result has a name */
function addRows(
  found: Map<string, Image>,
  source: Source,
  outputs: readonly (Output | null)[],
  result: StatementResult,
  fixed: string | undefined,
): boolean {
  const { columns, key } = layoutOf(source, outputs, result);
  const hasKey = key !== undefined;
  if (!hasKey && fixed === undefined) return false;
  let isSure = true;
  for (let row = 0; row < result.rowCount; row += 1) {
    const parts = key?.map((at) => result.cell(row, at));
    if (parts?.every((part) => part === null) === true) continue; // the empty side of an outer join
    const name = parts === undefined ? fixed : rowName(source.table, parts, 'result');
    if (name === undefined) isSure = false;
    else {
      const image = imageAt(row, columns, result);
      const known = found.get(name);
      found.set(name, known === undefined || known === null ? image : { ...known, ...image });
    }
  }
  return isSure;
}

interface Place {
  readonly column: RecordedColumn;
  readonly at: number;
}

/** Where the columns of a source stand in a result, and those of its key. */
interface Layout {
  readonly names: readonly string[];
  readonly isByName: boolean;
  readonly columns: readonly Place[];
  /** `undefined`: not all of them are there. */
  readonly key: readonly number[] | undefined;
}

/** The last one of each source: a source is of one statement, whose results mostly have the same columns. */
const layouts = new WeakMap<Source, Layout>();

function layoutOf(source: Source, outputs: readonly (Output | null)[], result: StatementResult): Layout {
  const { columns: names, isByName } = result;
  const known = layouts.get(source);
  if (known !== undefined && known.isByName === isByName && isSame(known.names, names)) return known;
  const columns = columnsOf(source, outputs, result);
  const places = source.table.key.map((column) => columns.find((each) => each.column === column)?.at);
  const key = places.filter((at) => at !== undefined);
  const isKey = key.length > 0 && key.length === places.length;
  const layout = { names, isByName, columns, key: isKey ? key : undefined };
  layouts.set(source, layout);
  return layout;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

function columnsOf(
  source: Source,
  outputs: readonly (Output | null)[],
  { columns, isByName }: StatementResult,
): Place[] {
  return outputs.flatMap((output, at) => {
    if (output === null || output.source !== source) return [];
    const isHidden = isByName && columns.indexOf(columns[at] as string) !== columns.lastIndexOf(columns[at] as string);
    return isHidden ? [] : [{ column: output.column, at }];
  });
}

function imageAt(row: number, places: readonly Place[], result: StatementResult): Record<string, CellValue> {
  const image: Record<string, CellValue> = {};
  for (const { column, at } of places) {
    const given = result.cell(row, at);
    const value = given === undefined ? undefined : cellValue(column, given, 'result');
    if (value !== undefined) image[column.name] = value;
  }
  return image;
}

function updated(plan: UpdatePlan, parameters: readonly unknown[], result: StatementResult): StatementRows {
  const { known, unknown } = writtenBy(plan.assignments, parameters);
  const computed = plan.target.table.columns.filter(({ isComputed }) => isComputed).map(({ name }) => name);
  const written = { known, unknown: [...unknown, ...computed.filter((name) => !unknown.includes(name))] };
  if (plan.movesRows) return moved(plan, written, parameters, result);
  const returned = returnedRows(plan, result);
  if (returned !== undefined) return overwritten(returned, written);
  const named = namedRows(plan.target, plan.conditions, parameters);
  if (result.affected === 0) return untouched(plan, named, result.countsMatched);
  if (named === undefined || result.affected !== named.length) return opaqueWrites;
  return overwritten(
    named.map((name): RowEntry => [name, {}]),
    written,
  );
}

function deleted(plan: DeletePlan, parameters: readonly unknown[], result: StatementResult): StatementRows {
  const returned = returnedRows(plan, result);
  const named = returned?.map(([name]) => name) ?? namedRows(plan.target, plan.conditions, parameters);
  if (result.affected === 0) return untouched(plan, named, true);
  if (named === undefined || (returned === undefined && result.affected !== named.length)) return opaqueWrites;
  return { ...nothing, writes: named.map((name): RowEntry => [name, null]) };
}

/** No row was changed: those that are looked up by key are not there. MySQL may mean that they had the new values before. */
function untouched(
  plan: UpdatePlan | DeletePlan,
  named: readonly string[] | undefined,
  countsMatched: boolean,
): StatementRows {
  if (!plan.isLookup || named === undefined || !countsMatched) return opaqueReads;
  return { ...nothing, reads: named.map((name): RowEntry => [name, null]) };
}

interface Written {
  readonly known: Record<string, CellValue>;
  readonly unknown: readonly string[];
}

function writtenBy(assignments: readonly Assignment[], parameters: readonly unknown[]): Written {
  const known: Record<string, CellValue> = {};
  const unknown: string[] = [];
  for (const { column, operand } of assignments) {
    const value = assignedValue(column, operand, parameters);
    if (value === undefined) unknown.push(column.name);
    else known[column.name] = value;
  }
  return { known, unknown };
}

function assignedValue(
  column: RecordedColumn,
  operand: Assignment['operand'],
  parameters: readonly unknown[],
): CellValue | undefined {
  if (operand?.kind === 'default') return column.hasDefault ? undefined : null;
  const given = valueOf(operand, parameters);
  return given === undefined ? undefined : cellValue(column, given, 'statement');
}

/** The same change to several rows; RETURNING gave some of the values. */
function overwritten(rows: readonly RowEntry[], { known, unknown }: Written): StatementRows {
  const writes = rows.map(([name, image]): RowEntry => [name, { ...known, ...image }]);
  return { ...nothing, writes, unknown: unknownIn(writes, () => unknown) };
}

function unknownIn(
  writes: readonly RowEntry[],
  columnsOfRow: (i: number) => readonly string[],
): (readonly [string, readonly string[]])[] {
  return writes.flatMap(([name, image], i) => {
    const missing = columnsOfRow(i).filter((column) => image === null || !Object.hasOwn(image, column));
    return missing.length === 0 ? [] : [[name, missing] as const];
  });
}

/** A primary key that changes: one row goes, another comes, of which only the assigned columns are known. */
function moved(
  plan: UpdatePlan,
  { known }: Written,
  parameters: readonly unknown[],
  result: StatementResult,
): StatementRows {
  const { table } = plan.target;
  const [from, ...others] = namedRows(plan.target, plan.conditions, parameters) ?? [];
  const isAll = table.key.every((column) => Object.hasOwn(known, column.name));
  const to = isAll
    ? rowName(
        table,
        table.key.map((column) => known[column.name]),
        'statement',
      )
    : undefined;
  if (result.affected === 0) return opaqueReads;
  if (from === undefined || to === undefined || others.length > 0 || result.affected !== 1) return opaqueWrites;
  const [returned] = returnedRows(plan, result) ?? [];
  const writes: RowEntry[] = [...(from === to ? [] : [[from, null] as const]), [to, { ...known, ...returned?.[1] }]];
  const columns = table.columns.map(({ name }) => name);
  return { ...nothing, writes, unknown: unknownIn(writes, (i) => (writes[i]?.[1] === null ? [] : columns)) };
}

/** The rows of RETURNING by name; `undefined`: it does not say their keys. */
function returnedRows(plan: WritePlan, result: StatementResult): RowEntry[] | undefined {
  const { returning, target } = plan;
  if (returning === undefined || returning.length === 0 || returning.length !== result.columns.length) return undefined;
  const rows = new Map<string, Image>();
  if (!addRows(rows, target, returning, result, undefined) || rows.size !== result.rowCount) return undefined;
  return [...rows];
}

function inserted(plan: InsertPlan, parameters: readonly unknown[], result: StatementResult): StatementRows {
  const { rows, onConflict, target } = plan;
  const returned = returnedRows(plan, result);
  const columns = target.table.columns.map(({ name }) => name);
  if (onConflict.kind === 'skip' && result.affected === 0) return opaqueReads;
  const isEvery = onConflict.kind !== 'unsure' && isEveryRow(plan, result);
  if (rows === null || !isEvery) {
    if (returned === undefined) return opaqueWrites;
    return { ...nothing, writes: returned, unknown: unknownIn(returned, () => columns) };
  }
  const writes: RowEntry[] = [];
  for (const [i, row] of rows.entries()) {
    const { known } = writtenBy(row, parameters);
    if (onConflict.kind === 'update') keepSure(known, onConflict.fromRow, target);
    if (rows.length === 1) Object.assign(known, generatedKey(plan, known, result));
    const entry = returned?.[i];
    const name =
      entry?.[0] ??
      rowName(
        target.table,
        target.table.key.map((column) => known[column.name]),
        'statement',
      );
    if (name === undefined) return opaqueWrites;
    if (onConflict.kind === 'update') dropSpelling(known, target);
    writes.push([name, { ...known, ...entry?.[1] }]);
  }
  return { ...nothing, writes, unknown: unknownIn(writes, () => columns) };
}

/** Has every row of VALUES been written? */
function isEveryRow({ rows, onConflict }: InsertPlan, { affected }: StatementResult): boolean {
  if (onConflict.kind === 'skip' || (onConflict.kind === 'update' && onConflict.mayRefuse))
    return affected === rows?.length;
  return true;
}

/** A row that was there keeps what the statement does not set: only the key and `c = excluded.c` are the same either way. */
function keepSure(known: Record<string, CellValue>, fromRow: ReadonlySet<RecordedColumn>, { table }: Source): void {
  for (const column of table.columns)
    if (!table.key.includes(column) && !fromRow.has(column)) delete known[column.name];
}

/** A row that was there keeps its own spelling of the key, 'A' where the statement says 'a'. */
function dropSpelling(known: Record<string, CellValue>, { table }: Source): void {
  for (const { name, kind } of table.key)
    if (kind === 'folded-text' || kind === 'folded-padded-text') delete known[name];
}

function generatedKey(
  { target }: InsertPlan,
  known: Readonly<Record<string, CellValue>>,
  { insertId }: StatementResult,
): Record<string, CellValue> {
  const [column, ...others] = target.table.key;
  if (column?.isAutoIncrement !== true || others.length > 0 || insertId === 0n) return {};
  const given = known[column.name];
  if (given !== undefined && given !== null && given !== 0) return {};
  return { [column.name]: cellValue(column, insertId, 'result') as CellValue };
}
