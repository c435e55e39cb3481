/** One recording: all databases and connections that hooks or a proxy see, and the one trace that they write to. */
import type { Dialect } from '../sql/index.ts';
import { DatabaseRecorder, SessionRecorder } from './recorder.ts';
import { type SchemaRow, schemaOf, schemaQueries } from './schema.ts';

export interface RecordingOptions {
  /** Takes lines of the trace. */
  readonly write: (line: string) => void;
  /** Nanoseconds of a monotonic clock. */
  readonly now: () => number;
  /** Something that the user should know; a line each. */
  readonly warn: (message: string) => void;
}

export class Recording {
  readonly now: () => number;
  readonly #write: (line: string) => void;
  readonly #warn: (message: string) => void;
  readonly #databases = new Map<string, DatabaseRecorder>();
  readonly #names = new Map<string, number>();
  readonly #sessions = new Set<RecordedConnection>();

  constructor({ write, now, warn }: RecordingOptions) {
    this.now = now;
    this.#write = write;
    this.#warn = warn;
  }

  /** @param place what tells databases apart: host, port, name */
  database(dialect: Dialect, place: string): DatabaseRecorder {
    const found = this.#databases.get(place);
    if (found !== undefined) return found;
    const made = new DatabaseRecorder(dialect, { write: this.#write });
    this.#databases.set(place, made);
    return made;
  }

  /** @param id the server's name of the connection */
  connection(database: DatabaseRecorder, id: string): RecordedConnection {
    const uses = (this.#names.get(id) ?? 0) + 1;
    this.#names.set(id, uses);
    const name = uses === 1 ? id : `${id}.${uses}`;
    const made = new RecordedConnection(database, new SessionRecorder(name, database), this.#warn, () => {
      this.#sessions.delete(made);
    });
    this.#sessions.add(made);
    return made;
  }

  /** Ends every session; what still waits is written with what is known. */
  end(): void {
    for (const session of this.#sessions) session.close(this.now());
    for (const database of this.#databases.values()) database.end();
  }
}

/** A connection as a hook sees it: what is sent, then what comes back. */
export class RecordedConnection {
  readonly database: DatabaseRecorder;
  readonly recorder: SessionRecorder;
  readonly #warn: (message: string) => void;
  readonly #onClose: () => void;
  #isInTransaction = false;

  constructor(
    database: DatabaseRecorder,
    recorder: SessionRecorder,
    warn: (message: string) => void,
    onClose: () => void,
  ) {
    this.database = database;
    this.recorder = recorder;
    this.#warn = warn;
    this.#onClose = onClose;
  }

  /**
   * Before a statement is sent. @returns the query for the schema, to be sent first, or `null`. Never inside a transaction, whose
   * snapshot and level it would disturb; for that a look at the first word is enough.
   */
  schemaQueryBefore(sql: string): string | null {
    const isIdle = !this.#isInTransaction;
    if (beginning.test(sql)) this.#isInTransaction = true;
    else if (ending.test(sql)) this.#isInTransaction = false;
    if (!isIdle || !this.database.needsSchema) return null;
    this.database.asking();
    return schemaQueries[this.database.dialect];
  }

  /** The answer to the query for the schema; `null`: it failed. */
  learn(rows: readonly SchemaRow[] | null, why = ''): void {
    if (rows !== null) {
      this.database.learn(schemaOf(this.database.dialect, rows));
      return;
    }
    this.#warn(`the tables of the database cannot be read, so no rows are recorded: ${why}`);
    this.database.giveUp();
  }

  close(time: number): void {
    this.recorder.close(time);
    this.#onClose();
  }
}

const beginning = /^\s*(?:begin|start\s+transaction|set\s+(?:session\s+)?autocommit\s*=\s*0)\b/i;
const ending =
  /^\s*(?:commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b)|set\s+(?:session\s+)?autocommit\s*=\s*1)\b/i;
