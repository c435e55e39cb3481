/**
 * What holds for every row that is written to a table: defaults, generated columns, NOT NULL, CHECK. Compiled once for a statement.
 * Writing goes through here, so that every writer checks foreign keys.
 */
import type { Node } from '@pgsql/types';
import {
  type Dialect,
  engineRules,
  SqlError,
  cell,
  type DuplicateLock,
  type InsertResult,
  type Row,
  type UpdateResult,
  type Waiting,
  typeTitle,
  type SqlValue,
} from '../model/index.ts';
import { assert } from '../../base/index.ts';
import type { Column, ForeignKey, Table } from '../catalog/relation.ts';
import { coerce, coerceToBoolean, compileExpression, constrained } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import { noAggregates } from '../plan/grouping.ts';
import { namespaceOf, tableRangeItem } from '../plan/namespace.ts';
import type { Planning } from '../plan/planning.ts';
import { newFrame } from '../plan/query.ts';
import type { QueryScope } from '../plan/scope.ts';
import { rowOf } from '../plan/source.ts';
import { mysqlValueChecks, type ValueCheck } from '../mysql/column-values.ts';
import { implicitDefault } from '../mysql/fitted-values.ts';
import { fitted, strict } from './strict-assignment.ts';
import { type AutoIncrement, autoIncrementOf } from './auto-increment.ts';
import { type ConstraintErrors, constraintErrors } from './constraint-error.ts';
import {
  afterDelete,
  afterUpdate,
  atEnd,
  changedKeys,
  checkParents,
  type References,
  referencesOf,
} from './foreign-keys.ts';
import { indexChecks } from './index-checks.ts';
import { nextValue } from './next-value.ts';
import { sequenceName } from './sequence-name.ts';
import type { Running } from '../execution.ts';

type Evaluate = Expression['evaluate'];

type Written = Exclude<InsertResult | UpdateResult, { kind: 'duplicate' }>;

export class TableRules {
  readonly table: Table;
  readonly planning: Planning;
  readonly #scope: QueryScope;
  readonly #checks: readonly { readonly name: string; readonly evaluate: Evaluate }[];
  readonly #generated: readonly { readonly column: Column; readonly evaluate: Evaluate }[];
  readonly #notNull: readonly Column[];
  readonly #valueChecks: readonly ValueCheck[];
  readonly #isPlain: boolean;
  /** MySQL's. */
  readonly autoIncrement: AutoIncrement | null;
  /** Rules of the tables that a cascade may come to. */
  readonly rulesOf: (table: Table) => TableRules;
  #references: References | null = null;

  constructor(table: Table, scope: QueryScope, known: Map<number, TableRules> = new Map()) {
    this.table = table;
    this.planning = scope.planning;
    known.set(table.id, this);
    this.#scope = scope.detached();
    this.rulesOf = (other) => known.get(other.id) ?? new TableRules(other, scope, known);
    const own = this.#scope;
    own.namespace = namespaceOf(tableRangeItem(table, own.newRow()));
    own.clause = 'check constraints';
    own.collector = noAggregates(own);
    this.#checks = table.checks.map(({ name, expression }) => ({ name, evaluate: compileCheck(expression, own) }));
    this.#generated = table.columns.flatMap((column) =>
      column.generated === null ? [] : [{ column, evaluate: assigned(column.generated, column, own).evaluate }],
    );
    this.#valueChecks = columnRules[this.planning.dialect].valueChecks(table.columns, this.planning.fitsValues);
    this.#notNull = table.columns.filter(({ isNotNull }) => isNotNull);
    this.autoIncrement = columnRules[this.planning.dialect].autoIncrement(table);
    this.#isPlain = this.#checks.length === 0 && this.#generated.length === 0;
  }

  /** Has it something to put into a column that is not named, or an error? */
  hasDefault(column: Column): boolean {
    return (
      column.default !== null ||
      column.identity !== null ||
      column.type.domain !== undefined ||
      this.#mustBeGiven(column)
    );
  }

  /** The value of a column that is not named: the next number, the default, NULL. */
  default(column: Column): Evaluate {
    // MySQL draws the number when the row is written.
    if (column === this.autoIncrement?.column) return () => null;
    if (this.#mustBeGiven(column)) return this.#withoutDefault(column);
    if (column.identity !== null && column.sequence !== null) {
      const name = sequenceName(column.sequence);
      return ({ execution }) => {
        const value = nextValue(execution, name, column);
        return isLarge(column) ? value : Number(value);
      };
    }
    const { domain } = column.type;
    const own = column.default ?? domain?.default ?? (domain === undefined ? null : nullConstant);
    if (own === null) return () => null;
    return this.#scope.within({ items: [], columns: [] }, () => assigned(own, column, this.#scope).evaluate);
  }

  #mustBeGiven({ isNotNull, default: own, identity, generated }: Column): boolean {
    const { hasImplicitDefaults } = engineRules[this.planning.dialect];
    return hasImplicitDefaults && isNotNull && own === null && identity === null && generated === null;
  }

  #withoutDefault(column: Column): Evaluate {
    const implicit = this.#fittedDefault(column);
    return implicit === undefined ? withoutDefault(column) : () => implicit;
  }

  /** `undefined`: a value has to be given. */
  #fittedDefault(column: Column): SqlValue | undefined {
    return this.planning.fitsValues ? implicitDefault(column) : undefined;
  }

  get #errors(): ConstraintErrors {
    return constraintErrors[this.planning.dialect];
  }

  get references(): References {
    this.#references ??= referencesOf(this.table, this.planning);
    return this.#references;
  }

  /** Computes generated columns and checks the row. @throws SqlError 23502, 23514 */
  check(values: SqlValue[], running: Running, source: Row | null = null): void {
    const frame: Frame | null = this.#isPlain ? null : newFrame(1, running, null);
    if (frame !== null) {
      const row = rowOf(values);
      frame.rows[0] = source === null ? row : { ...row, load: (_row, position) => cell(source, position) };
      for (const { column, evaluate } of this.#generated) values[column.cell] = evaluate(frame);
    }
    for (const check of this.#valueChecks) check(values);
    for (const column of this.#notNull) {
      if (source === null && column === this.autoIncrement?.column) continue;
      if (values[column.cell] !== null) continue;
      const implicit = this.#fittedDefault(column);
      if (implicit === undefined) throw this.#errors.notNull(this.table, column.name, values);
      values[column.cell] = implicit;
    }
    if (frame === null) return;
    for (const { name, evaluate } of this.#checks) {
      if (evaluate(frame) === false) throw this.#errors.checkFailed(this.table, name, values);
    }
  }

  /** A duplicate is an answer here: ON CONFLICT. @throws SqlError 23502, 23514 */
  *tryInsert(values: SqlValue[], duplicateLock: DuplicateLock, running: Running): Waiting<InsertResult> {
    const draws = this.autoIncrement?.isAskedFor(values) === true;
    this.check(values, running);
    if (draws && this.autoIncrement !== null) {
      yield* this.autoIncrement.lock(running);
      this.autoIncrement.draw(values, running);
    }
    const { checksByIndex = false } = running.view;
    const checks = checksByIndex
      ? indexChecks(this, { old: null, values, columns: [], cascading: null }, running)
      : undefined;
    const result = yield* running.view.insert(this.table.id, values, duplicateLock, checks);
    if (result.kind === 'inserted') {
      if (!draws && this.autoIncrement !== null) {
        yield* this.autoIncrement.lockLate(running);
        this.autoIncrement.countOn(values, running);
      }
      this.#recheck(result, values, running);
      if (this.table.foreignKeys.length > 0 && !checksByIndex)
        yield* checkParents(this, result.row, values, this.table.foreignKeys, running);
    }
    return result;
  }

  /** @param cascading the foreign key whose action this is: InnoDB does not check it @throws SqlError 23505, 23502, 23514 */
  *update(
    row: Row,
    values: SqlValue[],
    columns: readonly number[],
    running: Running,
    cascading: ForeignKey | null = null,
  ): Waiting<Row> {
    this.check(values, running, row);
    const { checksByIndex = false } = running.view;
    const isOwn = this.table.foreignKeys.length > 0 && running.view.isOwn(row);
    const checks = checksByIndex ? indexChecks(this, { old: row, values, columns, cascading }, running) : undefined;
    const result = yield* running.view.update(row, values, columns, checks);
    if (result.kind === 'duplicate') throw this.duplicate(result.index, values, running);
    this.#recheck(result, values, running);
    yield* this.#countUpdated(row, values, columns, running);
    if (checksByIndex) return result.row;
    const { checksKeysByRow } = engineRules[this.planning.dialect];
    if (!checksKeysByRow) yield* this.#afterUpdate(row, values, columns, running);
    if (this.table.foreignKeys.length > 0) {
      const changed = changedKeys(this, row, values, columns, isOwn);
      const written = values.map((value, at) => (value === undefined && isOwn ? cell(row, at) : value));
      yield* checkParents(this, result.row, written, changed, running);
    }
    if (checksKeysByRow) yield* this.#afterUpdate(row, values, columns, running);
    return result.row;
  }

  *#countUpdated(row: Row, values: readonly SqlValue[], columns: readonly number[], running: Running): Waiting<void> {
    if (this.autoIncrement === null) return;
    const { cell: at } = this.autoIncrement.column;
    if (!columns.includes(at) || values[at] === cell(row, at)) return;
    yield* this.autoIncrement.lockLate(running);
    this.autoIncrement.countOn(values, running);
  }

  *delete(row: Row, running: Running): Waiting<void> {
    const { checksByIndex = false } = running.view;
    const checks = checksByIndex
      ? indexChecks(this, { old: row, values: null, columns: [], cascading: null }, running)
      : undefined;
    yield* running.view.delete(row, checks);
    const { children } = this.references;
    if (children.length > 0 && !checksByIndex) yield* afterDelete(this, children, row, running);
  }

  duplicate(id: number, values: readonly SqlValue[], running: Running): SqlError {
    const index = this.table.indexes.find((each) => each.id === id);
    assert(index !== undefined, `index ${id} belongs to ${this.table.name}`);
    const frame = newFrame(1, running, null);
    frame.rows[0] = rowOf(values);
    const key = index.parts.map(({ cell: at, expression }) =>
      expression === null ? (values[at] ?? null) : compileExpression(expression, this.#scope).evaluate(frame),
    );
    return this.#errors.duplicateKey(this.table, index, key);
  }

  *#afterUpdate(row: Row, values: readonly SqlValue[], columns: readonly number[], running: Running): Waiting<void> {
    const { children } = this.references;
    if (children.length > 0) yield* afterUpdate(this, children, row, values, columns, running);
  }

  /** Keys of deferrable constraints that were not free. */
  #recheck(result: Written, values: readonly SqlValue[], running: Running): void {
    const { row, rechecks = [] } = result;
    for (const id of rechecks) {
      const index = this.table.indexes.find((each) => each.id === id);
      assert(index !== undefined, `index ${id} belongs to ${this.table.name}`);
      const duplicate = this.duplicate(id, values, running);
      atEnd(running, {
        table: this.table.id,
        constraint: { table: this.table.id, name: index.name },
        deferral: index.deferral,
        *run({ view }) {
          if (!(yield* view.isUnique(row, id))) throw duplicate;
        },
      });
    }
  }
}

const nullConstant: Node = { A_Const: { isnull: true } };

function isLarge({ type }: Column): boolean {
  return type.name === 'int8' || type.name === 'uint8';
}

/** An ENUM that must not be NULL has its first label. @throws SqlError HY000 (1364), when it runs */
function withoutDefault({ name, type }: Column): Evaluate {
  const [first] = type.labels ?? [];
  if (first !== undefined) return () => first;
  return () => {
    throw new SqlError('HY000', `Field '${name}' doesn't have a default value`, { mysqlNumber: 1364 });
  };
}

function compileCheck(node: Node, scope: QueryScope): Evaluate {
  return coerceToBoolean(compileExpression(node, scope), 'CHECK', scope).evaluate;
}

/** An expression as a column takes it. @throws SqlError 42804 */
export function assigned(
  node: Node,
  column: Pick<Column, 'name' | 'type' | 'modifier'>,
  scope: QueryScope,
): Expression {
  return assignable(compileExpression(node, scope, column.type), column, scope);
}

type Assigned = Pick<Column, 'name' | 'type' | 'modifier'>;

export function assignable(expression: Expression, column: Assigned, scope: QueryScope): Expression {
  return columnRules[scope.dialect].assignable(expression, column, scope);
}

interface ColumnRules {
  readonly valueChecks: typeof mysqlValueChecks;
  readonly autoIncrement: (table: Table) => ReturnType<typeof autoIncrementOf>;
  readonly assignable: (expression: Expression, column: Assigned, scope: QueryScope) => Expression;
}

const columnRules: Readonly<Record<Dialect, ColumnRules>> = {
  postgres: { valueChecks: () => [], autoIncrement: () => null, assignable: coerced },
  mysql: {
    valueChecks: mysqlValueChecks,
    autoIncrement: autoIncrementOf,
    assignable: (expression, { name, type, modifier }, scope) =>
      (scope.planning.fitsValues ? fitted : strict)(expression, { name, type, modifier }, scope),
  },
};

function coerced(expression: Expression, { name, type, modifier }: Assigned, scope: QueryScope): Expression {
  try {
    const value = coerce(expression, type, modifier, 'assignment', scope);
    return type.domain === undefined ? value : constrained(value, type.domain, scope);
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== '42846') throw error;
    const message = `column "${name}" is of type ${typeTitle(type)} but expression is of type ${typeTitle(expression.type)}`;
    const hint = 'You will need to rewrite or cast the expression.';
    throw new SqlError('42804', message, { hint, routine: 'transformAssignedExpr' });
  }
}
