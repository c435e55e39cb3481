/** Runs a transaction's steps against a database: its original statements, with parameters and conditions computed from arguments and results. */
import type { Dialect, Statement, Step, Value } from './application.ts';
import { quotedName } from './engines.ts';
import type { ProgramClient, QueryResult } from './program-client.ts';

/** What a unit is called with, by the names of its arguments. */
export type Arguments = Readonly<Record<string, unknown>>;

/** What a client saw of one run: each statement's rows and counts, in order, and how it ended. */
export interface Ran {
  readonly end: 'committed' | 'aborted';
  readonly saw: readonly QueryResult[];
}

/** @throws RefusedStatement, after which the transaction is to be rolled back */
export async function runSteps(
  steps: readonly Step[],
  given: Arguments,
  client: ProgramClient,
  dialect: Dialect,
): Promise<Ran> {
  const run = new Run(given, client, dialect);
  const end = await run.through(steps);
  return { end: end === 'abort' ? 'aborted' : 'committed', saw: run.saw };
}

type End = 'open' | 'return' | 'abort';

class Run {
  readonly saw: QueryResult[] = [];
  readonly #arguments: Arguments;
  readonly #client: ProgramClient;
  readonly #dialect: Dialect;
  readonly #results = new Map<string, QueryResult>();
  readonly #elements = new Map<string, unknown>();

  constructor(given: Arguments, client: ProgramClient, dialect: Dialect) {
    this.#dialect = dialect;
    this.#arguments = given;
    this.#client = client;
  }

  async through(steps: readonly Step[]): Promise<End> {
    for (const step of steps) {
      const end = await this.#step(step);
      if (end !== 'open') return end;
    }
    return 'open';
  }

  async #step(step: Step): Promise<End> {
    switch (step.kind) {
      case 'statement':
        await this.#statement(step);
        return 'open';
      case 'branch':
        return this.through(isTrue(this.#value(step.condition)) ? step.ifTrue : step.ifFalse);
      case 'loop': {
        const over = this.#value(step.over);
        for (const element of Array.isArray(over) ? (over as unknown[]) : []) {
          this.#elements.set(step.name, element);
          const end = await this.through(step.steps);
          if (end !== 'open') return end;
        }
        return 'open';
      }
      case 'savepoint':
        await this.#client.query(`SAVEPOINT ${quotedName(step.name, this.#dialect)}`);
        return 'open';
      case 'rollback-to-savepoint':
        await this.#client.query(`ROLLBACK TO SAVEPOINT ${quotedName(step.name, this.#dialect)}`);
        return 'open';
      case 'abort':
      case 'return':
        return step.kind;
      case 'not-understood':
        return 'open';
    }
  }

  async #statement({ sql, parameters, result }: Statement): Promise<void> {
    const answer = await this.#client.query(
      sql,
      parameters.map((value) => this.#value(value)),
    );
    this.saw.push(answer);
    if (result !== null) this.#results.set(result, answer);
  }

  #value(value: Value): unknown {
    switch (value.kind) {
      case 'argument':
        return this.#arguments[value.name] ?? null;
      case 'column': {
        const { rows } = this.#results.get(value.statement) ?? { rows: [] };
        return value.row === 'all' ? rows.map((row) => row[value.column]) : (rows[0]?.[value.column] ?? null);
      }
      case 'rows':
        return this.#results.get(value.statement)?.rows ?? [];
      case 'row-count':
        return this.#results.get(value.statement)?.count ?? 0;
      case 'element': {
        const element = this.#elements.get(value.loop);
        if (value.field === null) return element ?? null;
        return (element as Record<string, unknown> | undefined)?.[value.field] ?? null;
      }
      case 'constant':
        return value.value;
      case 'expression':
        return computed(
          value.operator,
          value.operands.map((operand) => this.#value(operand)),
        );
      case 'unknown':
        return null;
    }
  }
}

function isTrue(value: unknown): boolean {
  return value !== null && value !== false && value !== 0 && value !== '';
}

type Operator = (a: number, b: number) => unknown;
const arithmetic: Readonly<Record<string, Operator>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? null : a / b),
  '%': (a, b) => (b === 0 ? null : a % b),
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Of a function of which nothing is known: its first operand, which is one such function. */
function computed(operator: string, operands: readonly unknown[]): unknown {
  const [first = null, second = null] = operands;
  if (operator === 'and') return operands.every(isTrue);
  if (operator === 'or') return operands.some(isTrue);
  if (operator === 'not') return !isTrue(first);
  if (operator === 'is null') return first === null;
  if (operator === '||') return `${String(first)}${String(second)}`;
  if (operator === '=') return String(first) === String(second);
  if (operator === '<>') return String(first) !== String(second);
  const compute = arithmetic[operator];
  if (compute === undefined) return first;
  return operands.length === 1 && operator === '-' ? -Number(first) : compute(Number(first), Number(second));
}
