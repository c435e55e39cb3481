/** What a wire conversation asks of a database: one client session, whatever the protocol. */
import type { SqlError, SqlType, SqlValue } from './model/index.ts';
import type { MysqlTypeName } from './tree/mysql.ts';

export interface SqlSession {
  /** After the last statement: for ReadyForQuery and MySQL's status flags. */
  readonly transactionStatus: 'idle' | 'open' | 'failed';
  /** MySQL's status flag: does every statement outside a transaction commit by itself? PostgreSQL sessions: always true. */
  readonly isAutocommit: boolean;
  /** A process number and a secret, for cancel requests. */
  readonly id: number;
  /** PostgreSQL: prepared statements by name; PREPARE's are the protocol's, too. Without it the protocol has its own. */
  readonly namedStatements?: Map<string, PreparedStatement>;
  /** Parses one statement; `''` and comments give the empty statement. Types that the client names win; `undefined` is inferred. @throws SqlError */
  prepare(sql: string, parameterTypes?: readonly (SqlType | undefined)[]): PreparedStatement;
  /** Before a statement that was kept by name is executed again. @throws SqlError 0A000 the columns of its rows have changed */
  revalidate?(prepared: PreparedStatement): void;
  /** The statements of a simple query, in order, each parsed when the one before has run (DDL may come first). @throws SqlError 42601 */
  split(sql: string): readonly string[];
  /** Runs when the scheduler lets it. Rejects with a SqlError; anything else is a bug of ours. */
  execute(statement: PreparedStatement, parameters: readonly SqlValue[]): Promise<StatementResult>;
  /**
   * PostgreSQL: the conversation found an error (a value it cannot read, an unknown portal) or was told of one. The open transaction fails, as
   * by a statement's error; a block is rolled back. Nothing happens when none is open, or it has failed already.
   */
  fail(error: unknown): void;
  /** The conversation answers a statement with this error: noted where it is moirai that cannot do it. */
  refused(error: unknown, sql: string): void;
  /** PostgreSQL: a statement does not run because a value of its Bind cannot be read. */
  unbound?(error: unknown, sql: string): void;
  /**
   * PostgreSQL: the statements of one simple query, or up to one Sync, are one transaction, unless they say BEGIN. Between these two calls nothing commits by
   * itself; the second commits, and does nothing where a statement has failed or BEGIN was said. Rejects with a SqlError 40001.
   */
  beginBlock(): void;
  endBlock(): Promise<void>;
  /** Interrupts the running statement with 57014; nothing happens when none runs. */
  cancel(): void;
  /** The client is gone: open transaction rolled back, locks released, others proceed. */
  close(): void;
}

export interface PreparedStatement {
  readonly sql: string;
  readonly parameterTypes: readonly SqlType[];
  /** `null`: returns no rows. */
  readonly columns: readonly ResultColumn[] | null;
  /** `execute` fails with this, once it has locked the statement's tables. */
  readonly refusal?: SqlError;
}

export interface ResultColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Length or precision and scale, as PostgreSQL's atttypmod; -1 for none. */
  readonly modifier: number;
  /** Where it is a plain column: its table's object number and position from 1; else 0. For MySQL the names. */
  readonly tableNumber: number;
  readonly columnNumber: number;
  readonly tableName: string;
  readonly isNullable: boolean;
  /** MySQL: the type of the table's column, where that says more than `type`. */
  readonly mysqlType?: MysqlTypeName;
  readonly isAutoIncrement?: boolean;
  readonly isPrimary?: boolean;
}

export interface StatementResult {
  /** PostgreSQL's command tag without counts, `''` for the empty statement: `SELECT`, `INSERT`, `BEGIN`, `CREATE TABLE`. */
  readonly command: string;
  readonly columns: readonly ResultColumn[] | null;
  readonly rows: readonly (readonly SqlValue[])[];
  /** Rows returned or affected (MySQL: changed; `foundRows` counts those that matched). */
  readonly rowCount: number;
  readonly foundRows: number;
  /** MySQL's LAST_INSERT_ID of this statement; 0 for none. */
  readonly insertId: bigint;
  /** Of a SELECT: do its aggregates, without GROUP BY, come from no row? Default: false. */
  readonly metNoRow?: boolean;
  readonly notices: readonly Notice[];
}

export interface Notice {
  readonly severity: 'NOTICE' | 'WARNING';
  readonly code: string;
  readonly message: string;
}

/** Gives sessions to the conversations; the server behind both protocols. */
export interface SqlServer {
  readonly dialect: 'postgres' | 'mysql';
  /** @throws SqlError 53300 too many connections, 3D000 unknown database */
  connect(options: ConnectOptions): SqlSession;
  /** An id for a session to come, which is no other's: MySQL's handshake tells it before the client says who it is. */
  reserveId?(): number;
  /** The session with this id, if it is open. */
  session(id: number): SqlSession | undefined;
}

export interface ConnectOptions {
  /** The number that `reserveId` gave, if the client was told one before it said who it is. Otherwise the server chooses. */
  readonly id?: number;
  readonly user: string;
  readonly database: string;
  /** Startup parameters: application_name, options, DateStyle... */
  readonly parameters: ReadonlyMap<string, string>;
  /** Parameters to report: ParameterStatus. */
  readonly onParameter: (name: string, value: string) => void;
  /** The server ends the connection between two statements: the client gets this error, and the session is closed. */
  readonly onTerminate?: (error: SqlError) => void;
  /** Is it there before the sessions of a program: what it asks of the clock is a constant to them? Default false. */
  readonly isSetUp?: boolean;
}
