/**
 * Completed reads (MOIRAI_COMPLETE_READS): a statement with the columns that say which rows it is about, where the application does not ask
 * for them: keys in front of what a SELECT lists, and in PostgreSQL RETURNING of keys, and of values that only the server knows, behind a
 * writing statement. The hooks take them out of the answer again. Only where that changes nothing else: one statement, no numbers that stand
 * for columns, no comments, in which hints may be.
 *
 * In front of the list, because what the server says of a mistake in the rest is then the same, but for its position.
 */
import type { Dialect } from '../sql/model/index.ts';
import type { Source } from './conditions.ts';
import { captureRules } from './dialect.ts';
import type { Output, SelectPlan } from './plan-select.ts';
import type { RecordedColumn } from './schema.ts';
import type { WritePlan } from './plan-write.ts';
import type { PlanCache } from './plan-cache.ts';
import type { StatementPlan } from './statement-plan.ts';

export interface Completion {
  /** Where columns of ours stand in the result: in front of the application's, behind them, or alone, where there was no result before. */
  readonly place: 'first' | 'last' | 'alone';
  /** `"book"."id" AS moirai_1`, with commas between them. */
  readonly columns: string;
  readonly count: number;
}

/**
 * What names the rows of a statement; `null`: nothing is missing, or nothing can be added.
 * O(length), and parsing for a text that is new.
 */
export function completionOf(sql: string, parameters: readonly unknown[], cache: PlanCache): Completion | null {
  if (hasMore(sql, cache.dialect)) return null;
  const { plan } = cache.lookup(sql, parameters);
  if (plan.kind === 'select') return selectPattern.test(sql) ? known(plan, missingInSelect, cache.dialect) : null;
  return isWrite(plan) && captureRules[cache.dialect].returnsRows ? known(plan, missingInWrite, cache.dialect) : null;
}

/** May the statement change what tables there are? Then nothing is known of those that are sent after it. */
export function mayDefine(sql: string, parameters: readonly unknown[], cache: PlanCache): boolean {
  const { plan } = cache.lookup(sql, parameters);
  return plan.kind === 'ddl' || (plan.kind === 'opaque' && plan.writes) || isSeveral(sql);
}

/** @param sql the text that the completion is of, or one that begins and ends as it does */
export function completedText(sql: string, { place, columns }: Completion): string {
  if (place === 'first') return sql.replace(selectPattern, (start) => `${start}${columns}, `);
  const end = sql.trimEnd().replace(/;$/, '');
  return place === 'last' ? `${end}, ${columns}` : `${end} RETURNING ${columns}`;
}

/** Of fields, or the cells of a row: those that the application asked for. O(list). */
export function withoutAdded<T>(list: readonly T[], { place, count }: Completion): T[] {
  if (place === 'alone') return [];
  return place === 'first' ? list.slice(count) : list.slice(0, list.length - count);
}

/** As `withoutAdded`, for rows that are objects or arrays. The rows that came stay as they are, for the recorder. O(cells). */
export function rowsWithoutAdded<Row extends object>(rows: readonly Row[], completion: Completion): Row[] {
  if (completion.place === 'alone') return [];
  return rows.map((row) => rowWithoutAdded(row, completion));
}

export function rowWithoutAdded<Row extends object>(row: Row, completion: Completion): Row {
  if (Array.isArray(row)) return withoutAdded<unknown>(row, completion) as unknown as Row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith(prefix))) as Row;
}

/** Where in the application's text a place of the completed one is: `error.position` of PostgreSQL, in characters from 1. */
export function positionBefore(position: string, sql: string, { place, columns }: Completion): string {
  const start = selectPattern.exec(sql)?.[0].length ?? 0;
  const at = Number(position);
  return place === 'first' && at > start ? String(at - Array.from(`${columns}, `).length) : position;
}

/** Names of ours, which no statement that is completed has. */
const prefix = 'moirai_';
/** `FROM`: an empty list. `*` has to be the first of a list in MySQL. */
const selectPattern = /^\s*select\s+(?!(?:all|distinct|distinctrow|from|high_priority|straight_join|sql_\w+)\b|\*)/i;

function hasMore(sql: string, dialect: Dialect): boolean {
  const isCommented = captureRules[dialect].commentMarks.some((mark) => sql.includes(mark));
  return isCommented || sql.includes(prefix) || isSeveral(sql);
}

function isSeveral(sql: string): boolean {
  const semicolon = sql.indexOf(';');
  return semicolon >= 0 && sql.slice(semicolon + 1).trim() !== '';
}

function isWrite(plan: StatementPlan): plan is WritePlan {
  return plan.kind === 'insert' || plan.kind === 'update' || plan.kind === 'delete';
}

interface Missing {
  readonly columns: readonly { readonly source: Source; readonly column: RecordedColumn }[];
  readonly place: Completion['place'];
}

const completions = new WeakMap<StatementPlan, Completion | null>();

/** A plan is of one text, which is asked for again and again. */
function known<Plan extends SelectPlan | WritePlan>(
  plan: Plan,
  missingIn: (plan: Plan) => Missing | null,
  dialect: Dialect,
): Completion | null {
  const found = completions.get(plan);
  if (found !== undefined) return found;
  const missing = missingIn(plan);
  const texts = missing?.columns.map(({ source, column }, i) => columnText(source, column, i, dialect)) ?? [];
  const completion =
    missing === null || texts.length === 0
      ? null
      : { place: missing.place, columns: texts.join(', '), count: texts.length };
  completions.set(plan, completion);
  return completion;
}

function missingInSelect({ outputs, sources, canGrow, isLookup, readsMore, conditions }: SelectPlan): Missing | null {
  if (outputs === undefined || !canGrow || readsMore || hasOurs(outputs)) return null;
  const isOneRow = conditions.list.every(({ operand }) => operand.kind !== 'list' && operand.kind !== 'array');
  if (isLookup && isOneRow) return null;
  const columns = sources.flatMap((source) =>
    source.table.key
      .filter((column) => !outputs.some((output) => output?.source === source && output.column === column))
      .map((column) => ({ source, column })),
  );
  return { columns, place: 'first' };
}

/** A column of a table, behind a star. */
function hasOurs(outputs: readonly (Output | null)[]): boolean {
  return outputs.some((output) => output?.column.name.startsWith(prefix));
}

function missingInWrite(plan: WritePlan): Missing | null {
  const { target, returning, readsMore } = plan;
  if (returning === undefined || readsMore || target.table.key.length === 0 || hasOurs(returning)) return null;
  const returned = new Set(returning.flatMap((output) => (output?.source === target ? [output.column] : [])));
  const computed =
    plan.kind === 'update'
      ? plan.assignments.filter(({ operand }) => operand === undefined).map(({ column }) => column)
      : [];
  const isNamed = plan.kind !== 'insert' && plan.isLookup && computed.length === 0;
  if (isNamed) return null;
  const missing = [...new Set([...target.table.key, ...computed])].filter((column) => !returned.has(column));
  const columns = missing.map((column) => ({ source: target, column }));
  return { columns, place: returning.length > 0 ? 'last' : 'alone' };
}

function columnText({ alias }: Source, { name }: RecordedColumn, i: number, dialect: Dialect): string {
  const { quote } = captureRules[dialect];
  const quoted = [alias, name].map((each) => `${quote}${each.replaceAll(quote, quote + quote)}${quote}`);
  return `${quoted.join('.')} AS ${prefix}${i + 1}`;
}
