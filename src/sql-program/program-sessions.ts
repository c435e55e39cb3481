/**
 * The sessions of one run: which connection belongs to which, what each has done, and whether one has ended with work open. A connection
 * belongs to the session that made it.
 */
import { InputError } from '../base/index.ts';
import type { Session, SqlDatabase, StatementEvent } from '../database/index.ts';
import { errorText, type SessionRun } from '../program/index.ts';
import type { Absent } from './arrivals.ts';
import { type SessionFailure, SessionRecord } from './session-record.ts';

export class ProgramSessions {
  readonly #database: SqlDatabase;
  readonly #onFault: (fault: InputError) => void;
  readonly #records: ReadonlyMap<string, SessionRecord>;
  /** The connections of the program's sessions, by number. */
  readonly #connections = new Map<number, Connection>();

  /** @param onFault called with what makes the run worthless: the program's fault */
  constructor(names: readonly string[], database: SqlDatabase, onFault: (fault: InputError) => void) {
    this.#database = database;
    this.#onFault = onFault;
    this.#records = new Map(names.map((name) => [name, new SessionRecord(name)]));
  }

  // ---- called by the run

  /** A timer that the session left armed connects. */
  connectedLate(name: string): void {
    if (!this.#record(name).hasThrown)
      this.#onFault(
        new InputError(
          'program/statement-under-way',
          `session "${name}" left a timer armed, which connects to the database after it has returned: is an await missing?`,
        ),
      );
  }

  connected(name: string, session: Session): void {
    const record = this.#record(name);
    this.#connections.set(session.id, { record, session });
    session.watch.onArrival = (sql) => this.#arrived(record, sql);
    session.watch.onClose = (status) => record.closed(status);
  }

  ended(connection: number, event: StatementEvent): void {
    const owner = this.#connections.get(connection);
    if (owner === undefined) return;
    if (!event.isStep) this.#arrived(owner.record, event.sql);
    owner.record.ended(connection, event, owner.session.transactionStatus);
  }

  decided(ready: readonly number[]): void {
    const records = new Set(ready.map((id) => this.#connections.get(id)?.record).filter((each) => each !== undefined));
    if (records.size > 1) for (const record of records) record.hasOverlapped = true;
  }

  waits(blockers: readonly number[], reason: string, waiter: number): void {
    const name = this.#connections.get(waiter)?.record.name ?? '';
    for (const { record, session } of this.#connections.values()) {
      if (record.stage !== 'ended') continue;
      if (blockers.includes(session.transactionNumber)) this.#onFault(leftOpenAndAwaited(record, name, reason));
      if (blockers.includes(-session.id)) this.#onFault(leftLocked(record, name, reason));
    }
  }

  /** The function of this session has returned or thrown. What it has sent may still be on its way. */
  leaving(name: string): void {
    this.#record(name).stage = 'leaving';
  }

  left(name: string, outcome: { readonly thrown: unknown } | null): void {
    const record = this.#record(name);
    record.left(outcome);
    if (outcome === null) this.#checkWork(record);
    for (const { session, wait } of this.#database.scheduler.waiting())
      if (wait !== null && !wait.isReady()) this.waits(wait.blockers, wait.reason, session);
  }

  /** How the session that threw this has failed. */
  failure(name: string, thrown: unknown): SessionFailure {
    return { session: name, error: errorText(thrown), isRetryable: this.#record(name).endedWithRetryable };
  }

  /** A promise that nothing awaits was rejected. */
  rejected(reason: unknown): void {
    const text = reason instanceof Error ? reason.message : String(reason);
    for (const record of this.#records.values()) {
      const failed = record.failed.find(({ message }) => text.includes(message));
      if (failed !== undefined) return this.#onFault(unawaited(record.name, failed));
    }
    this.#onFault(
      new InputError('program/uncaught', `a promise was rejected and nothing awaits it: ${errorText(reason)}`),
    );
  }

  // ---- asked by the run

  /** Has the session a statement under way? */
  isBusy(name: string): boolean {
    const record = this.#record(name);
    return [...this.#connections.values()].some(
      ({ record: owner, session }) =>
        owner === record && (session.watch.statement !== null || this.#database.scheduler.isBusy(session.id)),
    );
  }

  /** The sessions that have neither ended nor sent the statement that they wait for. */
  absent(): Absent[] {
    const here = new Set(
      this.#database.scheduler.waiting().map(({ session }) => this.#connections.get(session)?.record),
    );
    return [...this.#records.values()]
      .filter((record) => record.stage === 'leaving' || (record.stage === 'running' && !here.has(record)))
      .map(({ name, statements }) => ({ session: name, statements }));
  }

  /** The session that keeps the others waiting: one that has not sent its next statement, or else the first; `null`: all have returned. */
  get late(): string | null {
    const running = [...this.#records.values()].filter(({ stage }) => stage === 'running').map(({ name }) => name);
    const absent = new Set(this.absent().map(({ session }) => session));
    const name = running.find((each) => absent.has(each)) ?? running[0];
    return name === undefined ? null : `session "${name}"`;
  }

  /** A statement that waits for another connection, and for which; of several, one that waits for its own session. `null`: none does. */
  get waiting(): string | null {
    const connections = [...this.#connections.values()];
    const waits = this.#database.scheduler.waiting().flatMap(({ session, wait }) => {
      const waiter = this.#connections.get(session);
      if (waiter === undefined || wait === null || wait.isReady()) return [];
      const holders = connections.filter((each) => isAmong(each.session, wait.blockers));
      return holders.map((holder) => ({ waiter, reason: wait.reason, holder }));
    });
    const first = waits.find(({ waiter, holder }) => waiter.record === holder.record) ?? waits[0];
    return first === undefined ? null : waitText(first);
  }

  runs(): SessionRun[] {
    return [...this.#records.values()].map((record) => record.run());
  }

  #record(name: string): SessionRecord {
    return this.#records.get(name) as SessionRecord;
  }

  #arrived(record: SessionRecord, sql: string): void {
    record.arrived(sql);
    if (record.stage === 'ended' && !record.hasThrown)
      this.#onFault(
        new InputError(
          'program/statement-under-way',
          `session "${record.name}" sent a statement after it had returned: is an await missing? ${shortened(sql)}`,
        ),
      );
  }

  /** A session that returned must have no statement under way and no transaction open. An idle connection, as pools keep, is fine. */
  #checkWork(record: SessionRecord): void {
    for (const { record: owner, session } of this.#connections.values()) {
      if (owner !== record) continue;
      const { statement } = session.watch;
      if (statement !== null || this.#database.scheduler.isBusy(session.id))
        return this.#onFault(underWay(record, statement ?? record.lastStatement));
      if (session.transactionStatus === 'open') return this.#onFault(leftOpen(record));
    }
  }
}

interface Connection {
  readonly record: SessionRecord;
  readonly session: Session;
}

/** Does this connection hold what they stand for, by its transaction or by itself? */
function isAmong({ id, transactionNumber }: Session, blockers: readonly number[]): boolean {
  return blockers.includes(-id) || (transactionNumber > 0 && blockers.includes(transactionNumber));
}

interface ConnectionWait {
  readonly waiter: Connection;
  readonly reason: string;
  readonly holder: Connection;
}

function waitText({ waiter: { record, session }, reason, holder }: ConnectionWait): string {
  const { name, lastStatement } = record;
  const statement = shortened(session.watch.statement ?? lastStatement);
  const who = holder.record === record ? 'another connection of its own' : `session "${holder.record.name}"`;
  const isOpen = holder.session.transactionStatus !== 'idle' && holder.session.watch.statement === null;
  return `session "${name}" waits for ${reason}, which ${who}${isOpen ? ', whose transaction is open,' : ''} holds: ${statement}`;
}

function underWay({ name }: SessionRecord, sql: string): InputError {
  return new InputError(
    'program/statement-under-way',
    `session "${name}" returned with a statement under way: is an await missing? ${shortened(sql)}`,
  );
}

function leftOpen({ name, lastStatement }: SessionRecord): InputError {
  return new InputError(
    'program/transaction-open',
    `session "${name}" returned with a transaction open: is an await or a COMMIT missing? Its last statement: ${shortened(lastStatement)}`,
  );
}

function leftOpenAndAwaited(
  { name, lastStatement, failure }: SessionRecord,
  waiter: string,
  reason: string,
): InputError {
  return new InputError(
    'program/transaction-open',
    `session "${name}" ended (${failure ?? 'returned'}) with its transaction open, and session "${waiter}" waits for it (${reason}): ` +
      `is a ROLLBACK missing? The last statement of "${name}": ${shortened(lastStatement)}`,
  );
}

function leftLocked({ name, lastStatement, failure }: SessionRecord, waiter: string, reason: string): InputError {
  return new InputError(
    'program/lock-held',
    `session "${name}" ended (${failure ?? 'returned'}) with ${reason} held by a connection that it keeps open, and session "${waiter}" waits for it: ` +
      `is an unlock missing? The last statement of "${name}": ${shortened(lastStatement)}`,
  );
}

function unawaited(name: string, { sql, message }: { readonly sql: string; readonly message: string }): InputError {
  return new InputError(
    'program/statement-under-way',
    `session "${name}" did not await a statement that failed: is an await missing? ${shortened(sql)}: ${message}`,
  );
}

function shortened(sql: string): string {
  const line = sql.replaceAll(/\s+/g, ' ').trim();
  return line.length <= 200 ? line : `${line.slice(0, 197)}...`;
}
