/** A statement with its values and what came back, as the trace keeps it where that was asked for. What is long is left out, and said to be. */
import type { StatementValue, TraceStatement } from '../trace/index.ts';
import type { Dialect } from '../sql/model/index.ts';
import type { StatementEvent } from './statement-event.ts';
import type { StatementResult } from './statement-rows.ts';

export interface KeptLimits {
  /** Characters of a text of SQL, of a value, and of all values of one statement together. */
  readonly sqlMax: number;
  readonly valueMax: number;
  readonly valuesMax: number;
  readonly rowsMax: number;
}

const limitsDefault: KeptLimits = { sqlMax: 10_000, valueMax: 1_000, valuesMax: 65_536, rowsMax: 100 };

/** O(what is kept) */
export function keptStatement(
  session: string,
  transaction: string | null,
  dialect: Dialect,
  { sql, parameters, outcome }: StatementEvent,
  limits: KeptLimits = limitsDefault,
): TraceStatement {
  const values = new KeptValues(limits);
  const given = values.list(parameters);
  const [result] = outcome.kind === 'done' ? outcome.results : [];
  const kept = outcome.kind === 'done' ? resultOf(result, values, limits) : null;
  return {
    session,
    transaction,
    dialect,
    sql: sql.slice(0, limits.sqlMax),
    parameters: given,
    result: kept,
    code: outcome.kind === 'failed' ? outcome.code : null,
    isShortened: values.isShortened || sql.length > limits.sqlMax,
  };
}

function resultOf(
  result: StatementResult | undefined,
  values: KeptValues,
  { rowsMax }: KeptLimits,
): TraceStatement['result'] {
  if (result === undefined) return { columns: [], rows: [], count: 0 };
  const { columns, rowCount, cell, affected } = result;
  if (columns.length === 0) return { columns, rows: [], count: affected ?? 0 };
  const rows: (readonly StatementValue[])[] = [];
  for (let row = 0; row < Math.min(rowCount, rowsMax) && !values.isFull; row += 1)
    rows.push(values.list(columns.map((_, column) => cell(row, column))));
  if (rows.length < rowCount) values.isShortened = true;
  return { columns, rows, count: rowCount };
}

class KeptValues {
  isShortened = false;
  readonly #limits: KeptLimits;
  #characters = 0;

  constructor(limits: KeptLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#characters >= this.#limits.valuesMax;
  }

  list(values: readonly unknown[]): readonly StatementValue[] {
    const kept: StatementValue[] = [];
    for (const value of values) {
      if (this.isFull) {
        this.isShortened = true;
        break;
      }
      kept.push(this.#value(value));
    }
    return kept;
  }

  #value(value: unknown): StatementValue {
    this.#characters += 8;
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (Array.isArray(value)) return this.list(value as readonly unknown[]);
    const text = textOf(value);
    if (text === undefined || text.length > this.#limits.valueMax) {
      this.isShortened = true;
      return { length: text?.length ?? 0 };
    }
    this.#characters += text.length;
    return text;
  }
}

/** As drivers and protocols give values: texts, dates, bytes, documents. `undefined`: a binary of a type that is not known. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // it is in itself
  }
}
