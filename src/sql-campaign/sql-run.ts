/** One run of a SQL program on the mock database: every session over its own driver, every decision from one list. */
import { monotonicMs } from '../base/clock.ts';
import { before, LATE } from '../base/deadline.ts';
import type { History } from '../history/index.ts';
import type { Decisions } from '../mockdb/index.ts';
import { errorText, mark, type Marks, type SqlConnection, type SqlProgram } from '../program/index.ts';
import {
  connectTo,
  type FootprintRecorder,
  openSqlDatabase,
  type Profile,
  type SqlDatabase,
  type StatementEvent,
} from '../serve/index.ts';
import { type LoggedStatement, logged } from './statement-log.ts';

export interface SqlRunOptions {
  readonly profile: Profile;
  readonly decisions: Decisions;
  readonly seed: number;
  readonly abortRate: number;
  readonly timeoutMs: number;
  /** Keep what every statement did: for the run that is shown. */
  readonly isLogged?: boolean;
  /** Microseconds since 1970. Default: the machine's. */
  readonly clock?: () => bigint;
  /**
   * Decide only when every session of the program has sent a statement, or will not come for long: no schedule is lost because somebody was
   * still connecting.
   */
  readonly isThorough?: boolean;
  /** Told of the database before the sessions begin, and of each statement with the number of its connection. */
  readonly onOpen?: (database: SqlDatabase) => void;
  readonly onStatement?: (connection: number, event: StatementEvent) => void;
  /** Told when all sessions have ended and the invariant is about to be asked. */
  readonly onJudge?: () => void;
  readonly footprints?: FootprintRecorder;
}

export type SqlRun =
  | {
      readonly kind: 'finished';
      /** What is wrong; `null` where the invariant holds. */
      readonly violation: string | null;
      readonly path: readonly number[];
      readonly marks: Marks;
      readonly statements: readonly LoggedStatement[];
      /** What each session returned. */
      readonly results: Readonly<Record<string, unknown>>;
      readonly history: () => History;
    }
  | { readonly kind: 'timeout'; readonly session: string };

/** @throws SqlError when the schema is at fault */
export async function runSqlProgram(program: SqlProgram, options: SqlRunOptions): Promise<SqlRun> {
  const { profile, decisions, seed, abortRate, clock, isThorough = false } = options;
  let run: Run | null = null;
  const database: SqlDatabase = await openSqlDatabase({
    profile,
    decisions,
    seed,
    abortRate,
    holdsBack: 'always',
    ...(options.footprints === undefined ? {} : { footprints: options.footprints }),
    pauses: true,
    ...(clock === undefined ? {} : { clock }),
    ...(isThorough ? { settle: (callback) => settleWhen(() => run?.isComplete() ?? true, callback) } : {}),
  });
  try {
    await prepareSchema(database, program);
    // Where there is another connection, the scheduler waits for others.
    if (isThorough) database.connect({ user: 'nobody', database: '', parameters: new Map(), onParameter: () => {} });
    database.start();
    options.onOpen?.(database);
    run = new Run(program, database, options);
    return await run.run();
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
    const ended = await before(deadline, this.#sessions());
    if (ended === LATE) return { kind: 'timeout', session: [...this.#left][0] ?? '' };
    this.#options.onJudge?.();
    const violation = ended.error ?? (await before(deadline, this.#judge(ended.results)));
    if (violation === LATE) return { kind: 'timeout', session: 'the invariant' };
    return {
      kind: 'finished',
      violation,
      path: this.#options.decisions.path,
      marks: this.#marks,
      statements: this.#statements,
      results: ended.results,
      history: () => this.#database.history(),
    };
  }

  /** Has every session of the program that has not ended sent a statement? */
  isComplete(): boolean {
    return this.#database.scheduler.waiting().length >= this.#left.size;
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
    return {
      name,
      connect: () => connectTo(this.#database, { name, readsStrongly, ...this.#listener(name) }),
      sometimes: (what, condition = true) => mark(this.#marks, what, condition),
    };
  }

  /** What is told of the statements of one connection. */
  #listener(name: string): { readonly onStatement?: (event: StatementEvent) => void } {
    const { isLogged = false, onStatement } = this.#options;
    if (!isLogged && onStatement === undefined) return {};
    const listener = (event: StatementEvent): void => {
      if (isLogged) this.#statements.push(logged(event, name));
      const connection = this.#database.sessions.find((session) => session.onStatement === listener);
      if (connection !== undefined) onStatement?.(connection.id, event);
    };
    return { onStatement: listener };
  }
}

/** Waits three turns of the event loop at least, as the database does by itself, and more until all have come. */
function settleWhen(isComplete: () => boolean, callback: () => void): () => void {
  let turns = 0;
  let immediate = setImmediate(turn);
  function turn(): void {
    turns += 1;
    if (turns >= TURNS_MAX || (turns >= TURNS_MIN && isComplete())) callback();
    else immediate = setImmediate(turn);
  }
  return () => clearImmediate(immediate);
}

const TURNS_MIN = 3;
const TURNS_MAX = 40;
