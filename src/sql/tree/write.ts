/** Statements that write rows, as PostgreSQL's parser makes them; see constant.ts for `at`. */
import type {
  DeleteStmt,
  InsertStmt,
  Node,
  RangeVar,
  ResTarget,
  ReturningClause,
  SelectStmt,
  UpdateStmt,
  WithClause,
} from '@pgsql/types';
import { resTarget } from './query.ts';

export function defaultValue(at: number): Node {
  return { SetToDefault: { location: at } };
}

export interface Assignment {
  readonly column: string;
  readonly value: Node;
  readonly at: number;
}

export function assignmentNodes(assignments: readonly Assignment[]): Node[] {
  return assignments.map(({ column, value, at }) => resTarget({ name: column, val: value, location: at }));
}

export function columnTarget(name: string, at: number): ResTarget {
  return { name, location: at };
}

function returning(items: readonly Node[]): { returningClause?: ReturningClause } {
  return items.length === 0 ? {} : { returningClause: { exprs: [...items] } };
}

export interface InsertParts {
  readonly table: RangeVar;
  readonly columns: readonly ResTarget[];
  /** `undefined`: DEFAULT VALUES. */
  readonly source: SelectStmt | undefined;
  readonly returning: readonly Node[];
}

export function insert({ table, columns, source, returning: items }: InsertParts): InsertStmt {
  return {
    relation: table,
    ...(columns.length === 0 ? {} : { cols: columns.map(resTarget) }),
    ...(source === undefined ? {} : { selectStmt: { SelectStmt: source } }),
    ...returning(items),
    override: 'OVERRIDING_NOT_SET',
  };
}

export interface ChangeParts {
  readonly table: RangeVar;
  /** What it is joined with. */
  readonly others: readonly Node[];
  readonly where: Node | undefined;
  readonly returning: readonly Node[];
  readonly withClause: WithClause | undefined;
}

export function update(
  { table, others, where, returning: items, withClause }: ChangeParts,
  assignments: readonly Assignment[],
): UpdateStmt {
  return {
    relation: table,
    targetList: assignmentNodes(assignments),
    ...(where === undefined ? {} : { whereClause: where }),
    ...(others.length === 0 ? {} : { fromClause: [...others] }),
    ...returning(items),
    ...(withClause === undefined ? {} : { withClause }),
  };
}

export function deletion({ table, others, where, returning: items, withClause }: ChangeParts): DeleteStmt {
  return {
    relation: table,
    ...(others.length === 0 ? {} : { usingClause: [...others] }),
    ...(where === undefined ? {} : { whereClause: where }),
    ...returning(items),
    ...(withClause === undefined ? {} : { withClause }),
  };
}
