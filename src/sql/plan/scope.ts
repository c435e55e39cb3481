/**
 * What names mean inside one SELECT (or INSERT, UPDATE, DELETE). A name that is not found here is looked for in the query around; the
 * rows that an expression looks at are noted, so that joins know when it can be evaluated.
 */
import type { FuncCall, Node, SelectStmt } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import {
  type Dialect,
  engineRules,
  isSameName,
  notSupported,
  SqlError,
  type SqlType,
  types,
  type SqlValue,
} from '../model/index.ts';
import type { Expression, Frame, ParameterSlot, Scope, Subquery, SubqueryUse } from '../expression.ts';
import { postgresHas } from '../known/server-names.ts';
import { type SetReturning, setReturning } from '../expressions/index.ts';
import { ConstantTables, type QueryUse } from './constant-tables.ts';
import { emptyNamespace, type Namespace, type RangeItem, type VisibleColumn } from './namespace.ts';
import type { Planning } from './planning.ts';
import type { OpenQuery, PlannedQuery, OutputColumn, Values } from './query.ts';
import type { DataModification } from './data-modification.ts';
import type { Running } from '../execution.ts';

/** Aggregates and window functions are taken out of the expressions of a query while they are compiled. */
export interface CallCollector {
  /** `undefined`: a plain function. */
  readonly take: (call: FuncCall) => Expression | undefined;
  /** May an expression outside of aggregates look at this column? @throws SqlError 42803 */
  readonly checkColumn: (item: RangeItem, cell: number, name: string, isInSubquery: boolean, position: number) => void;
  /** A GROUP BY expression by its number, where the tree was marked. */
  readonly key: (number: number) => Expression;
}

/** A set-returning function inside an expression, and its value for the row that is made. */
export interface SetSlot {
  readonly set: SetReturning;
  value: SqlValue;
}

/** Several columns are one record in a select list. */
function valueTypeOf({ columns }: SetReturning): SqlType {
  const [first, another] = columns;
  assert(first !== undefined, 'a set-returning function has a column');
  return another === undefined ? first.type : { ...types.record, fields: columns };
}

/** A column name that no SQL text can have: stands for a GROUP BY expression in marked trees. */
export const groupKeyMark = '\u0000group key';

/** What was compiled, which rows it looks at, and whether it looks at the query around. */
interface Tracked<T> {
  readonly result: T;
  readonly uses: ReadonlySet<number>;
  readonly reachesOut: boolean;
}

export class QueryScope implements Scope {
  readonly planning: Planning;
  readonly planners: Planners;
  readonly parent: QueryScope | null;
  readonly dialect: Dialect;
  readonly commonTables = new Map<string, CommonTable>();
  readonly constants = new ConstantTables();
  namespace: Namespace = emptyNamespace;
  collector: CallCollector | null = null;
  /** Set-returning functions of the target that is compiled; `null`: they have no place here. */
  sets: SetSlot[] | null = null;
  /** Which clause is compiled: aggregates have no place there. */
  clause = '';
  /** Does anything here look at a query around? */
  reachesOut = false;
  /** Rows of the frame that the expression under compilation looks at. */
  #uses = new Set<number>();
  #rows = 0;
  readonly #subqueries = new Map<Node, Tracked<Subquery>>();

  constructor(planning: Planning, parent: QueryScope | null, planners: Planners) {
    this.planning = planning;
    this.parent = parent;
    this.dialect = planning.dialect;
    this.planners = planners;
  }

  get refusesTruncation(): boolean {
    return this.planning.refusesTruncation;
  }

  /** A scope inside this one. */
  child(use: QueryUse): QueryScope {
    const scope = new QueryScope(this.planning, this, this.planners);
    this.constants.enter(scope, use);
    return scope;
  }

  /** A scope that sees nothing of this one: for views. */
  detached(): QueryScope {
    const scope = new QueryScope(this.planning, null, this.planners);
    this.constants.enter(scope, 'part');
    return scope;
  }

  /** Another row of the frame. */
  newRow(): number {
    return this.#rows++;
  }

  get rowCount(): number {
    return this.#rows;
  }

  tracked<T>(compile: () => T): Tracked<T> {
    const [before, reachedOut] = [this.#uses, this.reachesOut];
    const uses = new Set<number>();
    this.#uses = uses;
    this.reachesOut = false;
    try {
      const result = compile();
      return { result, uses, reachesOut: this.reachesOut };
    } finally {
      this.#uses = before;
      this.reachesOut ||= reachedOut;
      for (const row of uses) before.add(row);
    }
  }

  /** Compiles while other names are visible. */
  within<T>(namespace: Namespace, compile: () => T): T {
    const before = this.namespace;
    this.namespace = namespace;
    try {
      return compile();
    } finally {
      this.namespace = before;
    }
  }

  /** @throws SqlError 0A000 an aggregate whose columns are all of the query around belongs to that query */
  ownAggregate<T>(call: FuncCall, compile: () => T): T {
    const { result, uses, reachesOut } = this.tracked(compile);
    if (reachesOut && uses.size === 0)
      throw notSupported('an aggregate of the columns of an outer query', (call.location ?? 0) + 1);
    return result;
  }

  column(names: readonly string[], position: number): Expression {
    const found =
      names.at(-1) === '*' ? this.#wholeRow(names.slice(0, -1), position, false) : this.#named(names, position);
    if (found === undefined) throw this.#lacks(names) ?? missing(names, position);
    return found;
  }

  #named(names: readonly string[], position: number): Expression | undefined {
    return this.#column(names, position, false) ?? this.#wholeRow(names, position, false);
  }

  parameter(number: number): ParameterSlot {
    return this.planning.parameter(number);
  }

  /** The same subquery for the same tree, however often that is compiled; each time it looks at the same rows. */
  subquery(select: Node, use: SubqueryUse): Subquery {
    let known = this.#subqueries.get(select);
    if (known === undefined) {
      known = this.tracked(() => this.planners.subquery(select, this, use));
      this.#subqueries.set(select, known);
    }
    for (const row of known.uses) this.#uses.add(row);
    this.reachesOut ||= known.reachesOut;
    return known.result;
  }

  aggregate(call: Node): Expression | undefined {
    const { sets } = this;
    const set = sets === null ? undefined : this.#setReturning(call, sets);
    if (set !== undefined) return set;
    // Arguments of aggregates give one value a row.
    this.sets = null;
    try {
      return 'FuncCall' in call ? this.collector?.take(call.FuncCall) : undefined;
    } finally {
      this.sets = sets;
    }
  }

  /** Inside an expression of the select list: its value is that of the row which is expanded. */
  #setReturning(call: Node, sets: SetSlot[]): Expression | undefined {
    // Sets as arguments of sets go in step with each other only in PostgreSQL: they are refused.
    this.sets = null;
    try {
      const set = setReturning(call, this);
      if (set === undefined) return undefined;
      const slot: SetSlot = { set, value: null };
      sets.push(slot);
      return { type: valueTypeOf(set), modifier: -1, isRowFree: false, evaluate: () => slot.value };
    } finally {
      this.sets = sets;
    }
  }

  type(name: string, position: number): SqlType {
    return this.planning.type(name, position);
  }

  commonTable(name: string): { table: CommonTable; depth: number } | undefined {
    const table = this.commonTables.get(name);
    if (table !== undefined) return { table, depth: 0 };
    const outer = this.parent?.commonTable(name);
    if (outer === undefined) return undefined;
    if (outer.table.isCorrelated) this.reachesOut = true;
    return { table: outer.table, depth: outer.depth + 1 };
  }

  columnsOf(names: readonly string[], position: number): readonly Expression[] {
    const item = this.#item(names, position);
    if (item === undefined) {
      const outer = this.parent?.columnsOf(names, position);
      if (outer === undefined) throw missingItem(names.join('.'), position);
      this.reachesOut = true;
      return outer.map(outward);
    }
    return item.columns.map((column) => this.visible({ kind: 'plain', name: column.name, item, column }, position));
  }

  /** What `*` and `name.*` stand for. @throws SqlError 42P01 */
  star(qualifier: readonly string[], position: number): readonly VisibleColumn[] {
    if (qualifier.length === 0) return this.namespace.columns;
    const item = this.#item(qualifier, position);
    if (item === undefined) throw missingItem(qualifier.join('.'), position);
    return item.columns.map((column) => ({ kind: 'plain', name: column.name, item, column }));
  }

  visible(column: VisibleColumn, position = -1, isInSubquery = false): Expression {
    if (column.kind === 'merged') {
      const left = this.visible(column.left, position, isInSubquery);
      const right = this.visible(column.right, position, isInSubquery);
      const evaluate = (frame: Frame) => left.evaluate(frame) ?? right.evaluate(frame);
      return { type: left.type, modifier: left.modifier, isRowFree: false, evaluate };
    }
    const { item, column: own } = column;
    this.collector?.checkColumn(item, own.cell, own.name, isInSubquery, position);
    this.#uses.add(item.row);
    item.cellsRead.add(own.cell);
    const cell = cellExpression(item.row, own.cell, own.type, own.modifier);
    return own.isUnsigned === true ? { ...cell, isUnsigned: true } : cell;
  }

  #column(names: readonly string[], position: number, isInSubquery: boolean): Expression | undefined {
    if (names[0] === groupKeyMark) {
      assert(this.collector !== null, 'marked trees belong to grouped queries');
      return this.collector.key(Number(names[1]));
    }
    const found = this.#find(names, position);
    if (found !== undefined) return this.visible(found, position, isInSubquery);
    return this.parent === null ? undefined : this.#outward(this.parent.#column(names, position, true));
  }

  /** The name of a FROM item alone: its row as a record. Columns of that name, even further out, come first. */
  #wholeRow(names: readonly string[], position: number, isInSubquery: boolean): Expression | undefined {
    const item = names.length === 1 ? this.#item(names, position) : undefined;
    if (item === undefined) {
      return this.parent === null ? undefined : this.#outward(this.parent.#wholeRow(names, position, true));
    }
    const columns = item.columns.map((column) =>
      this.visible({ kind: 'plain', name: column.name, item, column }, position, isInSubquery),
    );
    const fields = item.columns.map(({ name, type }) => ({ name, type }));
    return {
      type: { ...types.record, fields },
      modifier: -1,
      isRowFree: false,
      evaluate: (frame) =>
        frame.rows[item.row] === null
          ? null
          : { kind: 'array', elements: columns.map(({ evaluate }) => evaluate(frame)) },
    };
  }

  #outward(outer: Expression | undefined): Expression | undefined {
    if (outer === undefined) return undefined;
    this.reachesOut = true;
    return outward(outer);
  }

  #find(names: readonly string[], position: number): VisibleColumn | undefined {
    const name = names.at(-1) ?? '';
    if (names.length === 1) {
      const found = this.namespace.columns.filter((column) => this.#isSame(column.name, name));
      if (found.length > 1) throw this.#ambiguous(name, position);
      return found[0] ?? this.#systemColumn(name);
    }
    const item = this.#item(names.slice(0, -1), position);
    if (item === undefined) return undefined;
    const own = [...item.columns, ...(item.systemColumns ?? [])];
    const columns = own.filter((column) => this.#isSame(column.name, name));
    if (columns.length > 1) throw this.#ambiguous(name, position);
    const [column] = columns;
    if (column === undefined) {
      const lacked = this.#lacks(names);
      if (lacked !== undefined) throw lacked;
      const message = `column ${names.slice(0, -1).join('.')}.${name} does not exist`;
      throw new SqlError('42703', message, at(position));
    }
    return { kind: 'plain', name, item, column };
  }

  #ambiguous(column: string, position: number): SqlError {
    const detail = { ...at(position), column, clause: this.clause };
    return new SqlError('42702', `column reference "${column}" is ambiguous`, detail);
  }

  /** The tables of this query have it before those of the query around. @throws SqlError 0A000 */
  #systemColumn(name: string): VisibleColumn | undefined {
    for (const item of this.namespace.items) {
      const column = item.systemColumns?.find((each) => each.name === name);
      if (column !== undefined) return { kind: 'plain', name, item, column };
    }
    const lacked = systemColumns.has(name) ? this.#lacks([name]) : undefined;
    if (lacked !== undefined) throw lacked;
    return undefined;
  }

  /** A column that the server has and moirai has not: of a system table, or of every table. */
  #lacks(names: readonly string[]): SqlError | undefined {
    if (!engineRules[this.dialect].hasSystemColumns) return undefined;
    const name = names.at(-1) ?? '';
    const { items } = this.namespace;
    if (systemColumns.has(name) && items.some(({ table }) => table !== null)) return notSupported(`the column ${name}`);
    const owner = items.find(({ systemName = '' }) => postgresHas.catalogColumns(systemName)?.includes(name));
    return owner === undefined ? undefined : notSupported(`the column ${name} of ${owner.systemName ?? ''}`);
  }

  #item(qualifier: readonly string[], position: number): RangeItem | undefined {
    const name = qualifier.at(-1);
    const schema = qualifier.at(-2);
    const { databasesAreSchemas } = engineRules[this.dialect];
    const found = this.namespace.items.filter(
      (item) =>
        this.#isSame(item.name, name) &&
        (schema === undefined || (item.table !== null && (item.schema === schema || databasesAreSchemas))),
    );
    if (found.length > 1) throw new SqlError('42P09', `table reference "${name}" is ambiguous`, at(position));
    return found[0];
  }

  #isSame(own: string, name: string | undefined): boolean {
    return name !== undefined && isSameName(own, name, this.dialect);
  }
}

/** Columns of every table: manual, 5.5. */
const systemColumns: ReadonlySet<string> = new Set(['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']);

/** A column of the query itself. */
function cellExpression(row: number, cell: number, type: SqlType, modifier: number): Expression {
  return {
    type,
    modifier,
    isRowFree: false,
    column: { row, cell },
    evaluate: (frame) => {
      const source = frame.rows[row];
      if (source === null || source === undefined) return null;
      const value = source.values[cell];
      return value === undefined ? source.load(source, cell) : value;
    },
  };
}

/** A result of this group: an aggregate, a window function, a GROUP BY expression. */
export function computedExpression(slot: number, type: SqlType, modifier = -1): Expression {
  return { type, modifier, isRowFree: false, evaluate: (frame) => frame.computed[slot] ?? null };
}

/** An expression of the query around, seen from inside. */
function outward(expression: Expression): Expression {
  return {
    type: expression.type,
    modifier: expression.modifier,
    isUnsigned: expression.isUnsigned === true,
    isRowFree: false,
    evaluate: (frame) => {
      assert(frame.outer !== null, 'a correlated query runs inside another');
      return expression.evaluate(frame.outer);
    },
  };
}

function missing(names: readonly string[], position: number): SqlError {
  const name = names.at(-1) ?? '';
  if (names.length === 1) return new SqlError('42703', `column "${name}" does not exist`, at(position));
  return missingItem(names.slice(0, -1).join('.'), position);
}

function missingItem(name: string, position: number): SqlError {
  return new SqlError('42P01', `missing FROM-clause entry for table "${name}"`, at(position));
}

function at(position: number): { position?: number } {
  return position > 0 ? { position } : {};
}

/** Queries contain queries: what plans them is handed down with the scopes, so that the parts of a query need not know the whole. */
export interface Planners {
  /** `scope`: the query's own, empty still. `expected`: types for literals and parameters in the select list. */
  readonly query: (select: SelectStmt, scope: QueryScope, expected?: readonly (SqlType | undefined)[]) => PlannedQuery;
  /** A SELECT in FROM to which conditions may still be added. `null`: there is no place for them. */
  readonly open: (select: SelectStmt, scope: QueryScope) => OpenQuery | null;
  /** A SELECT inside an expression of `scope`. */
  readonly subquery: (select: Node, scope: QueryScope, use: SubqueryUse) => Subquery;
  /** `scope`: the statement's own, empty still. */
  readonly modification: (statement: Node, scope: QueryScope) => DataModification;
}

export interface CommonTable {
  readonly name: string;
  readonly columns: readonly OutputColumn[];
  /** `frame`: of the query that has the WITH clause. */
  readonly rows: (frame: Frame | null, running: Running) => Iterable<Values>;
  /** Do its rows differ from one reference to the next? Then what reads it must not be kept. */
  readonly isCorrelated: boolean;
}
