/** One recording: all databases and connections that hooks or a proxy see, and the one trace that they write to. */
import { formatLastMark, formatTraceMark } from '../trace/index.ts';
import type { Dialect } from '../sql/model/index.ts';
import { type Completion, completionOf, mayDefine } from './complete.ts';
import { DatabaseRecorder } from './database-recorder.ts';
import { SessionRecorder } from './session-recorder.ts';
import { type SchemaRow, schemaOf, schemaQueries } from './schema.ts';

export interface RecordingOptions {
  /** Takes lines of the trace. */
  readonly write: (line: string) => void;
  /** The CRC-32 of all bytes of the trace so far, for its last mark. Without it the mark has none. */
  readonly sum?: () => number;
  /** Nanoseconds of a monotonic clock. */
  readonly now: () => number;
  /** Something that the user should know; a line each. */
  readonly warn: (message: string) => void;
  /** Ask for the columns that name rows where the application does not: hooks only. Default false. */
  readonly completesReads?: boolean;
  /** Write every statement with its values and rows, too. Default false. */
  readonly keepsStatements?: boolean;
}

/** A statement that was asked and whose lines are not written yet. */
export interface Asked {
  readonly start: number;
  /** The database whose tables it may change. */
  changes: DatabaseRecorder | null;
}

/** What a hook knows of a client. */
interface ClientConnection {
  readonly database: DatabaseRecorder;
  /** The server's name of the connection. */
  readonly id: string;
  /** Calls the listener when the connection is gone. */
  readonly onEnd: (listener: () => void) => void;
}

export class Recording {
  readonly now: () => number;
  readonly #completesReads: boolean;
  readonly #keepsStatements: boolean;
  readonly #write: (line: string) => void;
  readonly #writeMark: (line: string) => void;
  readonly #sum: (() => number) | undefined;
  readonly #warn: (message: string) => void;
  readonly #databases = new Map<string, DatabaseRecorder>();
  readonly #names = new Map<string, number>();
  readonly #sessions = new Set<RecordedConnection>();
  readonly #asked = new Set<Asked>();
  #marked = -Infinity;
  /** Has something been written that the last mark does not cover? */
  #isBehind = false;
  #isOver = false;

  constructor({ write, sum, now, warn, completesReads = false, keepsStatements = false }: RecordingOptions) {
    this.now = now;
    this.#completesReads = completesReads;
    this.#keepsStatements = keepsStatements;
    this.#write = (line) => {
      this.#isBehind = true;
      write(line);
    };
    this.#writeMark = write;
    this.#sum = sum;
    this.#warn = warn;
  }

  /** @param place what tells databases apart: host, port, name */
  database(dialect: Dialect, place: string): DatabaseRecorder {
    const found = this.#databases.get(place);
    if (found !== undefined) return found;
    const made = new DatabaseRecorder(dialect, { write: this.#write, keepsStatements: this.#keepsStatements });
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

  /** The connections of a driver's clients, each made when it is first asked for. */
  connectionsOf<Client extends object>(
    describe: (client: Client) => ClientConnection,
  ): (client: Client) => RecordedConnection {
    const known = new WeakMap<Client, RecordedConnection>();
    return (client) => {
      const found = known.get(client);
      if (found !== undefined) return found;
      const { database, id, onEnd } = describe(client);
      const made = this.connection(database, id);
      known.set(client, made);
      onEnd(() => made.close(this.now()));
      return made;
    };
  }

  /** A statement is asked now. Until its lines are written, `answered` or not, no mark goes beyond it. */
  ask(start = this.now()): Asked {
    const asked = { start, changes: null };
    this.#asked.add(asked);
    return asked;
  }

  /** Its lines are written at once after this, or wait in a recorder. @returns now */
  answered(asked: Asked): number {
    this.#asked.delete(asked);
    asked.changes?.changing(-1);
    return this.now();
  }

  /** What would name the rows of a statement that is sent now, if that is wanted; `null`: nothing, or the tables may be about to change. */
  completionOf(database: DatabaseRecorder, sql: string, parameters: readonly unknown[]): Completion | null {
    return this.#completesReads && database.isCurrent ? completionOf(sql, parameters, database.cache) : null;
  }

  /** Until a statement that may change the tables has its answer, no statement is completed. */
  noteDefinition(asked: Asked, database: DatabaseRecorder, sql: string, parameters: readonly unknown[]): void {
    if (!this.#completesReads || !mayDefine(sql, parameters, database.cache)) return;
    asked.changes = database;
    database.changing(1);
  }

  /** Writes down up to which time the trace is complete, where that is news. O(statements under way). */
  mark(): void {
    if (!this.#isBehind) return;
    const now = this.now();
    const time = this.#markTime(now);
    this.#isBehind = time < now;
    if (time <= this.#marked) return;
    this.#marked = time;
    this.#writeMark(`${formatTraceMark(time)}\n`);
  }

  #markTime(now = this.now()): number {
    let time = now;
    for (const { start } of this.#asked) time = Math.min(time, start);
    for (const { waitsSince } of this.#databases.values()) time = Math.min(time, waitsSince);
    return time;
  }

  /** From here on the clock may be off by more than the trace has said. */
  declareClockError(clockError: number): void {
    this.#writeMark(`${formatTraceMark(this.#markTime(), clockError)}\n`);
  }

  /**
   * Ends every session; what still waits is written with what is known. Nothing may be recorded after it. Where statements are still under way
   * what they did is unknown: the trace is then complete up to the first of them.
   */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const session of this.#sessions) session.close(this.now());
    for (const database of this.#databases.values()) database.end();
    if (this.#asked.size > 0) this.mark();
    else this.#writeMark(`${formatLastMark(this.#sum?.() ?? null)}\n`);
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
