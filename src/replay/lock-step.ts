/**
 * Grants statements one at a time, in the order of a plan. The next is granted when the server has answered the one before, or says that it waits for
 * a lock; what a session sends that the plan does not have is granted when nothing else can be.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { statementLine } from '../sql/index.ts';
import type { Answer } from './gate-tap.ts';
import type { Wait } from './server.ts';

/** A statement that a session has sent. */
export interface Arrival {
  /** By its position. */
  readonly session: number;
  readonly sql: string;
  /** Of the connection, as the server numbers it. */
  readonly connection: number;
  readonly grant: () => void;
  answer: Answer | null;
  /** What it waited for when it was granted. */
  wait: Wait | null;
  /** Positions in the plan. */
  planned: readonly number[];
}

export interface Planned {
  readonly session: number;
  readonly sql: string;
}

/** The first statement that is another one than planned. */
export interface Departure {
  readonly session: number;
  /** `null`: the plan has none left for the session. */
  readonly planned: string | null;
  /** `null`: the session ended. */
  readonly sent: string | null;
}

export interface LockStepOptions {
  readonly plan: readonly Planned[];
  readonly sessions: number;
  readonly waits: (connections: readonly number[]) => Promise<ReadonlyMap<number, Wait>>;
  /** Of a wait that lasts: with who holds the lock. */
  readonly describe: (connection: number, wait: Wait) => Promise<Wait>;
}

const pollMs = 3;
/** For a session that awaits something other than the database: then others go first. */
const patienceMs = 1_000;

interface Step extends Planned {
  readonly at: number;
}

export class LockStep {
  readonly granted: Arrival[] = [];
  departure: Departure | null = null;
  readonly #options: LockStepOptions;
  #left: Step[];
  readonly #arrived: Arrival[] = [];
  readonly #ended = new Set<number>();
  #onChange: (() => void)[] = [];

  constructor(options: LockStepOptions) {
    this.#options = options;
    this.#left = options.plan.map((step, at) => ({ ...step, at }));
  }

  arrived(arrival: Arrival): void {
    this.#arrived.push(arrival);
    this.changed();
  }

  /** The session has returned or thrown. */
  ended(session: number): void {
    this.#ended.add(session);
    this.changed();
  }

  /** A statement was answered. */
  changed(): void {
    const waiting = this.#onChange;
    this.#onChange = [];
    for (const resolve of waiting) resolve();
  }

  /** Statements that are granted and not answered. */
  get running(): readonly Arrival[] {
    return this.granted.filter(({ answer }) => answer === null);
  }

  /** Until all sessions have ended. */
  async run(): Promise<void> {
    for (;;) {
      await this.#settle();
      if (this.#ended.size === this.#options.sessions && this.#arrived.length === 0) return;
      this.#passEnded();
      const step = this.#left.find(({ session }) => this.#arrivalsOf(session).length > 0 || !this.#isRunning(session));
      const arrival = step === undefined ? this.#arrived[0] : await this.#arrivalOf(step);
      if (arrival !== undefined) this.#grant(arrival);
      else if (step === undefined || !this.#ended.has(step.session)) await this.#change();
    }
  }

  /** Until every statement that is granted is answered, or waits for a lock. */
  async #settle(): Promise<void> {
    let calm = 0;
    while (this.running.length > 0 && calm < 2) {
      await Promise.race([this.#change(), sleep(pollMs)]);
      const { running } = this;
      if (running.length === 0) return;
      const waits = await this.#options.waits(running.map(({ connection }) => connection));
      const areBlocked = running.every(({ answer, connection }) => answer === null && waits.has(connection));
      calm = areBlocked && !hasCircle(waits) ? calm + 1 : 0;
      if (calm === 2) for (const arrival of running) await this.#noteWait(arrival, waits.get(arrival.connection));
    }
  }

  async #noteWait(arrival: Arrival, wait: Wait | undefined): Promise<void> {
    if (arrival.wait === null && wait !== undefined)
      arrival.wait = await this.#options.describe(arrival.connection, wait);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #arrivalsOf(session: number): Arrival[] {
    return this.#arrived.filter((each) => each.session === session);
  }

  #isRunning(session: number): boolean {
    return this.running.some((each) => each.session === session);
  }

  #passEnded(): void {
    const over = this.#left.filter(({ session }) => this.#ended.has(session));
    const [first] = over;
    if (first !== undefined) this.#depart({ session: first.session, planned: first.sql, sent: null });
    this.#left = this.#left.filter((step) => !over.includes(step));
  }

  /** What the session of this step sends; of another one, where it sends nothing for long. */
  async #arrivalOf(step: Step): Promise<Arrival | undefined> {
    const { session } = step;
    const find = (): Arrival | undefined => {
      const arrived = this.#arrivalsOf(session);
      return arrived.find((each) => isCovered(each.sql, [step])) ?? arrived[0];
    };
    const end = new AbortController();
    const late = sleep(patienceMs, 'late', { signal: end.signal }).catch(() => 'late');
    try {
      for (;;) {
        const found = find();
        if (found !== undefined || this.#ended.has(session)) return found;
        if ((await Promise.race([this.#change(), late])) === 'late') return this.#arrived[0];
      }
    } finally {
      end.abort();
    }
  }

  #grant(arrival: Arrival): void {
    const ofSession = this.#left.filter(({ session }) => session === arrival.session);
    const { passed, done } = matched(arrival.sql, ofSession);
    const [expected = null] = ofSession;
    if (done.length === 0 || passed.length > 0 || !isCovered(arrival.sql, done))
      this.#depart({ session: arrival.session, planned: expected?.sql ?? null, sent: arrival.sql });
    arrival.planned = done.map(({ at }) => at);
    this.#left = this.#left.filter((step) => !passed.includes(step) && !done.includes(step));
    this.#arrived.splice(this.#arrived.indexOf(arrival), 1);
    this.granted.push(arrival);
    arrival.grant();
  }

  #depart(departure: Departure): void {
    this.departure ??= departure;
  }
}

interface Matched {
  /** The session leaves these out. */
  readonly passed: readonly Step[];
  readonly done: readonly Step[];
}

/** Which of the planned statements of its session this is: the next, a later one, or the next with a change, such as a lock that was added. */
function matched(sql: string, planned: readonly Step[]): Matched {
  for (const from of planned.keys()) {
    const rest = planned.slice(from);
    const covered = coveredBy(sql, rest);
    if (covered > 0) return { passed: planned.slice(0, from), done: rest.slice(0, covered) };
  }
  const [next] = planned;
  const isChanged = next !== undefined && verbOf(next.sql) === verbOf(sql);
  return { passed: [], done: isChanged ? [next] : [] };
}

function isCovered(sql: string, planned: readonly Step[]): boolean {
  return coveredBy(sql, planned) > 0;
}

function verbOf(sql: string): string | undefined {
  return /^\w+/.exec(statementLine(sql).toLowerCase())?.[0];
}

/** How many of the planned statements `sql` is: several, where a client sends them as one. */
function coveredBy(sql: string, planned: readonly Planned[]): number {
  let rest = textOf(sql);
  for (const [at, each] of planned.entries()) {
    const text = textOf(each.sql);
    if (rest === text) return at + 1;
    if (!rest.startsWith(`${text};`)) return 0;
    rest = rest.slice(text.length + 1).trim();
  }
  return 0;
}

function textOf(sql: string): string {
  return statementLine(sql).replace(/\s*;$/, '');
}

/** A deadlock: the server is about to end one of them. */
function hasCircle(waits: ReadonlyMap<number, Wait>): boolean {
  return [...waits.keys()].some((start) => {
    const reached = new Set<number>();
    const from = [...(waits.get(start)?.holders ?? [])];
    for (let next = from.pop(); next !== undefined; next = from.pop()) {
      if (next === start) return true;
      if (reached.has(next)) continue;
      reached.add(next);
      from.push(...(waits.get(next)?.holders ?? []));
    }
    return false;
  });
}
