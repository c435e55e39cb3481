/** One run of a SQL program on the mock database: every session over its own driver, every decision from one list. */
import { monotonicMs } from '../base/clock.ts';
import type { History } from '../history/index.ts';
import type { Decisions } from '../mockdb/index.ts';
import { errorText, type SqlConnection, type SqlProgram } from '../program/index.ts';
import { connectTo, openSqlDatabase, type Profile, type SqlDatabase } from '../serve/index.ts';
import { type LoggedStatement, logged } from './statement-log.ts';

export interface SqlRunOptions {
  readonly profile: Profile;
  readonly decisions: Decisions;
  readonly seed: number;
  readonly abortRate: number;
  readonly timeoutMs: number;
  /** Keep what every statement did: for the run that is shown. */
  readonly isLogged?: boolean;
}

export type SqlRun =
  | {
      readonly kind: 'finished';
      /** What is wrong; `null` where the invariant holds. */
      readonly violation: string | null;
      readonly path: readonly number[];
      readonly marks: ReadonlyMap<string, boolean>;
      readonly statements: readonly LoggedStatement[];
      readonly history: () => History;
    }
  | { readonly kind: 'timeout'; readonly session: string };

/** @throws SqlError when the schema is at fault */
export async function runSqlProgram(program: SqlProgram, options: SqlRunOptions): Promise<SqlRun> {
  const { profile, decisions, seed, abortRate } = options;
  const database = await openSqlDatabase({ profile, decisions, seed, abortRate, holdsBack: 'always' });
  try {
    await prepareSchema(database, program);
    database.start();
    return await new Run(program, database, options).run();
  } finally {
    database.close();
  }
}

async function prepareSchema(database: SqlDatabase, { schema }: SqlProgram): Promise<void> {
  const session = database.connect({ user: 'schema', database: '', parameters: new Map(), onParameter: () => {} });
  for (const text of schema) for (const sql of session.split(text)) await session.execute(session.prepare(sql), []);
  session.close();
}

class Run {
  readonly #program: SqlProgram;
  readonly #database: SqlDatabase;
  readonly #options: SqlRunOptions;
  readonly #marks = new Map<string, boolean>();
  readonly #statements: LoggedStatement[] = [];
  readonly #left: Set<string>;

  constructor(program: SqlProgram, database: SqlDatabase, options: SqlRunOptions) {
    this.#program = program;
    this.#database = database;
    this.#options = options;
    this.#left = new Set(program.sessionNames);
  }

  async run(): Promise<SqlRun> {
    const deadline = monotonicMs() + this.#options.timeoutMs;
    const ended = await within(deadline, this.#sessions());
    if (ended === LATE) return { kind: 'timeout', session: [...this.#left][0] ?? '' };
    const violation = ended.error ?? (await within(deadline, this.#judge(ended.results)));
    if (violation === LATE) return { kind: 'timeout', session: 'the invariant' };
    return {
      kind: 'finished',
      violation,
      path: this.#options.decisions.path,
      marks: this.#marks,
      statements: this.#statements,
      history: () => this.#database.history(),
    };
  }

  async #sessions(): Promise<{ readonly error: string | null; readonly results: Record<string, unknown> }> {
    const results: Record<string, unknown> = {};
    let error: string | null = null;
    const run = async (name: string, index: number): Promise<void> => {
      try {
        results[name] = await this.#program.sessions[index]?.(this.#connection(name, false));
      } catch (thrown) {
        error ??= `session "${name}" failed: ${errorText(thrown)}`;
      }
      this.#left.delete(name);
    };
    await Promise.all(this.#program.sessionNames.map(run));
    return { error, results };
  }

  async #judge(results: Record<string, unknown>): Promise<string | null> {
    try {
      const result = await this.#program.invariant({ ...this.#connection('invariant', true), results });
      if (result === false) return 'the invariant does not hold';
      return typeof result === 'string' ? result : null;
    } catch (thrown) {
      return errorText(thrown);
    }
  }

  #connection(name: string, readsStrongly: boolean): SqlConnection {
    const onStatement = this.#options.isLogged === true ? { onStatement: this.#logging(name) } : {};
    return {
      name,
      connect: () => connectTo(this.#database, { name, readsStrongly, ...onStatement }),
      sometimes: (mark, condition = true) => void this.#marks.set(mark, condition || (this.#marks.get(mark) ?? false)),
    };
  }

  #logging(name: string): (event: Parameters<typeof logged>[0]) => void {
    return (event) => void this.#statements.push(logged(event, name));
  }
}

const LATE = Symbol('late');

async function within<T>(deadline: number, promise: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.max(0, deadline - monotonicMs()));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
