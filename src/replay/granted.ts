/** Statements that a server was given: which are answered, and which wait for a lock. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './gate-tap.ts';
import type { Wait } from './server.ts';

/** A statement that a session has sent. */
export interface Arrival {
  /** By its position. */
  readonly session: number;
  /** Which connection of the session it comes over, from 0. */
  readonly ordinal: number;
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

export interface GrantedOptions {
  readonly waits: (connections: readonly number[]) => Promise<ReadonlyMap<number, Wait>>;
  /** Of a wait that lasts: with who holds the lock. */
  readonly describe: (connection: number, wait: Wait) => Promise<Wait>;
}

const pollMs = 3;

export class Granted {
  /** In the order in which they were granted. */
  readonly all: Arrival[] = [];
  readonly #options: GrantedOptions;
  #onChange: (() => void)[] = [];

  constructor(options: GrantedOptions) {
    this.#options = options;
  }

  /** Not answered. */
  get running(): readonly Arrival[] {
    return this.all.filter(({ answer }) => answer === null);
  }

  isRunning(session: number): boolean {
    return this.running.some((each) => each.session === session);
  }

  grant(arrival: Arrival): void {
    this.all.push(arrival);
    arrival.grant();
  }

  /** A statement was sent or answered, or a session has ended. */
  changed(): void {
    const waiting = this.#onChange;
    this.#onChange = [];
    for (const resolve of waiting) resolve();
  }

  change(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  /** Until every statement that was granted is answered, or waits for a lock. */
  async settle(): Promise<void> {
    let calm = 0;
    while (this.running.length > 0 && calm < 2) {
      await Promise.race([this.change(), sleep(pollMs)]);
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
