/** Queries and what they are made of, as PostgreSQL's parser makes them; see constant.ts for `at`. */
import type {
  JoinType,
  LockingClause,
  Node,
  RangeVar,
  ResTarget,
  SelectStmt,
  SetOperation,
  SortByDir,
  WithClause,
} from '@pgsql/types';
import { nullNode } from './constant.ts';
import { nameNodes, starRef } from './expression.ts';

/** The clauses of a query without its set operation. */
export type SelectClauses = Omit<SelectStmt, 'op' | 'limitOption' | 'larg' | 'rarg' | 'all'>;

export function select(clauses: SelectClauses): SelectStmt {
  return { ...clauses, limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_NONE' };
}

/** `VALUES (1, 2), (3, 4)`. */
export function valuesQuery(rows: readonly (readonly Node[])[]): SelectStmt {
  return select({ valuesLists: rows.map((items) => ({ List: { items: [...items] } })) });
}

/** `TABLE t`. */
export function tableQuery(table: RangeVar): SelectStmt {
  return select({ targetList: [target(starRef([], -1), undefined, -1)], fromClause: [{ RangeVar: table }] });
}

export function setOperation(
  op: Exclude<SetOperation, 'SETOP_NONE'>,
  isAll: boolean,
  larg: SelectStmt,
  rarg: SelectStmt,
): SelectStmt {
  return { limitOption: 'LIMIT_OPTION_DEFAULT', op, ...(isAll ? { all: true } : {}), larg, rarg };
}

/** How many rows, behind how many. */
export interface Limit {
  /** `null`: all. */
  readonly count: Node | null;
  readonly offset: Node | undefined;
  readonly at: number;
}

/** Those of ORDER BY, LIMIT and WITH that are there. */
export interface QueryTail {
  readonly orderBy: readonly Node[];
  readonly limit: Limit | undefined;
  readonly withClause: WithClause | undefined;
}

export function withTail(query: SelectStmt, { orderBy, limit, withClause }: QueryTail): SelectStmt {
  return {
    ...query,
    ...(orderBy.length === 0 ? {} : { sortClause: [...orderBy] }),
    ...(limit === undefined ? {} : limitClauses(limit)),
    ...(withClause === undefined ? {} : { withClause }),
  };
}

function limitClauses({ count, offset, at }: Limit): Pick<SelectStmt, 'limitCount' | 'limitOffset' | 'limitOption'> {
  return {
    ...(offset === undefined ? {} : { limitOffset: offset }),
    limitCount: count ?? nullNode(at),
    limitOption: 'LIMIT_OPTION_COUNT',
  };
}

export function target(val: Node, name: string | undefined, at: number): Node {
  return resTarget({ ...(name === undefined ? {} : { name }), val, location: at });
}

export function resTarget(entry: ResTarget): Node {
  return { ResTarget: entry };
}

export function sortBy(node: Node, direction: 'ASC' | 'DESC' | undefined): Node {
  const sortby_dir: SortByDir =
    direction === undefined ? 'SORTBY_DEFAULT' : direction === 'ASC' ? 'SORTBY_ASC' : 'SORTBY_DESC';
  return { SortBy: { node, sortby_dir, sortby_nulls: 'SORTBY_NULLS_DEFAULT', location: -1 } };
}

/** @param names the table's, perhaps behind its schema's */
export function rangeVar(names: readonly string[], at: number, alias?: string, persistence: 'p' | 't' = 'p'): RangeVar {
  const [relname = '', schemaname, catalogname] = names.toReversed();
  return {
    ...(catalogname === undefined ? {} : { catalogname }),
    ...(schemaname === undefined ? {} : { schemaname }),
    relname,
    inh: true,
    relpersistence: persistence,
    ...(alias === undefined ? {} : { alias: { aliasname: alias } }),
    location: at,
  };
}

export function derivedTable(query: SelectStmt, alias: string, columns: readonly string[], isLateral: boolean): Node {
  const colnames = columns.length === 0 ? {} : { colnames: nameNodes(columns) };
  const lateral = isLateral ? { lateral: true } : {};
  return { RangeSubselect: { ...lateral, subquery: { SelectStmt: query }, alias: { aliasname: alias, ...colnames } } };
}

export interface Join {
  readonly type: JoinType;
  readonly isNatural: boolean;
  readonly left: Node;
  readonly right: Node;
  readonly on: Node | undefined;
  readonly using: readonly string[] | undefined;
}

export function joinNode({ type, isNatural, left, right, on, using }: Join): Node {
  return {
    JoinExpr: {
      jointype: type,
      ...(isNatural ? { isNatural } : {}),
      larg: left,
      rarg: right,
      ...(using === undefined ? {} : { usingClause: nameNodes(using) }),
      ...(on === undefined ? {} : { quals: on }),
    },
  };
}

export function locking(
  strength: 'LCS_FORSHARE' | 'LCS_FORUPDATE',
  tables: readonly RangeVar[],
  waitPolicy: NonNullable<LockingClause['waitPolicy']>,
): Node {
  const lockedRels = tables.length === 0 ? {} : { lockedRels: tables.map((RangeVar) => ({ RangeVar })) };
  return { LockingClause: { ...lockedRels, strength, waitPolicy } };
}

export function commonTable(name: string, columns: readonly string[], query: SelectStmt, at: number): Node {
  return {
    CommonTableExpr: {
      ctename: name,
      ...(columns.length === 0 ? {} : { aliascolnames: nameNodes(columns) }),
      ctematerialized: 'CTEMaterializeDefault',
      ctequery: { SelectStmt: query },
      location: at,
    },
  };
}

export function commonTables(tables: readonly Node[], isRecursive: boolean): WithClause | undefined {
  if (tables.length === 0) return undefined;
  return { ctes: [...tables], ...(isRecursive ? { recursive: true } : {}) };
}
