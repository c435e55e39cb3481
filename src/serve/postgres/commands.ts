/**
 * What a PostgreSQL client may say once it has logged in, and the answers. Manual, "Message Flow". One message at a time: the next is looked at
 * when the one before has been answered.
 *
 * An error in a message of the extended protocol (Parse, Bind, Describe, Execute, Close, Flush) is answered once; everything after it is
 * passed over up to the client's Sync, so that a client may send a whole batch before it reads the first answer.
 */
import type { SqlSession, StatementResult } from '../../sql/index.ts';
import { notSupported, SqlError } from '../../sql/model/index.ts';
import { WireError } from '../../wire/index.ts';
import {
  decodeFrontend,
  describeType,
  type Frame,
  frontendKind,
  type FrontendMessage,
} from '../../wire/postgres/index.ts';
import { endsSession, errorFields, noticeFields } from './error.ts';
import type { PostgresOutput } from './output.ts';
import { type Portal, type PreparedLimits, PreparedStatements, typesOfOids } from './prepared.ts';
import { formatsFor, sendDescription, sendRows } from './rows.ts';

export interface CommandOptions extends PreparedLimits {
  /** Called with what is neither an SqlError nor a WireError: a bug of ours. The client gets XX000 and stays connected. */
  readonly onBug?: (error: unknown) => void;
}

type Message<Kind extends FrontendMessage['kind']> = Extract<FrontendMessage, { readonly kind: Kind }>;

/** After an error in one of these the rest up to Sync is passed over; after one in others the client hears ReadyForQuery. */
const extended = new Set<FrontendMessage['kind']>(['parse', 'bind', 'describe', 'execute', 'close', 'flush']);
/** Outside COPY these are left over from one that failed: passed over. */
const copy = new Set<FrontendMessage['kind']>(['copy-data', 'copy-done', 'copy-fail']);

const syncType = 'S'.charCodeAt(0);

export class PostgresCommands {
  readonly #session: SqlSession;
  readonly #output: PostgresOutput;
  readonly #options: CommandOptions;
  readonly #prepared: PreparedStatements;
  /** The type of the message after this one, when it has come. */
  readonly #nextType: () => number | undefined;
  /** The statement that is worked on: what an error is about. */
  #sql = '';
  #isSkipping = false;
  /** Statements do not commit by themselves until the end of the simple query, or Sync. */
  #isBlock = false;
  /** Settings that have changed since the last ReadyForQuery. */
  readonly #changed = new Map<string, string>();

  constructor(
    session: SqlSession,
    output: PostgresOutput,
    options: CommandOptions,
    nextType: () => number | undefined,
  ) {
    this.#session = session;
    this.#nextType = nextType;
    this.#output = output;
    this.#options = options;
    this.#prepared = new PreparedStatements(options, session.namedStatements);
  }

  /**
   * Most messages are answered at once: a promise for each would cost more than its answer.
   * @returns does the connection stay open? @throws WireError, SqlError it cannot: FATAL
   */
  answer(frame: Frame): Promise<boolean> | boolean {
    const kind = frontendKind(frame.type);
    if (kind === undefined || kind === 'authentication-response') {
      throw new WireError('malformed', `invalid frontend message type ${describeType(frame.type)}`);
    }
    if (kind === 'terminate') return false;
    if (kind === 'sync') this.#isSkipping = false;
    if (this.#isSkipping || copy.has(kind)) return true;
    try {
      const performed = this.#perform(decodeFrontend(frame));
      return performed === undefined ? true : this.#answered(performed, kind);
    } catch (error) {
      return this.#refuse(error, kind);
    }
  }

  async #answered(performed: Promise<void>, kind: FrontendMessage['kind']): Promise<boolean> {
    try {
      await performed;
      return true;
    } catch (error) {
      return await this.#refuse(error, kind);
    }
  }

  async #refuse(error: unknown, kind: FrontendMessage['kind']): Promise<boolean> {
    if (endsSession(error)) throw error;
    await this.#fail(error, extended.has(kind));
    return true;
  }

  /** A setting was changed: the client gets it before the next ReadyForQuery. */
  settingChanged(name: string, value: string): void {
    this.#changed.set(name, value);
  }

  ready(): Promise<void> | undefined {
    if (this.#changed.size > 0) this.#reportChanged();
    this.#output.message({ kind: 'ready-for-query', status: this.#session.transactionStatus });
    return this.#output.flush();
  }

  #reportChanged(): void {
    for (const [name, value] of this.#changed) this.#output.message({ kind: 'parameter-status', name, value });
    this.#changed.clear();
  }

  /** @returns `undefined`: it has been performed */
  #perform(message: FrontendMessage): Promise<void> | undefined {
    switch (message.kind) {
      case 'query':
        return this.#query(message.sql);
      case 'parse':
        this.#parse(message);
        return undefined;
      case 'bind':
        this.#sql = this.#prepared.statement(message.statement).sql;
        if (message.statement !== '') this.#session.revalidate?.(this.#prepared.statement(message.statement));
        this.#bind(message);
        this.#output.message({ kind: 'bind-complete' });
        return undefined;
      case 'describe':
        this.#describe(message);
        return undefined;
      case 'execute':
        // A statement alone before its Sync commits by itself; several are one transaction.
        if (this.#nextType() !== syncType) this.#beginBlock();
        return this.#execute(this.#prepared.portal(message.portal), message.rowsMax);
      case 'close':
        if (message.target === 'statement') this.#prepared.closeStatement(message.name);
        else this.#prepared.closePortal(message.name);
        this.#output.message({ kind: 'close-complete' });
        return undefined;
      case 'flush':
        return this.#output.flush();
      case 'sync':
        return this.#isBlock ? this.#endBlock().then(() => this.#synchronized()) : this.#synchronized();
      case 'function-call':
        throw notSupported('a function call by message');
      case 'terminate':
      case 'authentication-response':
      case 'copy-data':
      case 'copy-done':
      case 'copy-fail':
        throw new Error(`${message.kind} is not performed`);
    }
  }

  #synchronized(): Promise<void> | undefined {
    if (this.#isIdle()) this.#prepared.closePortals();
    return this.ready();
  }

  async #fail(error: unknown, isExtended: boolean): Promise<void> {
    if (!(error instanceof SqlError || error instanceof WireError)) this.#options.onBug?.(error);
    this.#session.refused(error, this.#sql);
    this.#session.fail(error);
    this.#prepared.closePortals();
    this.#output.message({ kind: 'error-response', fields: errorFields(error, 'ERROR') });
    this.#isSkipping = isExtended;
    // A client may wait for the error before it sends Sync, and its Flush is passed over.
    if (isExtended) return this.#output.flush();
    // What was open in the block has been rolled back: this only ends it.
    await this.#endBlock();
    await this.ready();
  }

  // ---- simple queries

  async #query(sql: string): Promise<void> {
    this.#sql = sql;
    this.#prepared.closeStatement('');
    this.#prepared.closePortal('');
    const statements = this.#session.split(sql);
    if (statements.length > 1) this.#beginBlock();
    let end = 0;
    for (const [i, text] of statements.entries()) {
      const start = sql.indexOf(text, end);
      await this.#simple(text, i === statements.length - 1).catch((error: unknown) => {
        throw moved(error, sql.slice(0, Math.max(start, 0)));
      });
      end = Math.max(start, 0) + text.length;
    }
    if (statements.length === 0) this.#output.message({ kind: 'empty-query-response' });
    return this.ready();
  }

  async #simple(sql: string, isLast: boolean): Promise<void> {
    const prepared = this.#session.prepare(sql);
    if (prepared.parameterTypes.length > 0) throw new SqlError('42P02', 'there is no parameter $1');
    const wasIdle = this.#isIdle();
    const result = this.#ran(sql, await this.#session.execute(prepared, []), wasIdle);
    const { columns, rows } = result;
    if (columns !== null) {
      const formats = formatsFor(columns.length, [], 'result');
      sendDescription(this.#output, columns, formats);
      await sendRows(this.#output, { columns, formats, rows }, 0, rows.length);
    }
    // The last command is complete when all of them are.
    if (isLast) await this.#endBlock();
    this.#complete(result, columns === null ? result.rowCount : rows.length);
  }

  // ---- the extended protocol

  #parse({ statement, sql, parameterTypes }: Message<'parse'>): void {
    this.#sql = sql;
    this.#prepared.add(statement, () => this.#session.prepare(sql, typesOfOids(parameterTypes)));
    this.#output.message({ kind: 'parse-complete' });
  }

  #bind(message: Message<'bind'>): void {
    try {
      this.#prepared.bind(message);
    } catch (error) {
      this.#session.unbound?.(error, this.#sql);
      throw error;
    }
  }

  #describe({ target, name }: Message<'describe'>): void {
    const portal = target === 'portal' ? this.#prepared.portal(name) : null;
    const { columns, parameterTypes } = portal?.statement ?? this.#prepared.statement(name);
    if (portal === null) {
      this.#output.message({ kind: 'parameter-description', types: parameterTypes.map(({ oid }) => oid) });
    }
    if (columns === null) this.#output.message({ kind: 'no-data' });
    else sendDescription(this.#output, columns, portal?.formats ?? []);
  }

  async #execute(portal: Portal, rowsMax: number): Promise<void> {
    if (portal.result !== null && portal.result.columns === null) throw new SqlError('55000', 'portal cannot be run');
    const wasIdle = this.#isIdle();
    const { statement, parameters } = portal;
    const result = (portal.result ??= this.#ran(
      statement.sql,
      await this.#session.execute(statement, parameters),
      wasIdle,
    ));
    const { columns, rows } = result;
    if (columns === null) return this.#complete(result, result.rowCount);
    const start = portal.sentRows;
    const end = rowsMax > 0 ? Math.min(rows.length, start + rowsMax) : rows.length;
    const sent = sendRows(this.#output, { columns, formats: portal.formats, rows }, start, end);
    if (sent !== undefined) await sent;
    portal.sentRows = end;
    // As PostgreSQL, which does not look whether there is one more.
    if (rowsMax > 0 && end - start === rowsMax) this.#output.message({ kind: 'portal-suspended' });
    else this.#complete(result, end - start);
  }

  // ---- both

  #beginBlock(): void {
    if (this.#isBlock || !this.#isIdle()) return;
    this.#isBlock = true;
    this.#session.beginBlock();
  }

  async #endBlock(): Promise<void> {
    if (!this.#isBlock) return;
    this.#isBlock = false;
    await this.#session.endBlock();
  }

  /** @param wasIdle before it ran */
  #ran(sql: string, result: StatementResult, wasIdle: boolean): StatementResult {
    if (!wasIdle && this.#isIdle()) this.#prepared.closePortals();
    this.#deallocate(result.command, sql);
    for (const notice of result.notices)
      this.#output.message({ kind: 'notice-response', fields: noticeFields(notice) });
    return result;
  }

  /** SQL that is about the statements which the protocol prepared: drivers tidy up by it. */
  #deallocate(command: string, sql: string): void {
    if (command === 'DEALLOCATE ALL' || command === 'DISCARD ALL') this.#prepared.closeStatements();
    if (command !== 'DEALLOCATE') return;
    const name = /^\s*deallocate\s+(?:prepare\s+)?(?:"((?:[^"]|"")+)"|([^\s;]+))/i.exec(sql);
    if (name !== null)
      this.#prepared.closeStatement(name[1]?.replaceAll('""', '"') ?? (name[2] as string).toLowerCase());
  }

  #isIdle(): boolean {
    return this.#session.transactionStatus === 'idle';
  }

  #complete(result: StatementResult, rowCount: number): void {
    if (result.command === '') this.#output.message({ kind: 'empty-query-response' });
    else this.#output.message({ kind: 'command-complete', tag: commandTag(result.command, rowCount) });
  }
}

/** An error's position is one in the whole text that the client sent, in characters. @param before what stands before the statement */
function moved(error: unknown, before: string): unknown {
  if (!(error instanceof SqlError) || error.detail.position === undefined || before === '') return error;
  const position = error.detail.position + Array.from(before).length;
  return new SqlError(error.code, error.message, { ...error.detail, position });
}

/** Manual, CommandComplete: which commands tell a count; INSERT has a zero where object numbers used to be. */
function commandTag(command: string, rowCount: number): string {
  if (command === 'INSERT') return `INSERT 0 ${rowCount}`;
  return counting.has(command) ? `${command} ${rowCount}` : command;
}

/** What the tag of a command tells; 0 where it tells no count. */
export function countOf(command: string, rowCount: number): number {
  return command === 'INSERT' || counting.has(command) ? rowCount : 0;
}

const counting = new Set(['SELECT', 'UPDATE', 'DELETE', 'MERGE', 'FETCH', 'MOVE', 'COPY']);
