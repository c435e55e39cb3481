/** The command phase of a MySQL connection: what a client asks of one session. MySQL Internals, "Command Phase". */
import type { PreparedStatement, SqlSession, StatementResult } from '../../sql/index.ts';
import { notSupported, type SqlError } from '../../sql/model/index.ts';
import { type Command, multiStatementsOption, serverStatus } from '../../wire/mysql/index.ts';
import { usedDatabase } from '../../database/index.ts';
import type { Connections } from './connections.ts';
import { protocolError } from './error.ts';
import type { PacketOutput } from './packets.ts';
import { type AnswerOptions, answerFields, answerOk, answerPrepared, answerResult } from './results.ts';
import type { PreparedStatements } from './statements.ts';
import { killOf, sqlText } from './text.ts';

/** What the server knows of a client, also when another session takes the place of its own. */
export interface ClientState {
  /** Of the connection. */
  readonly id: number;
  database: string;
  /** The capabilities that both sides have. */
  flags: number;
  mayMultiStatements: boolean;
}

/** Those that end the session, or put another in its place, are the conversation's. */
export type StatementCommand = Exclude<Command, { kind: 'quit' | 'change-user' | 'reset-connection' }>;

export class MysqlCommands {
  readonly session: SqlSession;
  /** The last statement that was sent: what an error is about. */
  sql = '';
  readonly #client: ClientState;
  readonly #connections: Connections;
  readonly #output: PacketOutput;
  readonly #statements: PreparedStatements;

  constructor(
    session: SqlSession,
    client: ClientState,
    connections: Connections,
    output: PacketOutput,
    statements: PreparedStatements,
  ) {
    this.session = session;
    this.#client = client;
    this.#connections = connections;
    this.#output = output;
    this.#statements = statements;
  }

  answerOk(): void {
    answerOk(this.#answerOptions());
  }

  /** Answers it. @throws SqlError */
  async perform(command: StatementCommand): Promise<void> {
    switch (command.kind) {
      case 'query':
        return this.#query(sqlText(command.sql));
      case 'stmt-prepare':
        return this.#prepare(sqlText(command.sql));
      case 'stmt-execute': {
        const { statement, parameters } = this.#statements.bind(command.statementId, command.body, this.session);
        const result = await this.session.execute(statement, parameters);
        return answerResult(result, 'binary', this.#answerOptions());
      }
      case 'stmt-send-long-data':
        return this.#statements.addLongData(command);
      case 'stmt-close':
        return this.#statements.close(command.statementId);
      case 'stmt-fetch':
        return this.#statements.fetch(command.statementId);
      case 'field-list':
        return this.#fieldList(command.table, command.wildcard);
      case 'unknown':
        throw protocolError(1047, 'Unknown command');
      case 'statistics':
        this.#output.packet(Buffer.from(`Threads: ${this.#connections.count}`));
        return;
      default:
        await this.#performPlain(command);
        this.answerOk();
    }
  }

  /** Commands that are answered with OK. */
  async #performPlain(
    command: Extract<Command, { kind: 'ping' | 'init-db' | 'process-kill' | 'set-option' | 'stmt-reset' }>,
  ): Promise<void> {
    switch (command.kind) {
      case 'ping':
        return;
      case 'init-db':
        await this.session.execute(this.session.prepare(`USE ${quoted(command.database)}`), []);
        this.#client.database = command.database;
        return;
      case 'process-kill':
        return this.#connections.kill('connection', command.connectionId, this.#client.id);
      case 'stmt-reset':
        return this.#statements.reset(command.statementId);
      case 'set-option':
        if (command.option > multiStatementsOption.off) throw protocolError(1047, 'Unknown command');
        this.#client.mayMultiStatements = command.option === multiStatementsOption.on;
    }
  }

  async #query(sql: string): Promise<void> {
    this.sql = sql;
    const statements = this.session.split(sql);
    if (statements.length > 1 && !this.#client.mayMultiStatements) throw unexpectedStatement(statements[1] ?? '');
    const last = statements.length - 1;
    for (const [i, statement] of statements.entries()) {
      const options = (): AnswerOptions => this.#answerOptions(i < last ? serverStatus.moreResultsExist : 0);
      const kill = killOf(statement);
      if (kill === null) await answerResult(await this.#run(this.session.prepare(statement)), 'text', options());
      else {
        const { id } = this.#client;
        this.#connections.kill(kill.what, kill.id === 'own' ? id : kill.id, id);
        answerOk(options());
      }
      if (!this.#output.isOpen) return;
    }
    if (statements.length === 0) throw emptyQuery();
  }

  async #run(statement: PreparedStatement): Promise<StatementResult> {
    const result = await this.session.execute(statement, []);
    if (result.command === '' && result.columns === null) throw emptyQuery();
    if (result.command === 'USE') this.#client.database = usedDatabase(statement.sql) ?? this.#client.database;
    return result;
  }

  #prepare(sql: string): void {
    this.sql = sql;
    const statements = this.session.split(sql);
    if (statements.length > 1) throw unexpectedStatement(statements[1] ?? '');
    const [text] = statements;
    if (text === undefined) throw emptyQuery();
    const statement = this.session.prepare(text);
    if (statement.refusal !== undefined) throw statement.refusal;
    answerPrepared(this.#statements.add(statement), statement, this.#answerOptions());
  }

  /** Old clients complete names with it. */
  #fieldList(table: string, wildcard: string): void {
    if (wildcard !== '' && wildcard !== '%') throw notSupported('COM_FIELD_LIST with a pattern');
    const { columns } = this.session.prepare(`SELECT * FROM ${quoted(table)}`);
    answerFields(columns ?? [], this.#answerOptions());
  }

  #answerOptions(moreStatus = 0): AnswerOptions {
    const { flags, database } = this.#client;
    return { output: this.#output, flags, status: this.#status() | moreStatus, database };
  }

  #status(): number {
    const { transactionStatus, isAutocommit } = this.session;
    const open = transactionStatus === 'idle' ? 0 : serverStatus.inTransaction;
    return open | (isAutocommit ? serverStatus.autocommit : 0);
  }
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
