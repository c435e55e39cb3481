/** Prepared statements of a session by name: PREPARE's, and in PostgreSQL those of its protocol, too. */
import type { NamedStatement, PreparedStatement, Statement } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import type { SessionRules } from '../dialect/index.ts';

/** At a time: a client that never deallocates gets an error. */
const statementsMax = 10_000;

export class NamedStatements {
  readonly #rules: SessionRules;
  readonly byName: Map<string, PreparedStatement>;
  readonly #setting: (name: string) => string | undefined;

  /** @param setting what a user variable of MySQL's has */
  constructor(rules: SessionRules, setting: (name: string) => string | undefined) {
    this.#rules = rules;
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

  /** @throws SqlError 42P05, 54000 */
  add(name: string, statement: PreparedStatement): void {
    const key = this.#rules.keyOf(name);
    if (!this.#rules.replacesSameName && this.byName.has(key))
      throw new SqlError('42P05', `prepared statement "${name}" already exists`);
    if (this.byName.size >= statementsMax && !this.byName.has(key))
      throw new SqlError('54000', `more than ${statementsMax} prepared statements`, { mysqlNumber: 1461 });
    this.byName.set(key, statement);
  }

  find(name: string): PreparedStatement | undefined {
    return this.byName.get(this.#rules.keyOf(name));
  }

  /** @throws SqlError 26000 */
  get(name: string): PreparedStatement {
    const statement = this.find(name);
    if (statement === undefined) throw this.#rules.noStatement(name, 'EXECUTE');
    return statement;
  }

  /** @param name `null`: all of them. @throws SqlError 26000 */
  remove(name: string | null): void {
    if (name === null) this.byName.clear();
    else if (!this.byName.delete(this.#rules.keyOf(name))) throw this.#rules.noStatement(name, 'DEALLOCATE PREPARE');
  }
}
