/** Clients of one database, one for each session: what is under way, and what has been answered. */
import type { Answer, Client } from '../test/sql-oracle/answer.ts';
import type { Step } from './schedule.ts';

export class Sessions {
  readonly #clients: readonly Client[];
  readonly #running = new Set<number>();
  #answers = new Map<number, Answer>();

  constructor(clients: readonly Client[]) {
    this.#clients = clients;
  }

  /** Sessions that have not been answered. */
  get running(): readonly number[] {
    return [...this.#running];
  }

  /** How many answers have not been taken. */
  get answered(): number {
    return this.#answers.size;
  }

  start({ session, sql, isOrdered }: Step): void {
    const client = this.#clients[session];
    if (client === undefined) throw new Error(`there is no session ${session}`);
    this.#running.add(session);
    void this.#run(session, client.ask({ sql, isOrdered }));
  }

  async #run(session: number, asked: Promise<Answer>): Promise<void> {
    const answer = await asked.catch(
      (error: unknown): Answer => ({ kind: 'error', code: `broken connection`, message: String(error) }),
    );
    this.#running.delete(session);
    this.#answers.set(session, answer);
  }

  take(): ReadonlyMap<number, Answer> {
    const answers = this.#answers;
    this.#answers = new Map();
    return answers;
  }
}
