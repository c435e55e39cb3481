/** `moirai explore --on` and `test --on`: schedules that moirai chooses and a real server executes, statement by statement. */
import { Budget, InputError } from '../base/index.ts';
import { defaultIsolation } from '../database/index.ts';
import { type KnownTables, TextFootprints } from '../explore/sql/index.ts';
import type { SqlProgram } from '../program/index.ts';
import type { IsolationName } from '../sql/index.ts';
import { EveryOrder, type OrdersTried, RandomOrders } from './orders-tried.ts';
import { requireDialect, rulesOf } from './own-client.ts';
import { Scratch } from './scratch.ts';
import type { RealServer } from './server.ts';
import { runOnServer, type ServerRun } from './server-run.ts';
import { waitText } from './verdict.ts';

export interface ExploreOnOptions {
  readonly server: RealServer;
  /** Of transactions that name none; `null`: the engine's default. */
  readonly isolation: IsolationName | null;
  readonly search: Search;
  /** Of all runs. */
  readonly timeMaxMs: number;
  /** Of one. */
  readonly timeoutMs: number;
  /** Stop at the first run that fails? */
  readonly failsFast: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called after each run that is no repetition. */
  readonly onRun?: (run: ServerRun) => void;
}

export type Search =
  /** Each order of statements; `reduces`: one of those that differ in the order of steps without a conflict. */
  | { readonly kind: 'every'; readonly reduces: boolean; readonly schedulesMax: number | null }
  | { readonly kind: 'random'; readonly runs: number; readonly seed: number };

export interface ServerFailure {
  readonly message: string;
  /** How many schedules end with it. */
  readonly schedules: number;
  /** Of the first. */
  readonly statements: readonly FailedStatement[];
  /** Of the first: its seed, where schedules are random. */
  readonly seed: number | null;
}

export interface FailedStatement {
  readonly session: string;
  readonly sql: string;
  readonly answer: string;
  /** What it waited for. */
  readonly waited: string | null;
}

export interface ExploredOn {
  /** `PostgreSQL 15.18`. */
  readonly server: string;
  readonly isolation: IsolationName;
  readonly schedules: number;
  /** Runs that turned out to differ from others only in the order of steps without a conflict. */
  readonly repetitions: number;
  /** Different answers, and rows at the end. */
  readonly outcomes: number;
  readonly failing: number;
  /** By message. */
  readonly failures: readonly ServerFailure[];
  /** Why not every schedule was run; `null`: every one was. */
  readonly stopped: string | null;
  /** What no schedule has shown, so that nothing green can be said: a session was silent, a statement always failed. */
  readonly missing: string | null;
  /** Were schedules drawn, and not every one tried? */
  readonly isRandom: boolean;
  /** What leaving out schedules takes for granted. */
  readonly assumed: string | null;
  readonly leftOver: readonly string[];
}

/** @throws InputError `replay/...`, `program/schema` */
export async function exploreOn(program: SqlProgram, options: ExploreOnOptions): Promise<ExploredOn> {
  const { server, isolation } = options;
  requireDialect(program, server);
  return await Scratch.use(server, async (scratch) => {
    const level = isolation ?? defaultIsolation[program.dialect];
    await scratch.make(program.schema);
    const { search } = options;
    const orders =
      search.kind === 'random'
        ? new RandomOrders(search)
        : new EveryOrder(program, search, new TextFootprints(await tablesOf(scratch, server), level));
    const exploring = new Exploration(program, options, scratch, level, orders);
    await exploring.run();
    return exploring.result();
  });
}

/** What the server says of the schema that was made. */
async function tablesOf({ client }: Scratch, { dialect }: RealServer): Promise<KnownTables> {
  const { rows } = await client.query(rulesOf[dialect].schemaParts);
  const of = (kind: string) =>
    rows
      .filter((row) => row['kind'] === kind)
      .map((row) => [String(row['a']).toLowerCase(), String(row['b']).toLowerCase()] as const);
  return {
    names: new Set(of('table').map(([name]) => name)),
    links: of('link'),
    isAnyHidden: of('hidden').length > 0,
  };
}

class Exploration {
  readonly #program: SqlProgram;
  readonly #options: ExploreOnOptions;
  readonly #scratch: Scratch;
  readonly #isolation: IsolationName;
  readonly #orders: OrdersTried;
  readonly #outcomes = new Set<string>();
  readonly #failures = new Map<string, ServerFailure>();
  /** Sessions that have sent a statement in some run. */
  readonly #heard = new Set<number>();
  /** Statements by their session and text: has one of them succeeded? */
  readonly #succeeded = new Map<string, boolean>();
  #schedules = 0;
  #repetitions = 0;
  #failing = 0;
  #stopped: string | null = null;

  constructor(
    program: SqlProgram,
    options: ExploreOnOptions,
    scratch: Scratch,
    isolation: IsolationName,
    orders: OrdersTried,
  ) {
    this.#program = program;
    this.#options = options;
    this.#scratch = scratch;
    this.#isolation = isolation;
    this.#orders = orders;
  }

  async run(): Promise<void> {
    const { server, timeMaxMs, timeoutMs, signal } = this.#options;
    const budget = new Budget({ timeMaxMs, ...(signal === undefined ? {} : { signal }) });
    const options = { server, scratch: this.#scratch, isolation: this.#isolation, timeoutMs, signal };
    do {
      this.#stopped = budget.over === 'time' ? 'the time is over' : this.#orders.stopped;
      if (this.#stopped !== null) return;
      const run = await runOnServer(this.#program, this.#orders.order(), options).catch(ifInterrupted);
      if (run === null) this.#stopped = 'interrupted';
      else this.#note(run, this.#orders.ended());
    } while (this.#stopped === null && !this.#hasEnough && this.#orders.next());
  }

  get #hasEnough(): boolean {
    return this.#options.failsFast && this.#failing > 0;
  }

  #note(run: ServerRun, isRepetition: boolean): void {
    if (run.late !== null) this.#stopped = `a run did not end in time: ${run.late}`;
    this.#stopped ??= this.#orders.diverged;
    if (this.#stopped !== null) return;
    if (isRepetition) {
      this.#repetitions += 1;
      return;
    }
    this.#schedules += 1;
    this.#outcomes.add(run.outcome);
    for (const { session, sql, answer } of run.statements) {
      this.#heard.add(session);
      const key = `session "${this.#program.sessionNames[session]}": ${sql}`;
      this.#succeeded.set(key, this.#succeeded.get(key) === true || answer?.error === null);
    }
    this.#options.onRun?.(run);
    const message = this.#faultOf(run);
    if (message !== null) this.#fails(message, run);
  }

  #faultOf({ violation, failures: [failure] }: ServerRun): string | null {
    if (failure === undefined) return violation;
    return `session "${this.#program.sessionNames[failure.session]}" failed: ${failure.error}`;
  }

  #fails(message: string, run: ServerRun): void {
    this.#failing += 1;
    const known = this.#failures.get(message);
    const { seed } = this.#orders;
    this.#failures.set(
      message,
      known === undefined
        ? { message, schedules: 1, statements: statementsOf(this.#program, run), seed }
        : { ...known, schedules: known.schedules + 1 },
    );
  }

  #missing(): string | null {
    if (this.#schedules === 0) return null;
    const silent = this.#program.sessionNames.find((_, session) => !this.#heard.has(session));
    if (silent !== undefined) return `session "${silent}" sent no statement`;
    const [failing] = [...this.#succeeded].find(([, hasSucceeded]) => !hasSucceeded) ?? [];
    return failing === undefined ? null : `a statement failed in every schedule: ${failing}`;
  }

  result(): ExploredOn {
    const { version, leftOver } = this.#scratch;
    const first = this.#hasEnough ? 'at the first failing schedule' : null;
    return {
      server: version,
      isolation: this.#isolation,
      schedules: this.#schedules,
      repetitions: this.#repetitions,
      outcomes: this.#outcomes.size,
      failing: this.#failing,
      failures: [...this.#failures.values()],
      stopped: this.#stopped ?? first,
      missing: this.#missing(),
      isRandom: this.#options.search.kind === 'random',
      assumed: this.#orders.assumed,
      leftOver,
    };
  }
}

function ifInterrupted(error: unknown): null {
  if (error instanceof InputError && error.code === 'replay/interrupted') return null;
  throw error;
}

function statementsOf(program: SqlProgram, run: ServerRun): FailedStatement[] {
  const ofSessions = run.statements.map(({ session, sql, answer, wait }) => ({
    session: program.sessionNames[session] ?? '',
    sql,
    answer: answer?.text ?? 'no answer',
    waited: wait === null ? null : waitText(program, wait, run),
  }));
  const ofInvariant = run.asked.map(({ sql, answer }) => ({
    session: 'invariant',
    sql,
    answer: answer?.text ?? 'no answer',
    waited: null,
  }));
  return [...ofSessions, ...ofInvariant];
}
