/** SELECT: which of its columns are those of a table's rows, and which keys WHERE names. */
import type { Node, SelectStmt } from '@pgsql/types';
import { type Conditions, conditionsOf, isKeyOnly, type Names, resolveColumn, type Source } from './conditions.ts';
import { type Operand, operandOf } from './operand.ts';
import { nodesOf, starQualifier, stringsOf } from '../sql/index.ts';
import type { TraceLock } from '../trace/index.ts';
import { captureRules } from './dialect.ts';
import type { RecordedColumn, RecordedSchema } from './schema.ts';

export interface SelectPlan {
  readonly kind: 'select';
  readonly sources: readonly Source[];
  /** What each column of the result is; `null`: nothing that a row holds. `undefined` as a whole: not known. */
  readonly outputs: readonly (Output | null)[] | undefined;
  readonly conditions: Conditions;
  /** A row of the result is one row of the source, and every row that WHERE selects is there, if there are fewer than `limit`. */
  readonly isWhole: boolean;
  /** `null`: none. */
  readonly limit: Operand | null;
  /** `SELECT count(*)` of one table: nothing was there where it is 0. */
  readonly isCount: boolean;
  /** WHERE is true of the rows it names by key, and only of those: what is not returned is not there. */
  readonly isLookup: boolean;
  /** An aggregate gives a row where the table has none. */
  readonly mayInventRows: boolean;
  /** Columns in front of its list would change neither its rows nor their order. */
  readonly canGrow: boolean;
  readonly lock: 'update' | 'share' | null;
  /** Reads more than its sources: subqueries, functions of FROM, tables that are not known. */
  readonly readsMore: boolean;
}

export interface Output {
  readonly source: Source;
  readonly column: RecordedColumn;
}

type Opaque = {
  readonly kind: 'opaque';
  readonly writes: boolean;
  readonly lock?: TraceLock | null;
  readonly why: string;
};
type Neutral = { readonly kind: 'neutral' };

export function planSelect(statement: SelectStmt, schema: RecordedSchema): SelectPlan | Opaque | Neutral {
  const tables = rangeVariables(statement);
  if (writesInside(statement)) return { kind: 'opaque', writes: true, why: 'a WITH that writes' };
  if (tables === 0 || tables === systemTables(statement)) return { kind: 'neutral' };
  if (statement.op !== undefined && statement.op !== 'SETOP_NONE')
    return { kind: 'opaque', writes: false, lock: lockInside(statement), why: 'UNION' };
  // FOR KEY SHARE lets all but the key be changed; FOR UPDATE OF locks one table of several.
  if (locksInPart(statement))
    return { kind: 'opaque', writes: false, lock: 'share', why: 'locks on a part of what is read' };
  if (statement.withClause !== undefined)
    return { kind: 'opaque', writes: false, lock: lockInside(statement), why: 'WITH' };
  const from = sourcesOf(statement.fromClause ?? [], schema);
  const outputs = outputsOf(statement.targetList ?? [], from, schema);
  const conditions = conditionsOf(statement.whereClause, from);
  const [only] = from.sources;
  const isSingle = from.isClosed && from.sources.length === 1 && only !== undefined && tables === 1;
  const isPlain = isPlainQuery(statement);
  const mayInventRows = inventsRows(statement);
  const limit = limitOf(statement);
  const isAll = limit !== undefined && !skipsRows(statement);
  return {
    kind: 'select',
    sources: from.sources,
    outputs: captureRules[schema.dialect].showsAnyOfGroup && !isPlain ? undefined : outputs,
    conditions,
    isWhole: isSingle && isPlain && isAll && outputs !== undefined,
    isLookup: isSingle && isPlain && isAll && isKeyOnly(only, conditions),
    limit: limit ?? null,
    isCount: isSingle && isCount(statement),
    mayInventRows,
    canGrow: isPlain && canGrow(statement),
    lock: lockOf(statement),
    readsMore: !from.isClosed || tables > from.sources.length,
  };
}

/** Tables that stand in the tree, however deep. */
export function rangeVariables(tree: object): number {
  return nodesOf(tree).filter((node) => 'RangeVar' in node).length;
}

/** Those of the catalogs, which drivers ask about types and tools about tables. */
function systemTables(tree: object): number {
  return nodesOf(tree).filter(
    (node) => 'RangeVar' in node && systemSchemas.has((node.RangeVar.schemaname ?? '').toLowerCase()),
  ).length;
}

const systemSchemas = new Set(['pg_catalog', 'information_schema', 'mysql', 'performance_schema', 'sys']);

/** Data-modifying WITH. */
export function writesInside(tree: { readonly withClause?: object }): boolean {
  return nodesOf(tree.withClause).some(
    (node) => 'InsertStmt' in node || 'UpdateStmt' in node || 'DeleteStmt' in node || 'MergeStmt' in node,
  );
}

/** Tables in FROM, through joins. */
export function sourcesOf(from: readonly Node[], schema: RecordedSchema): Names {
  const sources: Source[] = [];
  let isClosed = true;
  const visit = (node: Node | undefined): void => {
    if (node === undefined) return;
    if ('JoinExpr' in node && node.JoinExpr.alias === undefined && node.JoinExpr.isNatural !== true) {
      if (node.JoinExpr.usingClause !== undefined) isClosed = false;
      visit(node.JoinExpr.larg);
      visit(node.JoinExpr.rarg);
      return;
    }
    const found = 'RangeVar' in node ? tableOf(node.RangeVar, schema) : undefined;
    if (found === undefined) isClosed = false;
    else sources.push(found);
  };
  for (const node of from) visit(node);
  return { schema, sources, isClosed };
}

/** @param relation with its alias; an alias that renames columns hides them */
export function tableOf(
  relation:
    | { schemaname?: string; relname?: string; alias?: { aliasname?: string; colnames?: readonly Node[] } }
    | undefined,
  schema: RecordedSchema,
): Source | undefined {
  if (relation?.relname === undefined || relation.alias?.colnames !== undefined) return undefined;
  const table = schema.table(relation.schemaname, relation.relname);
  return table === undefined ? undefined : { table, alias: relation.alias?.aliasname ?? relation.relname };
}

/** The columns of a target list or RETURNING; `undefined`: a star that cannot be spelled out. */
export function outputsOf(
  targets: readonly Node[],
  names: Names,
  schema: RecordedSchema,
): readonly (Output | null)[] | undefined {
  const outputs: (Output | null)[] = [];
  for (const target of targets) {
    const value = 'ResTarget' in target ? target.ResTarget.val : undefined;
    const star = starQualifier(value);
    if (star === undefined) {
      outputs.push(resolveColumn(value, { ...names, schema }) ?? null);
      continue;
    }
    const [qualifier] = star;
    const sources = qualifier === undefined ? names.sources : names.sources.filter(({ alias }) => alias === qualifier);
    if (sources.length === 0 || (qualifier === undefined && !names.isClosed)) return undefined;
    for (const source of sources) for (const column of source.table.columns) outputs.push({ source, column });
  }
  return outputs;
}

/** One row of the result for each row that FROM and WHERE give. */
function isPlainQuery(statement: SelectStmt): boolean {
  const { groupClause, distinctClause } = statement;
  return groupClause === undefined && distinctClause === undefined && !inventsRows(statement);
}

/** Aggregates, and functions that may be such; HAVING; the empty set of `GROUP BY ()` and `ROLLUP`. */
function inventsRows({ targetList = [], sortClause = [], groupClause = [], havingClause }: SelectStmt): boolean {
  if (havingClause !== undefined) return true;
  return nodesOf([targetList, sortClause, groupClause]).some((node) => {
    if ('FuncCall' in node) return !scalars.has(stringsOf(node.FuncCall.funcname).at(-1) ?? '');
    return 'JsonArrayAgg' in node || 'JsonObjectAgg' in node || 'GroupingSet' in node;
  });
}

/** Functions of one row, which lists and ORDER BY have most. */
const scalars = new Set(
  (
    'abs btrim ceil ceiling char_length concat concat_ws date_part date_trunc extract field floor greatest ifnull least left length lower ' +
    'ltrim md5 now rand random replace right round rtrim substr substring to_char trim upper'
  ).split(' '),
);

/** Not with `ORDER BY 2`; nor with a parameter there, which may be a constant of the text that was made one. */
function canGrow({ targetList = [], sortClause = [], intoClause }: SelectStmt): boolean {
  const sortsByNumber = sortClause.some((node) => {
    const by = 'SortBy' in node ? node.SortBy.node : undefined;
    return by === undefined || 'A_Const' in by || 'ParamRef' in by;
  });
  return targetList.length > 0 && intoClause === undefined && !sortsByNumber;
}

/** `count(*)`, and nothing else. */
function isCount(statement: SelectStmt): boolean {
  const { targetList = [], groupClause, havingClause, distinctClause } = statement;
  const [target] = targetList;
  const value = target !== undefined && 'ResTarget' in target ? target.ResTarget.val : undefined;
  if (value === undefined || !('FuncCall' in value) || targetList.length !== 1) return false;
  const { funcname, agg_star, agg_filter, over } = value.FuncCall;
  return (
    agg_star === true &&
    agg_filter === undefined &&
    over === undefined &&
    stringsOf(funcname).at(-1) === 'count' &&
    groupClause === undefined &&
    havingClause === undefined &&
    distinctClause === undefined &&
    statement.limitCount === undefined &&
    !skipsRows(statement)
  );
}

function skipsRows({ lockingClause = [], limitOffset }: SelectStmt): boolean {
  return (
    limitOffset !== undefined ||
    lockingClause.some((node) => 'LockingClause' in node && node.LockingClause.waitPolicy === 'LockWaitSkip')
  );
}

/** `null`: there is none; `undefined`: it is an expression. */
function limitOf({ limitCount, limitOption }: SelectStmt): Operand | null | undefined {
  if (limitCount === undefined) return null;
  return limitOption === 'LIMIT_OPTION_WITH_TIES' ? undefined : operandOf(limitCount);
}

function locksInPart({ lockingClause = [], fromClause = [] }: SelectStmt): boolean {
  const isOne = fromClause.length === 1 && fromClause.every((node) => 'RangeVar' in node);
  return lockingClause.some(
    (node) =>
      'LockingClause' in node &&
      (node.LockingClause.strength === 'LCS_FORKEYSHARE' || (node.LockingClause.lockedRels !== undefined && !isOne)),
  );
}

function lockInside(statement: SelectStmt): TraceLock | null {
  return nodesOf(statement).some((node) => 'LockingClause' in node) ? 'share' : null;
}

function lockOf({ lockingClause = [] }: SelectStmt): 'update' | 'share' | null {
  const strengths = lockingClause.map((node) => ('LockingClause' in node ? node.LockingClause.strength : undefined));
  if (strengths.some((each) => each === 'LCS_FORUPDATE' || each === 'LCS_FORNOKEYUPDATE')) return 'update';
  return strengths.length > 0 ? 'share' : null;
}
