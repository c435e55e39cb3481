/** Grants statements one at a time, each chosen among those that sessions have sent. The next is chosen when nothing moves by itself any more. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Arrival, Granted, type GrantedOptions } from './granted.ts';

export interface ChosenStepsOptions extends GrantedOptions {
  readonly sessions: number;
  /** One of these, of which each is of another connection. */
  readonly choose: (arrived: readonly Arrival[]) => Arrival;
}

/** For a session that awaits something other than the database: then others go first. */
const patienceMs = 1_000;

export class ChosenSteps {
  readonly departure = null;
  readonly #options: ChosenStepsOptions;
  readonly #granted: Granted;
  #arrived: readonly Arrival[] = [];
  readonly #ended = new Set<number>();

  constructor(options: ChosenStepsOptions) {
    this.#options = options;
    this.#granted = new Granted(options);
  }

  get granted(): readonly Arrival[] {
    return this.#granted.all;
  }

  get running(): readonly Arrival[] {
    return this.#granted.running;
  }

  arrived(arrival: Arrival): void {
    const arrived = [...this.#arrived, arrival];
    this.#arrived = arrived.toSorted((a, b) => a.session - b.session || a.ordinal - b.ordinal);
    this.#granted.changed();
  }

  /** The session has returned or thrown. */
  ended(session: number): void {
    this.#ended.add(session);
    this.#granted.changed();
  }

  changed(): void {
    this.#granted.changed();
  }

  /** Until all sessions have ended. */
  async run(): Promise<void> {
    for (;;) {
      await this.#granted.settle();
      await this.#quiet();
      if (this.#arrived.length > 0) this.#grant(this.#options.choose(this.#arrived));
      else if (this.#ended.size === this.#options.sessions) return;
      else await this.#granted.change();
    }
  }

  #grant(arrival: Arrival): void {
    this.#arrived = this.#arrived.filter((each) => each !== arrival);
    this.#granted.grant(arrival);
  }

  /** Until each session has ended, has sent a statement, or waits for a lock. */
  async #quiet(): Promise<void> {
    const end = new AbortController();
    const late = sleep(patienceMs, 'late', { signal: end.signal }).catch(() => 'late');
    try {
      while (!this.#isQuiet()) if ((await Promise.race([this.#granted.change(), late])) === 'late') return;
    } finally {
      end.abort();
    }
  }

  #isQuiet(): boolean {
    const sessions = Array.from({ length: this.#options.sessions }, (_, session) => session);
    return sessions.every(
      (session) =>
        this.#ended.has(session) ||
        this.#granted.isRunning(session) ||
        this.#arrived.some((arrival) => arrival.session === session),
    );
  }
}
