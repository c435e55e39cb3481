/** What a witness gives to parameters that nothing decides: a value that their column takes. */
import { type Column, columnNamed } from '../sql/index.ts';
import type { AnyStep, Statement, Step, Value } from './application.ts';
import { argumentFor } from './column-values.ts';
import { statementsIn } from './paths.ts';
import { indexColumns, uniqueIndexes } from './row-keys.ts';
import type { Schema } from './schema.ts';
import { StatementColumns } from './statement-columns.ts';
import { statementTree } from './statement-tree.ts';

export class ParameterColumns {
  readonly #schema: Schema;
  readonly #found = new Map<string, StatementColumns | null>();

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** @param at from 0 */
  of({ sql }: Statement, at: number): { readonly column: Column; readonly isKey: boolean } | undefined {
    const found = this.#columnsOf(sql)?.parameters.get(at + 1);
    const column = found === undefined ? undefined : columnNamed(found.table, found.column, this.#schema.dialect);
    if (found === undefined || column === undefined) return undefined;
    const isKey = uniqueIndexes(found.table).some((index) => indexColumns(found.table, index).includes(column.name));
    return { column, isKey };
  }

  /** Columns that statements fill from a clock, a sequence or chance. */
  computedAnew(steps: readonly AnyStep[]): readonly string[] {
    return statementsIn(steps).flatMap(({ sql }) => [...(this.#columnsOf(sql)?.computedAnew ?? [])]);
  }

  /** Of a text that was analyzed: it parses. */
  #columnsOf(sql: string): StatementColumns | null {
    const known = this.#found.get(sql);
    if (known !== undefined) return known;
    const tree = statementTree(sql, this.#schema.dialect);
    const found = tree === null ? null : new StatementColumns(tree, this.#schema);
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
    const taken = argumentFor(found.column, found.isKey ? this.#keys++ : this.#amount);
    return taken === undefined ? value : { kind: 'constant', value: taken };
  }
}

const firstKey = 700;
