/** What the sessions of one database share: its tables, which queries of the recorder ask for, and the statements that wait for them. */
import type { Dialect } from '../sql/model/index.ts';
import { emptySchema, type RecordedSchema } from './schema.ts';
import { PlanCache } from './plan-cache.ts';

export interface RecorderOptions {
  /** Called with each line of the trace. */
  readonly write: (line: string) => void;
  /** Statements that wait for the schema; more are recorded with the tables that are known. Default 10,000. */
  readonly waitingMax?: number;
  /** Write every statement with its values and rows, too. Default false. */
  readonly keepsStatements?: boolean;
}

/** One database: its tables, and the sessions of its clients. */
export class DatabaseRecorder {
  readonly dialect: Dialect;
  readonly write: (line: string) => void;
  readonly keepsStatements: boolean;
  readonly #waitingMax: number;
  #cache: PlanCache;
  #state: 'unknown' | 'asked' | 'known' = 'unknown';
  #waiting: { readonly start: number; readonly record: () => void }[] = [];
  /** How many of those had their answers when the schema was asked for: it is that after their DDL. */
  #answered = 0;
  #changes = 0;
  /** Tables that statements have read or written. */
  readonly #used = new Set<string>();

  constructor(dialect: Dialect, { write, waitingMax = 10_000, keepsStatements = false }: RecorderOptions) {
    this.dialect = dialect;
    this.write = write;
    this.keepsStatements = keepsStatements;
    this.#waitingMax = waitingMax;
    this.#cache = new PlanCache(emptySchema(dialect));
  }

  get cache(): PlanCache {
    return this.#cache;
  }

  /** Should the next statement of an idle session be preceded by the query for the schema? The caller that asks it calls `asking` first. */
  get needsSchema(): boolean {
    return this.#state === 'unknown';
  }

  use(table: string): void {
    this.#used.add(table);
  }

  /** Of these tables (`*`: all; without a schema: in any) those of which the trace may have rows. O(tables that were used) */
  used(tables: readonly string[]): readonly string[] {
    if (tables.includes('*')) return this.#used.size === 0 ? [] : ['*'];
    return [...this.#used].filter((used) => tables.some((table) => used === table || used.endsWith(`.${table}`)));
  }

  asking(): void {
    this.#state = 'asked';
    this.#answered = this.#waiting.length;
  }

  learn(schema: RecordedSchema): void {
    this.#state = 'known';
    this.#cache = new PlanCache(schema);
    this.flush();
  }

  /** The schema cannot be read: what was known of it stays. */
  giveUp(): void {
    this.#state = 'known';
    this.flush();
  }

  /** A DDL statement has run. */
  forget(): void {
    this.#state = 'unknown';
  }

  /** +1: a DDL statement is sent. -1: it has its answer. */
  changing(by: 1 | -1): void {
    this.#changes += by;
  }

  /** Are the tables still those of a statement that is sent now? */
  get isCurrent(): boolean {
    return this.#state === 'known' && this.#changes === 0 && this.#waiting.length === 0;
  }

  /** Records the statements that wait, with what is known of the tables. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [i, { record }] of waiting.entries()) {
      record();
      if (this.#state === 'known') continue;
      // DDL. The statements after it wait for the tables as they are then.
      if (i < this.#answered) this.#state = 'known';
      else {
        this.#waiting = waiting.slice(i + 1);
        return;
      }
    }
  }

  /** The first start of what still waits for the schema; Infinity: nothing does. O(waiting). */
  get waitsSince(): number {
    return this.#waiting.reduce((least, { start }) => Math.min(least, start), Infinity);
  }

  /** Now, or when the schema is known. @param start of the earliest operation that will be written */
  whenKnown(start: number, record: () => void): void {
    if (this.#state === 'known' && this.#waiting.length === 0) {
      record();
      return;
    }
    this.#waiting.push({ start, record });
    if (this.#waiting.length > this.#waitingMax) this.end();
  }

  /** Nothing more will be learned about the tables. */
  end(): void {
    while (this.#waiting.length > 0) {
      this.#state = 'known';
      this.flush();
    }
  }
}
