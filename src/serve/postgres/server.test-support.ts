/**
 * A server with a language of a few words, for what a conversation does and a database does not: `rows 3`, `echo int4 text`, `insert 2`,
 * `begin`, `commit`, `rollback`, `fail 23505`, `bug`, `wait` (for a cancel request), `set NAME VALUE`, `notice TEXT`, `deallocate NAME`.
 */
import type {
  ConnectOptions,
  PreparedStatement,
  ResultColumn,
  SqlServer,
  SqlSession,
  StatementResult,
} from '../../sql/index.ts';
import type { SqlType, SqlValue } from '../../sql/model/index.ts';
import { SqlError } from '../../sql/model/sql-error.ts';
import { typeByName, types } from '../../sql/model/type.ts';

export class TinyServer implements SqlServer {
  readonly dialect = 'postgres';
  readonly sessions = new Map<number, TinySession>();
  readonly connects: ConnectOptions[] = [];

  connect(options: ConnectOptions): TinySession {
    if (options.database === 'missing') throw new SqlError('3D000', 'database "missing" does not exist');
    this.connects.push(options);
    const session = new TinySession(this.connects.length, options, () => this.sessions.delete(session.id));
    this.sessions.set(session.id, session);
    return session;
  }

  session(id: number): TinySession | undefined {
    return this.sessions.get(id);
  }
}

export class TinySession implements SqlSession {
  readonly isAutocommit = true;
  transactionStatus: 'idle' | 'open' | 'failed' = 'idle';
  /** Texts of the statements that were run. */
  readonly ran: string[] = [];
  readonly id: number;
  readonly #options: ConnectOptions;
  readonly #onClose: () => void;
  /** Blocks begun, committed, or ended without anything to commit. */
  readonly blocks: string[] = [];
  failsCommit = false;
  #isBlock = false;
  #interrupt: ((error: SqlError) => void) | null = null;

  constructor(id: number, options: ConnectOptions, onClose: () => void) {
    this.id = id;
    this.#options = options;
    this.#onClose = onClose;
  }

  split(sql: string): readonly string[] {
    return sql
      .split(';')
      .map((text) => text.trim())
      .filter((text) => text !== '');
  }

  prepare(sql: string, given: readonly (SqlType | undefined)[] = []): PreparedStatement {
    const [word = '', ...rest] = sql.trim().split(' ');
    if (!words.has(word)) throw new SqlError('42601', `syntax error at or near "${word}"`, { position: 1 });
    if (this.transactionStatus === 'failed' && word !== 'rollback' && word !== 'commit')
      throw new SqlError('25P02', 'aborted');
    const parameterTypes = word === 'echo' ? rest.map((name, i) => given[i] ?? typeNamed(name)) : [];
    return { sql: sql.trim(), parameterTypes, columns: columnsOf(word, parameterTypes) };
  }

  async execute(statement: PreparedStatement, parameters: readonly SqlValue[]): Promise<StatementResult> {
    const [word = '', first = '', ...rest] = statement.sql.split(' ');
    this.ran.push(statement.sql);
    const { columns } = statement;
    switch (word) {
      case 'rows':
        if (this.#isBlock) this.transactionStatus = 'open';
        return done('SELECT', { columns, rows: Array.from({ length: Number(first) }, (_, i) => [i, `row ${i}`]) });
      case 'echo':
        return done('SELECT', { columns, rows: [parameters] });
      case 'insert':
        if (this.#isBlock) this.transactionStatus = 'open';
        return done('INSERT', { rowCount: Number(first) });
      case 'begin':
        this.transactionStatus = 'open';
        this.#isBlock = false;
        return done('BEGIN');
      case 'commit':
      case 'rollback':
        this.transactionStatus = 'idle';
        return done(word.toUpperCase());
      case 'fail':
        throw new SqlError(first, rest.join(' '), { detail: 'a detail', table: 't', constraint: 't_pkey' });
      case 'bug':
        throw new TypeError('a bug of ours');
      case 'wait':
        return new Promise((_resolve, reject) => {
          this.#interrupt = reject;
        });
      case 'set':
        this.#options.onParameter(first, rest.join(' '));
        return done('SET');
      case 'deallocate':
        return done(first === 'all' ? 'DEALLOCATE ALL' : 'DEALLOCATE');
      case 'notice':
        return done('DO', { notices: [{ severity: 'NOTICE', code: '00000', message: [first, ...rest].join(' ') }] });
      default:
        return done('');
    }
  }

  refused(): void {}

  fail(): void {
    if (this.#isBlock) this.transactionStatus = 'idle';
    if (this.transactionStatus === 'open') this.transactionStatus = 'failed';
  }

  beginBlock(): void {
    this.#isBlock = true;
    this.blocks.push('begin');
  }

  async endBlock(): Promise<void> {
    const isOpen = this.#isBlock && this.transactionStatus === 'open';
    if (isOpen) this.transactionStatus = 'idle';
    this.#isBlock = false;
    this.blocks.push(isOpen ? 'commit' : 'end');
    if (isOpen && this.failsCommit) throw new SqlError('40001', 'could not serialize access');
  }

  cancel(): void {
    this.#interrupt?.(new SqlError('57014', 'canceling statement due to user request'));
    this.#interrupt = null;
  }

  close(): void {
    this.#onClose();
  }
}

const words = new Set([
  '',
  'rows',
  'echo',
  'insert',
  'begin',
  'commit',
  'rollback',
  'fail',
  'bug',
  'wait',
  'set',
  'notice',
  'deallocate',
]);

function columnsOf(word: string, parameterTypes: readonly SqlType[]): ResultColumn[] | null {
  if (word === 'rows') return [column('n', types.int4), column('label', types.text)];
  return word === 'echo' ? parameterTypes.map((type, i) => column(`p${i + 1}`, type)) : null;
}

function column(name: string, type: SqlType): ResultColumn {
  return { name, type, modifier: -1, tableNumber: 0, columnNumber: 0, tableName: '', isNullable: true };
}

function typeNamed(name: string): SqlType {
  const type = typeByName(name);
  if (type === undefined) throw new SqlError('42704', `type "${name}" does not exist`);
  return type;
}

function done(command: string, given: Partial<StatementResult> = {}): StatementResult {
  const rows = given.rows ?? [];
  return { command, columns: null, rows, rowCount: rows.length, foundRows: 0, insertId: 0n, notices: [], ...given };
}
