/** One run of a SQL program on a real server: each session over its own driver, through a gate of its own. */
import { before, InputError, LATE, monotonicMs, onUnhandledRejection } from '../base/index.ts';
import { errorText, type SqlConnection, type SqlProgram, violationOf } from '../program/index.ts';
import type { IsolationName } from '../sql/index.ts';
import { Gate, type Lost } from './gate.ts';
import { ChosenSteps } from './chosen-steps.ts';
import type { Arrival, GrantedOptions } from './granted.ts';
import { type Departure, LockStep, type Planned } from './lock-step.ts';
import { lostError, rulesOf } from './own-client.ts';
import type { Scratch } from './scratch.ts';
import { withoutClock } from './without-clock.ts';
import type { RealServer } from './server.ts';

/** Who goes when: one session after the other, or statement by statement. */
export type Order =
  | { readonly kind: 'serial'; readonly sessions: readonly number[] }
  | { readonly kind: 'planned'; readonly plan: readonly Planned[] }
  | {
      readonly kind: 'chosen';
      readonly choose: (arrived: readonly Arrival[]) => Arrival;
      readonly onAnswer: (arrival: Arrival) => void;
      /** A session has returned or thrown. */
      readonly onEnd: (session: number) => void;
    };

export interface ServerRun {
  /** In the order in which they were granted. */
  readonly statements: readonly Arrival[];
  /** What the invariant asked, in its order. */
  readonly asked: readonly Arrival[];
  readonly departure: Departure | null;
  /** Sessions that ended with an error, the first first. */
  readonly failures: readonly { readonly session: number; readonly error: string }[];
  /** What the invariant says is wrong; `null`: it holds, or was not asked since a session failed. */
  readonly violation: string | null;
  /** What the sessions were answered, and the rows of all tables, without the clock: two runs with the same text did the same. */
  readonly outcome: string;
  /** Connections of sessions, by the session's position. */
  readonly connections: ReadonlyMap<number, number>;
  /** It did not end in time: what was under way then. */
  readonly late: string | null;
}

export interface ServerRunOptions {
  readonly server: RealServer;
  readonly scratch: Scratch;
  readonly isolation: IsolationName;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** @throws InputError `replay/...`, `program/schema` */
export async function runOnServer(program: SqlProgram, order: Order, options: ServerRunOptions): Promise<ServerRun> {
  const { scratch } = options;
  await scratch.make(program.schema);
  const run = new Run(program, order, options);
  // What a session has sent and does not await may fail.
  const stopListening = onUnhandledRejection(() => {});
  try {
    return await run.run();
  } finally {
    await scratch.endConnections(run.abandon());
    stopListening();
  }
}

class Run {
  readonly #program: SqlProgram;
  readonly #order: Order;
  readonly #options: ServerRunOptions;
  readonly #steps: LockStep | ChosenSteps;
  readonly #gates: { readonly gate: Gate; readonly session: number }[] = [];
  readonly #failures: { session: number; error: string }[] = [];
  readonly #asked: Arrival[] = [];
  readonly #serial: Arrival[] = [];
  #onLost: (error: InputError) => void = () => {};

  constructor(program: SqlProgram, order: Order, options: ServerRunOptions) {
    this.#program = program;
    this.#order = order;
    this.#options = options;
    const { client } = options.scratch;
    const { waits, holders } = rulesOf[options.server.dialect];
    const asking: GrantedOptions = {
      waits: (ids) => waits(client, ids),
      describe: async (id, wait) => (holders === null ? wait : { ...wait, holders: await holders(client, id) }),
    };
    const sessions = program.sessions.length;
    this.#steps =
      order.kind === 'chosen'
        ? new ChosenSteps({ ...asking, sessions, choose: order.choose })
        : new LockStep({ ...asking, sessions, plan: order.kind === 'planned' ? order.plan : [] });
  }

  /** @returns the connections that were open */
  abandon(): number[] {
    const open = this.#gates.flatMap(({ gate }) => (gate.isOpen && gate.id !== null ? [gate.id] : []));
    for (const { gate } of this.#gates) gate.abandon();
    return open;
  }

  async run(): Promise<ServerRun> {
    const lost = new Promise<never>((_, reject) => {
      this.#onLost = reject;
    });
    lost.catch(() => {});
    const deadline = monotonicMs() + this.#options.timeoutMs;
    const { signal, scratch } = this.#options;
    this.#requireTime();
    const ended = await before(deadline, Promise.race([this.#finish(), lost, scratch.lost]), signal);
    this.#requireTime();
    return ended === LATE ? this.#result({ violation: null, tables: '', late: this.#underWay() }) : ended;
  }

  #requireTime(): void {
    if (this.#options.signal?.aborted === true) throw interrupted();
  }

  async #finish(): Promise<ServerRun> {
    const results = await (this.#order.kind === 'serial' ? this.#oneByOne(this.#order.sessions) : this.#inLockStep());
    const tables = await this.#tables();
    if (this.#failures.length > 0) return this.#result({ violation: null, tables, late: null });
    const violation = await this.#judge(results);
    return this.#result({ violation, tables, late: null });
  }

  async #oneByOne(sessions: readonly number[]): Promise<Record<string, unknown>> {
    const results = this.#noResults();
    for (const session of sessions) await this.#runSession(session, results);
    return results;
  }

  async #inLockStep(): Promise<Record<string, unknown>> {
    const results = this.#noResults();
    const sessions = this.#program.sessions.map(async (_, session) => {
      await this.#runSession(session, results);
      if (this.#order.kind === 'chosen') this.#order.onEnd(session);
      this.#steps.ended(session);
    });
    await Promise.all([...sessions, this.#steps.run()]);
    return results;
  }

  #noResults(): Record<string, unknown> {
    return Object.fromEntries(this.#program.sessionNames.map((name) => [name, undefined]));
  }

  async #runSession(session: number, results: Record<string, unknown>): Promise<void> {
    const name = this.#program.sessionNames[session] ?? '';
    try {
      results[name] = await this.#program.sessions[session]?.(this.#connection(name, session));
    } catch (thrown) {
      this.#failures.push({ session, error: errorText(thrown) });
    }
  }

  #connection(name: string, session: number): SqlConnection {
    return { name, connect: () => this.#gate(session).stream, sometimes: () => {} };
  }

  #gate(session: number): Gate {
    const { server, scratch, isolation } = this.#options;
    const name = this.#program.sessionNames[session];
    const whose = `the connection of ${name === undefined ? 'the invariant' : `session "${name}"`}`;
    const ordinal = this.#gates.filter((each) => each.session === session).length;
    let underWay: Arrival | null = null;
    const gate = new Gate({
      address: server,
      login: { user: server.user, password: server.password, database: scratch.database, isolation },
      tap: rulesOf[server.dialect].tap,
      onStatement: (sql, grant) => {
        underWay = { session, ordinal, sql, connection: gate.id ?? 0, grant, answer: null, wait: null, planned: [] };
        this.#arrived(underWay);
      },
      onAnswer: (answer) => {
        if (underWay === null) return;
        underWay.answer = answer;
        if (this.#order.kind === 'chosen' && session < this.#program.sessions.length) this.#order.onAnswer(underWay);
        this.#steps.changed();
      },
      onLost: (reason: Lost) => this.#onLost(lostError(reason, server, whose)),
    });
    this.#gates.push({ gate, session });
    return gate;
  }

  #arrived(arrival: Arrival): void {
    if (arrival.session < this.#program.sessions.length && this.#order.kind !== 'serial') {
      this.#steps.arrived(arrival);
      return;
    }
    (arrival.session < this.#program.sessions.length ? this.#serial : this.#asked).push(arrival);
    arrival.grant();
  }

  async #judge(results: Record<string, unknown>): Promise<string | null> {
    try {
      const end = { ...this.#connection('invariant', this.#program.sessions.length), results };
      return violationOf(await this.#program.invariant(end));
    } catch (thrown) {
      return errorText(thrown);
    }
  }

  /** The rows of all tables, in one order. */
  async #tables(): Promise<string> {
    const {
      scratch: { client },
      server,
    } = this.#options;
    const names = await client.query(rulesOf[server.dialect].tables);
    const tables: unknown[] = [];
    for (const { name } of names.rows) {
      const { rows } = await client.query(`SELECT * FROM ${String(name)}`);
      tables.push([name, rows.map((row) => JSON.stringify(Object.values(row))).toSorted()]);
    }
    return JSON.stringify(tables);
  }

  #underWay(): string {
    const names = this.#steps.running.map(
      ({ session, sql }) => `session "${this.#program.sessionNames[session]}": ${sql}`,
    );
    return names.length === 0 ? 'no statement was under way' : names.join('; ');
  }

  #result({ violation, tables, late }: Pick<ServerRun, 'violation' | 'late'> & { readonly tables: string }): ServerRun {
    const statements = this.#order.kind === 'serial' ? this.#serial : this.#steps.granted;
    const answers = this.#program.sessionNames.map((_, at) =>
      statements.filter(({ session }) => session === at).map(({ sql, answer }) => [sql, answer?.text]),
    );
    return {
      statements,
      asked: this.#asked,
      departure: this.#steps.departure,
      failures: this.#failures,
      violation,
      outcome: withoutClock(JSON.stringify([answers, tables])),
      connections: new Map(this.#gates.flatMap(({ gate: { id }, session }) => (id === null ? [] : [[id, session]]))),
      late,
    };
  }
}

export function interrupted(): InputError {
  return new InputError('replay/interrupted', 'interrupted');
}
