/**
 * Grants statements one at a time, in the order of a plan. The next is granted when the server has answered the one before, or says that it waits for
 * a lock; what a session sends that the plan does not have is granted when nothing else can be.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { statementLine } from '../sql/index.ts';
import { type Arrival, Granted, type GrantedOptions } from './granted.ts';

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

export interface LockStepOptions extends GrantedOptions {
  readonly plan: readonly Planned[];
  readonly sessions: number;
}

/** For a session that awaits something other than the database: then others go first. */
const patienceMs = 1_000;

interface Step extends Planned {
  readonly at: number;
}

export class LockStep {
  departure: Departure | null = null;
  readonly #options: LockStepOptions;
  readonly #granted: Granted;
  #left: Step[];
  readonly #arrived: Arrival[] = [];
  readonly #ended = new Set<number>();

  constructor(options: LockStepOptions) {
    this.#options = options;
    this.#granted = new Granted(options);
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
    this.#granted.changed();
  }

  get granted(): readonly Arrival[] {
    return this.#granted.all;
  }

  get running(): readonly Arrival[] {
    return this.#granted.running;
  }

  /** Until all sessions have ended. */
  async run(): Promise<void> {
    for (;;) {
      await this.#granted.settle();
      if (this.#ended.size === this.#options.sessions && this.#arrived.length === 0) return;
      this.#passEnded();
      const step = this.#left.find(
        ({ session }) => this.#arrivalsOf(session).length > 0 || !this.#granted.isRunning(session),
      );
      const arrival = step === undefined ? this.#arrived[0] : await this.#arrivalOf(step);
      if (arrival !== undefined) this.#grant(arrival);
      else if (step === undefined || !this.#ended.has(step.session)) await this.#granted.change();
    }
  }

  #arrivalsOf(session: number): Arrival[] {
    return this.#arrived.filter((each) => each.session === session);
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
        if ((await Promise.race([this.#granted.change(), late])) === 'late') return this.#arrived[0];
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
    this.#granted.grant(arrival);
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
