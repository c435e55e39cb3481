/** Runs a transaction's steps against a database: its original statements, with parameters and conditions computed from arguments and results. */
import { type IsolationName, quotedName } from '../sql/index.ts';
import type { AnyStep, Dialect, Statement, Transaction, Value } from './application.ts';
import { engineOf } from './engines.ts';
import { statementsIn } from './paths.ts';
import { computed, fails, isTrue } from './compute-value.ts';
import { type ProgramClient, type QueryResult, RefusedStatement } from '../sql-program/index.ts';

/** What a unit is called with, by the names of its arguments. */
export type Arguments = Readonly<Record<string, unknown>>;

/** What a client saw of one run: each statement's rows and counts, in order, and how it ended. */
export interface Ran {
  /** `partial`: a unit ended with an error after one of its transactions had committed writes. */
  readonly end: 'committed' | 'aborted' | 'partial';
  readonly saw: readonly QueryResult[];
  /** Statements that changed rows. */
  readonly wrote: readonly Write[];
  /** What the conditions came to, of steps and of values. */
  readonly decided: readonly boolean[];
  /** Did an optimistic lock find no row, with nothing written besides? The code says so to its caller. */
  readonly isRefused: boolean;
}

/** A statement with what its parameters were. */
export interface Write {
  readonly statement: Statement;
  readonly given: readonly unknown[];
}

/** Of a `WitnessSession`: what runs. */
interface RanSession {
  readonly steps: readonly AnyStep[];
  readonly arguments: Arguments;
  readonly guards: readonly string[];
}

/** @throws RefusedStatement, after which the transaction is to be rolled back */
export async function runSteps(
  { steps, ...session }: RanSession,
  client: ProgramClient,
  dialect: Dialect,
): Promise<Ran> {
  const run = new Run(session, client, dialect, null);
  const end = await run.through(steps);
  return run.ran(end === 'abort' ? 'aborted' : 'committed');
}

/** A unit's steps in transactions of their own, as the application runs them. @param level of those that name none */
export async function runUnit(
  { steps, ...session }: RanSession,
  client: ProgramClient,
  dialect: Dialect,
  level: IsolationName,
): Promise<Ran> {
  const run = new Run(session, client, dialect, level);
  try {
    const end = await run.through(steps);
    return run.ran(end === 'abort' && !run.hasWritten ? 'aborted' : 'committed');
  } catch (error) {
    if (!(error instanceof RefusedStatement)) throw error;
    await client.query('ROLLBACK');
    return ranInVain(run.hasWritten ? 'partial' : 'aborted');
  }
}

/** A run that an error ended. */
export function ranInVain(end: 'partial' | 'aborted'): Ran {
  return { end, saw: [], wrote: [], decided: [], isRefused: false };
}

type End = 'open' | 'return' | 'abort';

class Run {
  readonly #saw: QueryResult[] = [];
  readonly #wrote: Write[] = [];
  readonly #decided: boolean[] = [];
  readonly #arguments: Arguments;
  readonly #guards: readonly string[];
  #hasMissed = false;
  readonly #client: ProgramClient;
  readonly #dialect: Dialect;
  readonly #results = new Map<string, QueryResult>();
  /** Results that statements with a handler do not have, because they failed. */
  readonly #failed = new Set<string>();
  readonly #elements = new Map<string, unknown>();
  /** Has a transaction that wrote committed? */
  hasWritten = false;
  /** Of the transactions of a unit that name none; `null`: one transaction is around all steps. */
  readonly #pieceLevel: IsolationName | null;
  #isInTransaction: boolean;

  constructor(
    { arguments: given, guards }: Omit<RanSession, 'steps'>,
    client: ProgramClient,
    dialect: Dialect,
    pieceLevel: IsolationName | null,
  ) {
    this.#pieceLevel = pieceLevel;
    this.#isInTransaction = pieceLevel === null;
    this.#dialect = dialect;
    this.#arguments = given;
    this.#guards = guards;
    this.#client = client;
  }

  ran(end: Ran['end']): Ran {
    const isRefused = this.#hasMissed && this.#wrote.length === 0;
    return { end, saw: this.#saw, wrote: this.#wrote, decided: this.#decided, isRefused };
  }

  async through(steps: readonly AnyStep[]): Promise<End> {
    for (const [at, step] of steps.entries()) {
      const end = await this.#stepOrHandler(step, steps.slice(at + 1));
      if (end !== 'behind') return end;
    }
    return 'open';
  }

  /** `behind`: the steps behind it are to run. A statement that fails has a handler behind it, or ends them all. */
  async #stepOrHandler(step: AnyStep, later: readonly AnyStep[]): Promise<End | 'behind'> {
    try {
      const end = await this.#step(step);
      return end === 'open' ? 'behind' : end;
    } catch (error) {
      const isHandled = (one: AnyStep): boolean =>
        step.kind === 'statement' && one.kind === 'branch' && this.#isFailureOf(one.condition, step);
      const handler = later.findIndex(isHandled);
      if (!(error instanceof RefusedStatement) || this.#isInTransaction || handler < 0) throw error;
      if (step.kind === 'statement') this.#failed.add(step.result ?? '');
      return this.through(later.slice(handler));
    }
  }

  #isFailureOf(condition: Value, { result }: Statement): boolean {
    if (condition.kind !== 'expression' || condition.operator !== fails) return false;
    return condition.operands.some((one) => one.kind === 'row-count' && one.statement === result);
  }

  async #step(step: AnyStep): Promise<End> {
    switch (step.kind) {
      case 'statement':
        await (this.#isInTransaction ? this.#statement(step) : this.#autocommit(step));
        return 'open';
      case 'transaction':
        return this.#transaction(step);
      case 'branch':
        return this.through(this.#decide(this.#value(step.condition)) ? step.ifTrue : step.ifFalse);
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

  /** An abort in a transaction of a unit is a throw, which ends the unit. */
  async #transaction({ level, steps }: Transaction): Promise<End> {
    if (this.#pieceLevel === null) {
      const end = await this.through(steps);
      return end === 'return' ? 'open' : end;
    }
    const end = await this.#inTransaction(level ?? this.#pieceLevel, () => this.through(steps));
    if (end === 'abort') return end;
    this.hasWritten ||= statementsIn(steps).some(({ sql }) => !isSelect(sql));
    return 'open';
  }

  async #autocommit(statement: Statement): Promise<void> {
    const level = this.#pieceLevel;
    if (level === null || level === engineOf[this.#dialect].defaultIsolation) await this.#statement(statement);
    else
      await this.#inTransaction(level, async () => {
        await this.#statement(statement);
        return 'open';
      });
    this.hasWritten ||= !isSelect(statement.sql);
  }

  async #inTransaction(level: IsolationName, work: () => Promise<End>): Promise<End> {
    for (const sql of engineOf[this.#dialect].begin(level)) await this.#client.query(sql);
    this.#isInTransaction = true;
    const end = await work();
    this.#isInTransaction = false;
    await this.#client.query(end === 'abort' ? 'ROLLBACK' : 'COMMIT');
    return end;
  }

  async #statement(statement: Statement): Promise<void> {
    const { sql, parameters, result } = statement;
    const given = parameters.map((value) => this.#value(value));
    const answer = await this.#client.query(sql, given);
    this.#saw.push(answer);
    this.#hasMissed ||= answer.count === 0 && this.#guards.includes(sql);
    if (answer.count > 0 && !isSelect(sql)) this.#wrote.push({ statement, given });
    if (result !== null) this.#results.set(result, answer);
  }

  #decide(condition: unknown): boolean {
    const decided = isTrue(condition);
    this.#decided.push(decided);
    return decided;
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
      case 'expression': {
        if (value.operator === fails)
          return this.#decide(
            value.operands.some((one) => one.kind === 'row-count' && this.#failed.has(one.statement)),
          );
        const operands = value.operands.map((operand) => this.#value(operand));
        const result = computed(value.operator, operands);
        return typeof result === 'boolean' ? this.#decide(result) : result;
      }
      case 'unknown':
        return null;
    }
  }
}

function isSelect(sql: string): boolean {
  return /^\s*select\b/i.test(sql);
}
