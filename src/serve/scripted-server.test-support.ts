/** A server that knows a few statements by heart: for what no real statement answers with, and for answers that come late. */
import type {
  ConnectOptions,
  PreparedStatement,
  ResultColumn,
  SqlServer,
  SqlSession,
  StatementResult,
} from '../sql/index.ts';
import type { SqlType, SqlValue } from '../sql/model/index.ts';
import { SqlError } from '../sql/model/sql-error.ts';

export interface ScriptedStatement {
  readonly parameterTypes?: readonly SqlType[];
  readonly columns?: readonly ResultColumn[];
  /** Default: no rows. */
  readonly run?: (parameters: readonly SqlValue[]) => Promise<StatementResult> | StatementResult;
}

export type Script = Readonly<Record<string, ScriptedStatement>>;

export class ScriptedServer implements SqlServer {
  readonly dialect = 'mysql';
  readonly sessions = new Map<number, ScriptedSession>();
  readonly connects: ConnectOptions[] = [];
  readonly #script: Script;
  #nextId = 1;

  constructor(script: Script) {
    this.#script = script;
  }

  connect(options: ConnectOptions): SqlSession {
    if (options.database === 'missing')
      throw new SqlError('3D000', `Unknown database 'missing'`, { mysqlNumber: 1049 });
    this.connects.push(options);
    const session = new ScriptedSession(options.id ?? this.reserveId(), this.#script, this.sessions);
    this.sessions.set(session.id, session);
    return session;
  }

  reserveId(): number {
    return this.#nextId++;
  }

  session(id: number): SqlSession | undefined {
    return this.sessions.get(id);
  }
}

export class ScriptedSession implements SqlSession {
  readonly id: number;
  transactionStatus: 'idle' | 'open' = 'idle';
  isAutocommit = true;
  readonly #script: Script;
  readonly #open: Map<number, ScriptedSession>;
  #interrupt: ((error: SqlError) => void) | null = null;

  constructor(id: number, script: Script, open: Map<number, ScriptedSession>) {
    this.id = id;
    this.#script = script;
    this.#open = open;
  }

  split(sql: string): readonly string[] {
    return sql
      .split(';')
      .map((text) => text.trim())
      .filter((text) => text !== '');
  }

  prepare(sql: string, given: readonly (SqlType | undefined)[] = []): PreparedStatement {
    const known = this.#script[sql];
    if (known === undefined && !/^(?:use|begin|commit|set) ?/i.test(sql))
      throw new SqlError('42601', `no statement: ${sql}`);
    const parameterTypes = (known?.parameterTypes ?? []).map((type, i) => given[i] ?? type);
    return { sql, parameterTypes, columns: known?.columns ?? null };
  }

  async execute(statement: PreparedStatement, parameters: readonly SqlValue[]): Promise<StatementResult> {
    const { sql, columns } = statement;
    if (!this.#open.has(this.id)) throw new SqlError('57P01', 'terminating connection due to administrator command');
    if (sql === 'begin') this.transactionStatus = 'open';
    if (sql === 'commit') this.transactionStatus = 'idle';
    if (sql === 'set autocommit=0') this.isAutocommit = false;
    const result = this.#script[sql]?.run?.(parameters);
    if (result instanceof Promise) return this.#untilInterrupted(result);
    if (result !== undefined) return result;
    return columns === null ? statementResult(sql.toUpperCase()) : selected(columns, []);
  }

  #untilInterrupted(result: Promise<StatementResult>): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      result.then(resolve, reject);
    });
  }

  refused(): void {}

  fail(): void {}

  beginBlock(): void {}

  async endBlock(): Promise<void> {}

  cancel(): void {
    this.#interrupt?.(new SqlError('57014', 'canceling statement due to user request'));
  }

  close(): void {
    this.#open.delete(this.id);
    this.cancel();
  }
}

export function statementResult(command: string, given: Partial<StatementResult> = {}): StatementResult {
  return { command, columns: null, rows: [], rowCount: 0, foundRows: 0, insertId: 0n, notices: [], ...given };
}

export function selected(columns: readonly ResultColumn[], rows: readonly (readonly SqlValue[])[]): StatementResult {
  return statementResult('SELECT', { columns, rows, rowCount: rows.length, foundRows: rows.length });
}
