/**
 * `--complete-reads`: a statement of PostgreSQL's with the columns that say which rows it is about, where the application does not ask for
 * them: keys in front of what a SELECT lists, and RETURNING of keys, and of values that only the server knows, behind a writing statement. The
 * hook takes them out of the answer again. Only where that changes nothing else: one statement, no numbers that stand for columns, no
 * comments at its end.
 */
import type { Node, SelectStmt } from '@pgsql/types';
import { parseStatement } from '../sql/parse.ts';
import type { SelectPlan } from './plan-select.ts';
import type { RecordedColumn } from './schema.ts';
import type { PlanCache, StatementPlan } from './statement-plan.ts';
import type { Source } from './conditions.ts';
import type { WritePlan } from './plan-write.ts';

export interface Completed {
  readonly sql: string;
  /** Columns of the result that are ours: the first ones or the last ones. `all`: there was no result before. */
  readonly added: { readonly where: 'first' | 'last'; readonly count: number } | { readonly where: 'all' };
}

/** `null`: nothing is missing, or nothing can be added. O(length), and parsing for a text that is new. */
export function completed(sql: string, cache: PlanCache): Completed | null {
  if (/--|\/\*/.test(sql) || sql.trimEnd().replace(/;$/, '').includes(';')) return null;
  const plan = cache.plan(sql);
  if (plan.kind === 'select') return completedSelect(sql, plan);
  return isWrite(plan) ? completedWrite(sql, plan) : null;
}

function isWrite(plan: StatementPlan): plan is WritePlan {
  return plan.kind === 'insert' || plan.kind === 'update' || plan.kind === 'delete';
}

function completedSelect(sql: string, plan: SelectPlan): Completed | null {
  const { outputs, sources } = plan;
  if (outputs === undefined || plan.mayInventRows || plan.isCount || plan.readsMore) return null;
  const missing = sources.flatMap((source) =>
    source.table.key
      .filter((column) => !outputs.some((output) => output?.source === source && output.column === column))
      .map((column) => ({ source, column })),
  );
  if (missing.length === 0) return null;
  const tree = parseStatement(sql);
  const statement = tree !== null && 'SelectStmt' in tree ? tree.SelectStmt : undefined;
  const at = statement === undefined || !isPlain(statement) ? undefined : locationOf(statement.targetList?.[0]);
  if (at === undefined) return null;
  const bytes = Buffer.from(sql);
  const text = missing.map(({ source, column }, i) => columnText(source, column, i)).join(', ');
  const whole = Buffer.concat([bytes.subarray(0, at), Buffer.from(`${text}, `), bytes.subarray(at)]).toString();
  return { sql: whole, added: { where: 'first', count: missing.length } };
}

function completedWrite(sql: string, plan: WritePlan): Completed | null {
  const { target, returning, readsMore } = plan;
  if (returning === undefined || readsMore || target.table.key.length === 0) return null;
  const told = new Set(returning.flatMap((output) => (output?.source === target ? [output.column] : [])));
  const computed =
    plan.kind === 'update'
      ? plan.assignments.filter(({ operand }) => operand === undefined).map(({ column }) => column)
      : [];
  const isNamed = plan.kind !== 'insert' && plan.isLookup && computed.length === 0;
  const missing = [...new Set([...target.table.key, ...computed])].filter((column) => !told.has(column));
  if (missing.length === 0 || isNamed) return null;
  const list = missing.map((column, i) => columnText(target, column, i)).join(', ');
  const text = sql.trimEnd().replace(/;$/, '');
  if (returning.length > 0) return { sql: `${text}, ${list}`, added: { where: 'last', count: missing.length } };
  return { sql: `${text} RETURNING ${list}`, added: { where: 'all' } };
}

/** One row of the result for each row of the tables, and no number that stands for a column. */
function isPlain(statement: SelectStmt): boolean {
  const { groupClause, distinctClause, havingClause, withClause, intoClause, op } = statement;
  const { sortClause = [], fromClause = [] } = statement;
  const isOne = op === undefined || op === 'SETOP_NONE';
  const isBare = [groupClause, distinctClause, havingClause, withClause, intoClause].every(
    (clause) => clause === undefined,
  );
  const sortsByNumber = sortClause.some(
    (node) => 'SortBy' in node && node.SortBy.node !== undefined && 'A_Const' in node.SortBy.node,
  );
  return isOne && isBare && !sortsByNumber && fromClause.length > 0;
}

function locationOf(target: Node | undefined): number | undefined {
  return target !== undefined && 'ResTarget' in target ? target.ResTarget.location : undefined;
}

function columnText({ alias }: Source, { name }: RecordedColumn, i: number): string {
  return `${identifier(alias)}.${identifier(name)} AS moirai_${i + 1}`;
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
