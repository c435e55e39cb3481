/** What a client has sent on one connection, in order: statements wait until they are granted, the rest passes when those before it have. */
import type { Answer, GateTapOptions, ServerError } from './gate-tap.ts';
import { outcomeText } from '../sql-program/index.ts';

export interface Sent {
  readonly bytes: Uint8Array;
  /** `null`: no statement, it does not wait. */
  readonly sql: string | null;
  readonly isAnswered: boolean;
  /** Of its results, in words. */
  readonly outcomes: string[];
  error: ServerError | null;
}

export class StatementQueue<Item extends Sent> {
  readonly #options: Pick<GateTapOptions, 'toServer' | 'onStatement' | 'onAnswer'>;
  /** Not passed yet. */
  readonly #waiting: Item[] = [];
  /** Passed, and not answered. */
  readonly #underWay: Item[] = [];

  constructor(options: Pick<GateTapOptions, 'toServer' | 'onStatement' | 'onAnswer'>) {
    this.#options = options;
  }

  /** What the server answers now. */
  get answering(): Item | undefined {
    return this.#underWay[0];
  }

  push(sent: Item): void {
    this.#waiting.push(sent);
    if (this.#waiting.length === 1) this.#next();
  }

  /** The answer is whole. */
  answered(): void {
    const sent = this.#underWay.shift();
    if (sent !== undefined && sent.sql !== null) this.#options.onAnswer(answerOf(sent));
    this.#next();
  }

  /** A client may send statements ahead: each is announced when the one before is answered. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#underWay.some(({ sql }) => sql !== null)) return;
    if (first.sql === null) this.#pass(first);
    else this.#options.onStatement(first.sql, () => this.#pass(first));
  }

  #pass(sent: Item): void {
    this.#waiting.shift();
    if (sent.isAnswered) this.#underWay.push(sent);
    this.#options.toServer(sent.bytes);
    this.#next();
  }
}

function answerOf({ outcomes, error }: Sent): Answer {
  const text = error === null ? outcomes.join('; ') : outcomeText({ command: '', rowCount: 0, error }, null);
  return { text, error };
}
