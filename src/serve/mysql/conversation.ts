/**
 * The server's side of a MySQL connection, without a socket. A command is answered before the next is read. Whatever a statement fails
 * with is an answer; only packets whose bounds are lost end the connection. MySQL Internals, "Client/Server Protocol".
 */
import {
  maxAllowedPacket,
  mysqlVersion,
  type PreparedStatement,
  type SqlServer,
  type SqlSession,
  type StatementResult,
} from '../../sql/index.ts';
import { notSupported, SqlError } from '../../sql/model/index.ts';
import { WireError } from '../../wire/index.ts';
import {
  capabilities,
  characterSet,
  type Command,
  decodeCommand,
  decodeHandshakeResponse,
  encodeError,
  encodeHandshake,
  has,
  isSslRequest,
  multiStatementsOption,
  type Packet,
  saltBytes,
  serverStatus,
} from '../../wire/mysql/index.ts';
import type { Conversation, StartConversation, Transport } from '../conversation.ts';
import { mysqlError, protocolError } from './error.ts';
import { authenticate, type Claim, defaultPlugin, type LoginOptions, serverCapabilities } from './login.ts';
import { PacketInput, PacketOutput } from './packets.ts';
import { type AnswerOptions, answerFields, answerOk, answerPrepared, answerResult } from './results.ts';
import { PreparedStatements } from './statements.ts';
import { usedDatabase } from '../../database/index.ts';
import { killOf, sqlText } from './text.ts';

export interface MysqlOptions {
  readonly server: SqlServer;
  /** For the salts of passwords. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Of every user. Without one there is no check. */
  readonly password?: string;
  /** Drivers look at it. Default: what `SELECT VERSION()` says. */
  readonly serverVersion?: string;
  /** The database of clients that name none. Default `test`. */
  readonly database?: string;
  /** Bytes of one packet. Default 16 MiB. */
  readonly packetBytesMax?: number;
  /** Prepared statements of one connection. Default 16,382. */
  readonly statementsMax?: number;
  /** Called with exceptions that are no SqlError: bugs of ours. The client gets error 1105 and stays connected. */
  readonly onBug?: (error: unknown) => void;
}

/** Conversations that know each other: KILL ends one from another. */
export function mysqlConversations(options: MysqlOptions): StartConversation {
  const open = new Map<number, MysqlConversation>();
  let ids = 0;
  return (transport, admission) => {
    ids += 1;
    const id = options.server.reserveId?.() ?? ids;
    const conversation = new MysqlConversation(id, open, transport, options);
    open.set(id, conversation);
    conversation.start(admission);
    return conversation;
  };
}

class MysqlConversation implements Conversation {
  readonly #id: number;
  readonly #open: Map<number, MysqlConversation>;
  readonly #transport: Transport;
  readonly #options: MysqlOptions;
  readonly #salt: Uint8Array;
  readonly #input: PacketInput;
  readonly #output: PacketOutput;
  readonly #statements: PreparedStatements;
  #session: SqlSession | null = null;
  #user = '';
  #database: string;
  /** The capabilities that both sides have. */
  #flags = 0;
  #mayMultiStatements = false;
  /** The last statement that was sent: what an error is about. */
  #sql = '';

  constructor(id: number, open: Map<number, MysqlConversation>, transport: Transport, options: MysqlOptions) {
    const { packetBytesMax = Number(maxAllowedPacket), statementsMax = 16_382 } = options;
    this.#id = id;
    this.#open = open;
    this.#transport = transport;
    this.#options = options;
    // Clients read it as a text that ends with a zero.
    this.#salt = options.randomBytes(saltBytes).map((byte) => byte & 0x7f || 1);
    this.#database = options.database ?? 'test';
    this.#input = new PacketInput(transport, packetBytesMax);
    this.#output = new PacketOutput(transport);
    this.#statements = new PreparedStatements({ statementsMax, longDataBytesMax: packetBytesMax });
  }

  receive(chunk: Uint8Array): void {
    this.#input.receive(chunk);
  }

  ended(): void {
    this.#input.ended();
  }

  drained(): void {
    this.#output.drained();
  }

  closed(): void {
    this.#open.delete(this.#id);
    this.#output.closed();
    this.#input.ended();
    this.#session?.close();
    this.#session = null;
  }

  start(admission: 'welcome' | 'full'): void {
    if (admission === 'full') {
      this.#fail(protocolError(1040, 'Too many connections'));
      this.#hangUp();
      return;
    }
    this.#converse().then(
      () => this.#hangUp(),
      (error: unknown) => {
        this.#options.onBug?.(error);
        this.#transport.close();
      },
    );
  }

  async #converse(): Promise<void> {
    try {
      this.#greet();
      if (!(await this.#login())) return;
      for (;;) {
        const packet = await this.#input.next();
        if (packet === undefined) return;
        this.#output.sequence = this.#input.nextSequence;
        if (packet.firstSequence !== 0) throw protocolError(1156, 'Got packets out of order');
        if (!(await this.#answer(packet))) return;
        await this.#output.sent();
      }
    } catch (error) {
      if (error instanceof WireError) this.#output.sequence = this.#input.nextSequence;
      this.#fail(error);
    }
  }

  #hangUp(): void {
    this.#output.flush();
    this.closed();
    this.#transport.close();
  }

  // ---- connection phase

  #greet(): void {
    const { serverVersion = mysqlVersion } = this.#options;
    this.#output.packet(
      encodeHandshake({
        serverVersion,
        connectionId: this.#id,
        salt: this.#salt,
        capabilities: serverCapabilities,
        characterSet: characterSet.utf8mb4GeneralCi,
        status: serverStatus.autocommit,
        authPlugin: defaultPlugin,
      }),
    );
    this.#output.flush();
  }

  /** @returns is the client still there? @throws SqlError, WireError: the login is refused */
  async #login(): Promise<boolean> {
    const packet = await this.#input.expect(1);
    if (packet === undefined) return false;
    this.#output.sequence = this.#input.nextSequence;
    if (isSslRequest(packet.payload)) throw protocolError(1043, 'Bad handshake: this server has no TLS');
    const response = decodeHandshakeResponse(packet.payload);
    this.#flags = response.capabilities & serverCapabilities;
    this.#mayMultiStatements = has(this.#flags, capabilities.multiStatements);
    return this.#enter(response, response.database);
  }

  async #enter(claim: Claim, database: string): Promise<boolean> {
    if (!(await authenticate(claim, this.#loginOptions()))) return false;
    this.#user = claim.user;
    if (database !== '') this.#database = database;
    if (!this.#connect()) return false;
    answerOk(this.#answerOptions());
    this.#output.flush();
    return true;
  }

  #loginOptions(): LoginOptions {
    const { password } = this.#options;
    return { input: this.#input, output: this.#output, flags: this.#flags, salt: this.#salt, password };
  }

  /** A new session in place of the old one. @returns is the client still there? @throws SqlError 3D000, 53300 */
  #connect(): boolean {
    this.#session?.close();
    this.#session = null;
    this.#statements.clear();
    if (!this.#output.isOpen) return false;
    this.#session = this.#options.server.connect({
      id: this.#id,
      user: this.#user,
      database: this.#database,
      parameters: new Map(),
      onParameter: () => undefined,
    });
    return true;
  }

  // ---- command phase

  /** @returns may the client send more? */
  async #answer(packet: Packet): Promise<boolean> {
    const session = this.#session;
    if (session === null) return false;
    try {
      const command = decodeCommand(packet.payload, this.#flags);
      if (command.kind === 'quit') return false;
      if (command.kind === 'change-user') return await this.#changeUser(command);
      await this.#perform(command, session);
    } catch (error) {
      session.refused(error, this.#sql);
      this.#fail(error);
      // The server ended the session, not only the statement.
      return !(error instanceof SqlError && error.code.startsWith('57P'));
    }
    return true;
  }

  async #changeUser(command: Extract<Command, { kind: 'change-user' }>): Promise<boolean> {
    try {
      return await this.#enter(command, command.database);
    } catch (error) {
      // As servers do: a client that fails to change its user has none.
      this.#fail(error);
      return false;
    }
  }

  async #perform(command: Exclude<Command, { kind: 'quit' | 'change-user' }>, session: SqlSession): Promise<void> {
    switch (command.kind) {
      case 'query':
        return this.#query(sqlText(command.sql), session);
      case 'stmt-prepare':
        return this.#prepare(sqlText(command.sql), session);
      case 'stmt-execute': {
        const { statement, parameters } = this.#statements.bind(command.statementId, command.body, session);
        const result = await session.execute(statement, parameters);
        return answerResult(result, 'binary', this.#answerOptions());
      }
      case 'stmt-send-long-data':
        return this.#statements.addLongData(command);
      case 'stmt-close':
        return this.#statements.close(command.statementId);
      case 'stmt-fetch':
        return this.#statements.fetch(command.statementId);
      case 'field-list':
        return this.#fieldList(command.table, command.wildcard, session);
      case 'unknown':
        throw protocolError(1047, 'Unknown command');
      case 'statistics':
        this.#output.packet(Buffer.from(`Threads: ${this.#open.size}`));
        return;
      default:
        await this.#performPlain(command, session);
        answerOk(this.#answerOptions());
    }
  }

  /** Commands that are answered with OK. */
  async #performPlain(
    command: Extract<
      Command,
      { kind: 'ping' | 'init-db' | 'process-kill' | 'reset-connection' | 'set-option' | 'stmt-reset' }
    >,
    session: SqlSession,
  ): Promise<void> {
    switch (command.kind) {
      case 'ping':
        return;
      case 'init-db':
        await session.execute(session.prepare(`USE ${quoted(command.database)}`), []);
        this.#database = command.database;
        return;
      case 'process-kill':
        return this.#kill('connection', command.connectionId);
      case 'stmt-reset':
        return this.#statements.reset(command.statementId);
      case 'reset-connection':
        this.#connect();
        return;
      case 'set-option':
        if (command.option > multiStatementsOption.off) throw protocolError(1047, 'Unknown command');
        this.#mayMultiStatements = command.option === multiStatementsOption.on;
    }
  }

  async #query(sql: string, session: SqlSession): Promise<void> {
    this.#sql = sql;
    const statements = session.split(sql);
    if (statements.length > 1 && !this.#mayMultiStatements) throw unexpectedStatement(statements[1] ?? '');
    const last = statements.length - 1;
    for (const [i, statement] of statements.entries()) {
      const options = (): AnswerOptions => this.#answerOptions(i < last ? serverStatus.moreResultsExist : 0);
      const kill = killOf(statement);
      if (kill === null) await answerResult(await this.#run(session.prepare(statement), session), 'text', options());
      else {
        this.#kill(kill.what, kill.id === 'own' ? this.#id : kill.id);
        answerOk(options());
      }
      if (!this.#output.isOpen) return;
    }
    if (statements.length === 0) throw emptyQuery();
  }

  async #run(statement: PreparedStatement, session: SqlSession): Promise<StatementResult> {
    const result = await session.execute(statement, []);
    if (result.command === '' && result.columns === null) throw emptyQuery();
    if (result.command === 'USE') this.#database = usedDatabase(statement.sql) ?? this.#database;
    return result;
  }

  #prepare(sql: string, session: SqlSession): void {
    this.#sql = sql;
    const statements = session.split(sql);
    if (statements.length > 1) throw unexpectedStatement(statements[1] ?? '');
    const [text] = statements;
    if (text === undefined) throw emptyQuery();
    const statement = session.prepare(text);
    if (statement.refusal !== undefined) throw statement.refusal;
    answerPrepared(this.#statements.add(statement), statement, this.#answerOptions());
  }

  /** Old clients complete names with it. */
  #fieldList(table: string, wildcard: string, session: SqlSession): void {
    if (wildcard !== '' && wildcard !== '%') throw notSupported('COM_FIELD_LIST with a pattern');
    const { columns } = session.prepare(`SELECT * FROM ${quoted(table)}`);
    answerFields(columns ?? [], this.#answerOptions());
  }

  #kill(what: 'connection' | 'query', id: number): void {
    // It interrupts itself: the error is its answer, and the end of a connection that kills itself.
    if (id === this.#id) throw killed(what);
    const victim = this.#open.get(id);
    // Not every session has a connection here: a program in this process may have one.
    const session = victim === undefined ? this.#options.server.session(id) : victim.#session;
    if (victim === undefined && session === undefined) throw protocolError(1094, `Unknown thread id: ${id}`);
    if (what === 'query') session?.cancel();
    else if (victim === undefined) session?.close();
    else victim.#hangUp();
  }

  // ---- answers

  #answerOptions(moreStatus = 0): AnswerOptions {
    return { output: this.#output, flags: this.#flags, status: this.#status() | moreStatus, database: this.#database };
  }

  #status(): number {
    if (this.#session === null) return 0;
    const { transactionStatus, isAutocommit } = this.#session;
    const open = transactionStatus === 'idle' ? 0 : serverStatus.inTransaction;
    return open | (isAutocommit ? serverStatus.autocommit : 0);
  }

  #fail(error: unknown): void {
    this.#output.packet(encodeError(mysqlError(this.#sqlError(error), this.#database)));
    this.#output.flush();
  }

  #sqlError(error: unknown): SqlError {
    if (error instanceof SqlError) return error;
    if (error instanceof WireError)
      return error.code === 'limit'
        ? protocolError(1153, "Got a packet bigger than 'max_allowed_packet' bytes")
        : protocolError(1835, `Malformed communication packet: ${error.message}`);
    this.#options.onBug?.(error);
    return protocolError(1105, 'internal error');
  }
}

/** The session's end has the SQLSTATE class of a shutdown, which #answer looks for. */
function killed(what: 'connection' | 'query'): SqlError {
  const message = 'Query execution was interrupted';
  return new SqlError(what === 'connection' ? '57P01' : '57014', message, { mysqlNumber: 1317 });
}

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

function emptyQuery(): SqlError {
  return protocolError(1065, 'Query was empty');
}

function unexpectedStatement(sql: string): SqlError {
  return protocolError(
    1064,
    `You have an error in your SQL syntax; several statements are not allowed here, near '${sql.slice(0, 80)}' at line 1`,
  );
}
