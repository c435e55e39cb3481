/** Plans of statements by their text: parsing costs about 150 microseconds, and an application repeats few texts. */
import type { RecordedSchema } from './schema.ts';
import { planStatement } from './plan-statement.ts';
import type { Dialect } from '../sql/model/index.ts';
import { shapeOf } from './literals.ts';
import type { StatementPlan } from './statement-plan.ts';

/** Plans by text, the most used of the last `plansMax`; a new schema needs a new cache. O(1) but for the first time. */
export class PlanCache {
  readonly schema: RecordedSchema;
  readonly #plansMax: number;
  #recent = new Map<string, StatementPlan>();
  #older = new Map<string, StatementPlan>();

  constructor(schema: RecordedSchema, plansMax = 5_000) {
    this.schema = schema;
    this.#plansMax = plansMax;
  }

  get dialect(): Dialect {
    return this.schema.dialect;
  }

  /** The plan with the parameters that it is to be used with: those given, or the constants of the text. */
  lookup(
    sql: string,
    parameters: readonly unknown[],
  ): { readonly plan: StatementPlan; readonly parameters: readonly unknown[] } {
    const shape = parameters.length === 0 && !this.#recent.has(sql) ? shapeOf(sql, this.dialect) : null;
    if (shape !== null) {
      const plan = this.plan(shape.text);
      if (plan.kind !== 'opaque') return { plan, parameters: shape.values };
    }
    return { plan: this.plan(sql), parameters };
  }

  plan(sql: string): StatementPlan {
    const found = this.#recent.get(sql);
    if (found !== undefined) return found;
    const plan = this.#older.get(sql) ?? planStatement(sql, this.schema);
    if (this.#recent.size >= this.#plansMax) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(sql, plan);
    return plan;
  }
}
