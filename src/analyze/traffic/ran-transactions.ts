/** Recorded statements as the transactions that they were: which statements each ran, with which values, and how it ended. */
import type { StatementResultKept, StatementValue, TraceStatement } from '../../trace/index.ts';
import type { Dialect } from '../../sql/model/index.ts';
import type { IsolationName } from '../../sql/index.ts';
import type { Place } from '../application.ts';
import { Roles } from './session-statements.ts';
import { type Shape, shapeOf } from './statement-shape.ts';

/** A statement with the place that stands for it: in the program, or in the trace. */
export interface PlacedStatement extends TraceStatement {
  readonly place: Place;
}

export interface RanTransaction {
  readonly session: string;
  readonly place: Place;
  /** `null`: the database's default. */
  readonly level: IsolationName | null;
  readonly isAutocommit: boolean;
  readonly events: readonly RanEvent[];
  readonly end: 'commit' | 'abort' | 'cut';
}

export type RanEvent = RanStatement | SavepointEvent;

export interface SavepointEvent {
  readonly kind: 'savepoint' | 'rollback-to';
  readonly key: string;
  readonly name: string;
}

export interface RanStatement {
  readonly kind: 'statement';
  /** Equal for statements of one shape. */
  readonly key: string;
  readonly shape: Shape;
  readonly place: Place;
  /** By slot: parameters, then constants of the text. */
  readonly values: readonly StatementValue[];
  readonly result: StatementResultKept;
}

export interface RanTraffic {
  readonly transactions: readonly RanTransaction[];
  /** `null`: there was no statement. */
  readonly dialect: Dialect | null;
  readonly counts: TrafficCounts;
  /** Statements that were too long to keep. */
  readonly shortened: readonly Place[];
}

export interface TrafficCounts {
  readonly statements: number;
  /** Those beyond the first of many that sent the same statements. */
  readonly repeated: number;
  /** Those that the server rolled back: serialization failures, deadlocks, time limits. */
  readonly refused: number;
  /** CREATE, ALTER, DROP: taken for the set-up. */
  readonly ddl: number;
}

export interface RanTransactionsOptions {
  /** Transactions with the same statements that are kept; of more nothing else is learned. Default 1,000. */
  readonly sameMax?: number;
}

/** O(length of the texts); texts and their shapes are kept once. */
export class RanTransactions {
  readonly #sameMax: number;
  /** By the statements that they sent: how many there were. */
  readonly #same = new Map<string, number>();
  readonly #roles = new Roles();
  readonly #shapes = new Map<string, Shape>();
  readonly #open = new Map<string, Opened>();
  /** By session: the level of transactions that name none. */
  readonly #sessionLevels = new Map<string, IsolationName>();
  /** By session: the level of its next transaction alone. */
  readonly #nextLevels = new Map<string, IsolationName>();
  readonly #done: RanTransaction[] = [];
  readonly #shortened: Place[] = [];
  #statements = 0;
  #repeated = 0;
  #refused = 0;
  #ddl = 0;
  #dialect: Dialect | null = null;

  constructor({ sameMax = 1_000 }: RanTransactionsOptions = {}) {
    this.#sameMax = sameMax;
  }

  take(statement: PlacedStatement): void {
    const { session, transaction, sql, dialect, code } = statement;
    this.#statements += 1;
    this.#dialect ??= dialect;
    const role = this.#roles.of(sql, dialect);
    if (role.kind === 'session-mode' && role.level !== null) this.#sessionLevels.set(session, role.level);
    if (role.kind === 'next-mode' && role.level !== null && code === null) this.#nextLevels.set(session, role.level);
    if (role.kind === 'ddl') this.#ddl += 1;
    if (transaction === null) return;
    const open = this.#opened(statement, transaction);
    switch (role.kind) {
      case 'begin':
      case 'mode':
        open.isAutocommit = false;
        if (code !== null) open.hasFailed = true;
        else if (role.level !== null) open.level = role.level;
        return;
      case 'commit':
      case 'rollback':
        this.#finish(session, role.kind === 'commit' && code === null && !open.hasFailed ? 'commit' : 'abort');
        return;
      case 'savepoint':
        open.events.push(open.savepoint(role.kind, role.name));
        return;
      case 'rollback-to':
        open.hasFailed = false;
        open.events.push(open.savepoint(role.kind, role.name));
        return;
      case 'data':
        this.#data(statement, open);
        return;
      case 'ddl':
      case 'neutral':
      case 'release':
      case 'next-mode':
      case 'session-mode':
    }
  }

  finish(): RanTraffic {
    // Autocommit statements, and what the trace ends in.
    for (const session of this.#open.keys()) this.#leave(session);
    return {
      transactions: this.#done,
      dialect: this.#dialect,
      counts: {
        statements: this.#statements,
        repeated: this.#repeated,
        refused: this.#refused,
        ddl: this.#ddl,
      },
      shortened: this.#shortened,
    };
  }

  #opened({ session, place }: PlacedStatement, transaction: string): Opened {
    const open = this.#open.get(session);
    if (open?.id === transaction) return open;
    this.#leave(session);
    const made = new Opened(
      transaction,
      place,
      this.#nextLevels.get(session) ?? this.#sessionLevels.get(session) ?? null,
    );
    this.#nextLevels.delete(session);
    this.#open.set(session, made);
    return made;
  }

  #data(statement: PlacedStatement, open: Opened): void {
    const { sql, dialect, parameters, result, code, isShortened, place } = statement;
    if (result === null) {
      open.hasFailed = true;
      if (code !== null && refusals.test(code)) open.isRefused = true;
      else if (code === null) open.isLost = true;
      return;
    }
    if (isShortened && sql.length >= textMax) {
      this.#shortened.push(place);
      return;
    }
    const shape = this.#shapeOf(sql, dialect);
    const bound = Array.from({ length: shape.parameters }, (_, at) => parameters[at] ?? null);
    open.events.push({
      kind: 'statement',
      key: shape.key,
      shape,
      place,
      values: [...bound, ...shape.constants],
      result,
    });
  }

  /** Another transaction of the session, or none any more. */
  #leave(session: string): void {
    const open = this.#open.get(session);
    if (open !== undefined) this.#finish(session, open.isAutocommit ? 'commit' : 'cut');
  }

  #finish(session: string, end: RanTransaction['end']): void {
    const open = this.#open.get(session);
    this.#open.delete(session);
    if (open === undefined) return;
    if (open.isRefused) {
      this.#refused += 1;
      return;
    }
    const { place, level, isAutocommit, events, isLost } = open;
    if (!events.some(({ kind }) => kind === 'statement')) return;
    const key = `${level} ${end} ${events.map((event) => event.key).join('\n')}`;
    const count = (this.#same.get(key) ?? 0) + 1;
    this.#same.set(key, count);
    if (count > this.#sameMax) {
      this.#repeated += 1;
      return;
    }
    // Several statements in one message are one transaction without BEGIN.
    const isAlone = isAutocommit && events.length === 1;
    this.#done.push({ session, place, level, isAutocommit: isAlone, events, end: isLost ? 'cut' : end });
  }

  #shapeOf(sql: string, dialect: Dialect): Shape {
    const known = this.#shapes.get(sql);
    if (known !== undefined) return known;
    const found = shapeOf(sql, dialect);
    if (this.#shapes.size < shapesMax) this.#shapes.set(sql, found);
    return found;
  }
}

/** PostgreSQL's transaction_rollback, lock_not_available and query_canceled; MySQL's deadlock and lock wait timeout, MariaDB's 1020. */
const refusals = /^(?:40\w{3}|55P03|57014|1213|1205|1020|HY000\/1020)$/;
const shapesMax = 20_000;
/** Of a text, as the recorder keeps them. */
const textMax = 10_000;

class Opened {
  readonly id: string;
  readonly place: Place;
  readonly events: RanEvent[] = [];
  readonly #savepoints: string[] = [];
  level: IsolationName | null;
  isAutocommit = true;
  hasFailed = false;
  isRefused = false;
  isLost = false;

  constructor(id: string, place: Place, level: IsolationName | null) {
    this.id = id;
    this.place = place;
    this.level = level;
  }

  /** Libraries make up names: they are numbered. */
  savepoint(kind: SavepointEvent['kind'], name: string): SavepointEvent {
    if (!this.#savepoints.includes(name)) this.#savepoints.push(name);
    const numbered = `s${this.#savepoints.indexOf(name) + 1}`;
    return { kind, key: `${kind} ${numbered}`, name: numbered };
  }
}
