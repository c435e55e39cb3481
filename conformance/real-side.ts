/** A real server: clients on private connections, and a connection that asks the server who waits. */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Client } from '../test/sql-oracle/answer.ts';
import { sessionLevel } from './moirai-side.ts';
import type { Schedule, Side, Step } from './schedule.ts';
import { Sessions } from './sessions.ts';
import type { Dialect } from '../src/sql/model/index.ts';

/** Asks a server what it does. */
export interface Control {
  /** Empties the database; no other session is in a transaction. */
  empty(): Promise<void>;
  /** Empties the tables alone, where that is cheaper and leaves no more behind. */
  truncate?(tables: readonly string[]): Promise<void>;
  ask(sql: string): Promise<Answer>;
  /** Which of the sessions, given by position, wait for a lock. */
  waiting(sessions: readonly number[]): Promise<ReadonlySet<number>>;
  /** Ends what a session does and whatever it holds. */
  recover(session: number): Promise<void>;
  close(): Promise<void>;
}

export interface RealOptions {
  readonly name: string;
  readonly dialect: Dialect;
  readonly control: Control;
  readonly clients: readonly Client[];
  /** Sent to a session after a schedule. */
  readonly cleaning: readonly string[];
  /** After this time a session that waits has looked for a deadlock; it looks once. */
  readonly deadlockMs: number;
}

/** As often in a row the server has to say that all wait. */
const calmPolls = 2;
/** Of several that wait one may be about to be told of a deadlock. */
const patienceWithSeveral = 3;
const pollMs = 1;
const turnsToRecover = 50;
const turnsMax = 5_000;

export class RealSide implements Side {
  readonly name: string;
  readonly #options: RealOptions;
  #sessions: Sessions;
  /** The set-up whose tables are there, if no schedule has changed them. */
  #tablesOf: string | null = null;

  constructor(options: RealOptions) {
    this.name = options.name;
    this.#options = options;
    this.#sessions = new Sessions(options.clients);
  }

  async prepare(schedule: Schedule): Promise<Answer | null> {
    const { levels } = schedule;
    const { control, clients, dialect } = this.#options;
    for (const sql of await this.#emptied(schedule)) {
      const answer = await control.ask(sql);
      if (answer.kind === 'error') return answer;
    }
    for (const [i, level] of levels.entries()) await clients[i]?.ask({ sql: sessionLevel(dialect, level) });
    this.#sessions = new Sessions(clients);
    return null;
  }

  /** @returns what is left of the set-up */
  async #emptied({ setUp, keepsTables = false }: Schedule): Promise<readonly string[]> {
    const { control } = this.#options;
    const text = setUp.join(';');
    if (!keepsTables || control.truncate === undefined || text !== this.#tablesOf) {
      this.#tablesOf = keepsTables ? text : null;
      await control.empty();
      return setUp;
    }
    await control.truncate(setUp.flatMap((sql) => /^create table (\w+)/.exec(sql)?.[1] ?? []));
    return setUp.filter((sql) => sql.startsWith('insert'));
  }

  start(step: Step): void {
    this.#sessions.start(step);
  }

  async settle(): Promise<ReadonlyMap<number, Answer>> {
    const sessions = this.#sessions;
    let calm = 0;
    let answered = -1;
    let since = 0;
    while (sessions.running.length > 0) {
      await (calm === 0 && answered === -1 ? new Promise(setImmediate) : sleep(pollMs));
      const { running } = sessions;
      if (running.length === 0) break;
      const waiting = await this.#options.control.waiting(running);
      const isCalm = sessions.answered === answered && sessions.running.every((session) => waiting.has(session));
      if (!isCalm) {
        calm = 0;
        since = performance.now();
      } else calm += 1;
      answered = sessions.answered;
      const patience = sessions.running.length > 1 ? patienceWithSeveral : 1;
      const isLongEnough = performance.now() - since >= patience * this.#options.deadlockMs;
      if (calm >= calmPolls && isLongEnough) break;
    }
    return sessions.take();
  }

  ask(sql: string): Promise<Answer> {
    return this.#options.control.ask(sql);
  }

  async finish(): Promise<void> {
    const { control, clients, cleaning } = this.#options;
    const clean = async (session: number): Promise<void> => {
      for (const sql of cleaning) await clients[session]?.ask({ sql });
    };
    const unclean = new Set(clients.keys());
    // What they hold ends most of what others wait for.
    const cleanEnded = async (): Promise<void> => {
      for (const session of unclean) {
        if (this.#sessions.running.includes(session)) continue;
        unclean.delete(session);
        await clean(session);
      }
    };
    for (let turns = 0; ; turns += 1) {
      await cleanEnded();
      // A statement that ended meanwhile, by a lock that another session let go, leaves its session unclean.
      if (unclean.size === 0) return;
      const { running } = this.#sessions;
      if (turns === turnsMax) throw new Error(`${this.name} does not end the statement of session ${running.join()}`);
      // Once may be too early: before the statement waits.
      if (turns % turnsToRecover === 0) for (const session of running) await control.recover(session);
      await sleep(pollMs);
    }
  }

  async close(): Promise<void> {
    for (const client of this.#options.clients) await client.end();
    await this.#options.control.close();
  }
}
