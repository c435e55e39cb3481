/** What a witness gives to parameters that nothing decides: a value that their column takes. */
import { type Column, columnNamed, statementTree, type Table } from '../sql/index.ts';
import type { AnyStep, Statement, Step, Value } from './application.ts';
import { asArgument, type RowValue } from './column-values.ts';
import { statementsIn } from './paths.ts';
import { indexColumns, uniqueIndexes } from './row-keys.ts';
import type { Schema } from './schema.ts';
import { ColumnDomain } from './searches/column-domain.ts';
import { type Search, searchesOf } from './searches/statement-searches.ts';
import { TableChecks } from './searches/table-checks.ts';
import { StatementColumns } from './statement-columns.ts';

export interface ColumnOfParameter {
  readonly table: Table;
  readonly column: Column;
  readonly isKey: boolean;
  /** Of an inserted row or an assignment; otherwise it is compared with the column. */
  readonly isWritten: boolean;
}

interface ReadStatement {
  readonly columns: StatementColumns;
  readonly searches: readonly Search[];
}

export class ParameterColumns {
  readonly #schema: Schema;
  readonly #checks = new TableChecks();
  readonly #found = new Map<string, ReadStatement | null>();

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** @param at from 0 */
  of({ sql }: Statement, at: number): ColumnOfParameter | undefined {
    const found = this.#read(sql)?.columns.parameters.get(at + 1);
    if (found === undefined) return undefined;
    const column = columnNamed(found.table, found.column, this.#schema.dialect);
    if (column === undefined) return undefined;
    const isKey = uniqueIndexes(found.table).some((index) => indexColumns(found.table, index).includes(column.name));
    return { table: found.table, column, isKey, isWritten: found.isWritten };
  }

  searches({ sql }: Statement): readonly Search[] {
    return this.#read(sql)?.searches ?? [];
  }

  /** A value that the column takes, the constraints of its table considered. @param others of the same row, as far as they are decided */
  valueOf(
    { table, column }: ColumnOfParameter,
    n: number,
    others: ReadonlyMap<string, RowValue>,
  ): RowValue | undefined {
    const domain = new ColumnDomain(column);
    for (const { column: own, sign, value } of this.#checks.of(table)) {
      if (own.name !== column.name) continue;
      if (value.kind === 'constant') domain.ask({ sign, value: value.value });
      if (value.kind === 'list') domain.ask({ sign: sign === '=' ? '=' : '<>', values: value.values });
      const other = value.kind === 'column' ? others.get(value.column.name) : undefined;
      if (other !== undefined) domain.ask({ sign, value: other });
    }
    return asArgument(domain.pick(n) ?? undefined, n);
  }

  /** What its columns are computed from, and into which tables it inserts. */
  assigned({ sql }: Statement): Pick<StatementColumns, 'derived' | 'inserted'> {
    return this.#read(sql)?.columns ?? { derived: [], inserted: new Set() };
  }

  /** Columns that statements fill from a clock, a sequence or chance. */
  computedAnew(steps: readonly AnyStep[]): readonly string[] {
    return statementsIn(steps).flatMap(({ sql }) => [...(this.#read(sql)?.columns.computedAnew ?? [])]);
  }

  /** Of a text that was analyzed: it parses. */
  #read(sql: string): ReadStatement | null {
    const known = this.#found.get(sql);
    if (known !== undefined) return known;
    const tree = statementTree(sql, this.#schema.dialect);
    const found =
      tree === null
        ? null
        : { columns: new StatementColumns(tree, this.#schema), searches: searchesOf(tree, this.#schema) };
    this.#found.set(sql, found);
    return found;
  }
}

/** Values in place of what is not known of parameters: clocks, random numbers. One is for all steps of all instances: keys differ. */
export class DecidedSteps {
  readonly #columns: ParameterColumns;
  readonly #amount: number;
  #keys = firstKey;

  constructor(columns: ParameterColumns, amount: number) {
    this.#columns = columns;
    this.#amount = amount;
  }

  of(steps: readonly AnyStep[]): readonly AnyStep[] {
    return steps.map((step): AnyStep => {
      switch (step.kind) {
        case 'statement':
          return { ...step, parameters: step.parameters.map((value, at) => this.#decided(value, step, at)) };
        case 'branch':
          return { ...step, ifTrue: this.of(step.ifTrue), ifFalse: this.of(step.ifFalse) };
        case 'loop':
          return { ...step, steps: this.of(step.steps) };
        case 'transaction':
          // The steps of a transaction are changed in their values, not in kind.
          return { ...step, steps: this.of(step.steps) as readonly Step[] };
        default:
          return step;
      }
    });
  }

  #decided(value: Value, statement: Statement, at: number): Value {
    if (value.kind === 'expression')
      return { ...value, operands: value.operands.map((operand) => this.#decided(operand, statement, at)) };
    const found = value.kind === 'unknown' ? this.#columns.of(statement, at) : undefined;
    if (found === undefined) return value;
    const taken = this.#columns.valueOf(found, found.isKey ? this.#keys++ : this.#amount, new Map());
    return taken === undefined ? value : { kind: 'constant', value: taken };
  }
}

const firstKey = 700;
