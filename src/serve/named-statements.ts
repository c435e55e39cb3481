/** Prepared statements of a session by name: PREPARE's, and in PostgreSQL those of its protocol, too. */
import { type Dialect, type NamedStatement, type PreparedStatement, SqlError, type Statement } from '../sql/index.ts';

/** At a time: a client that never deallocates is told. */
const statementsMax = 10_000;

export class NamedStatements {
  readonly #dialect: Dialect;
  readonly byName: Map<string, PreparedStatement>;

  readonly #setting: (name: string) => string | undefined;

  /** @param setting what a user variable of MySQL's has */
  constructor(dialect: Dialect, setting: (name: string) => string | undefined) {
    this.#dialect = dialect;
    this.#setting = setting;
    this.byName = new Map();
  }

  /** @param prepare makes the statement of a text, or of a plan. @throws SqlError */
  change(
    statement: Exclude<NamedStatement, { what: 'execute' }>,
    prepare: (inner: Statement | string) => PreparedStatement,
  ): void {
    switch (statement.what) {
      case 'prepare':
        return this.add(statement.name, prepare(statement.inner));
      case 'prepare text': {
        const { name, text, setting } = statement;
        // A user variable's setting is its text after a sign, so that NULL is told apart: MySQL reads NULL as a word, which is no statement.
        const value = setting === null ? `=${text}` : this.#setting(setting);
        return this.add(name, prepare(value?.startsWith('=') === true ? value.slice(1) : 'NULL'));
      }
      case 'deallocate':
        return this.remove(statement.name);
    }
  }

  /** MySQL's takes the place of one with its name. @throws SqlError 42P05, 54000 */
  add(name: string, statement: PreparedStatement): void {
    const key = this.#key(name);
    if (this.#dialect === 'postgres' && this.byName.has(key))
      throw new SqlError('42P05', `prepared statement "${name}" already exists`);
    if (this.byName.size >= statementsMax && !this.byName.has(key))
      throw new SqlError('54000', `more than ${statementsMax} prepared statements`, { mysqlNumber: 1461 });
    this.byName.set(key, statement);
  }

  find(name: string): PreparedStatement | undefined {
    return this.byName.get(this.#key(name));
  }

  /** @throws SqlError 26000 */
  get(name: string): PreparedStatement {
    const statement = this.find(name);
    if (statement === undefined) throw this.#missing(name, 'EXECUTE');
    return statement;
  }

  /** @param name `null`: all of them. @throws SqlError 26000 */
  remove(name: string | null): void {
    if (name === null) this.byName.clear();
    else if (!this.byName.delete(this.#key(name))) throw this.#missing(name, 'DEALLOCATE PREPARE');
  }

  #key(name: string): string {
    return this.#dialect === 'mysql' ? name.toLowerCase() : name;
  }

  #missing(name: string, command: string): SqlError {
    return this.#dialect === 'mysql'
      ? new SqlError('HY000', `Unknown prepared statement handler (${name}) given to ${command}`, { mysqlNumber: 1243 })
      : new SqlError('26000', `prepared statement "${name}" does not exist`);
  }
}
