/** One session on a database of its own, without scheduler and wire: what tests of statements need. */
import { postgresStorage } from '../../src/engine/postgres/storage.ts';
import { assert } from '../../src/base/assert.ts';
import type { Catalog } from '../../src/sql/catalog/catalog.ts';
import { newCatalog } from '../../src/sql/catalog/system/index.ts';
import type { Dialect } from '../../src/sql/model/dialect.ts';
import { nameless } from '../../src/sql/expressions/nameless.test-support.ts';
import { unlocked } from '../../src/sql/expressions/unlocked.test-support.ts';
import { loadParser } from '../../src/sql/parse.ts';
import { prepareStatement, splitStatements } from '../../src/sql/statement-text.ts';
import { DeferredChecks } from '../../src/sql/run/deferred-checks.ts';
import { SqlError } from '../../src/sql/model/sql-error.ts';
import type { DdlStatement, QueryOutcome, QueryStatement } from '../../src/sql/statement.ts';
import type { Storage, StorageTransaction, Waiting } from '../../src/sql/model/storage.ts';
import { formatText } from '../../src/sql/model/text-format.ts';
import type { SqlType } from '../../src/sql/model/type.ts';
import type { SqlValue } from '../../src/sql/model/value.ts';
import type { Execution, Surroundings } from '../../src/sql/execution.ts';

await loadParser();

/** What a statement answers: its rows as text, or the error's code and message. */
export type Answer =
  | { readonly columns: readonly string[]; readonly rows: readonly (readonly (string | null)[])[] }
  | { readonly count: number }
  | { readonly error: string; readonly message: string };

const moment = 1_709_210_096_789_000n;

export class TestDatabase {
  readonly catalog: Catalog;
  readonly dialect: Dialect;
  readonly #storage: Storage;
  #transaction: StorageTransaction | null = null;
  readonly #undos: (() => void)[] = [];
  readonly #drawn = new Map<string, bigint>();

  constructor(dialect: Dialect = 'postgres') {
    this.#storage = postgresStorage();
    this.catalog = newCatalog(this.#storage);
    if (dialect === 'mysql') this.catalog.createSchema('test');
    this.dialect = dialect;
  }

  prepare(sql: string, parameterTypes: readonly SqlType[] = []) {
    return prepareStatement(sql, {
      catalog: this.catalog,
      dialect: this.dialect,
      searchPath: [this.dialect === 'mysql' ? 'test' : 'public'],
      parameterTypes,
    });
  }

  /** Every statement of the text; the answer of the last. */
  run(sql: string, parameters: readonly SqlValue[] = []): Answer {
    let answer: Answer = { count: 0 };
    for (const each of splitStatements(sql, this.dialect)) answer = this.#answer(each, parameters);
    return answer;
  }

  /** Rows as text. @throws SqlError */
  rows(sql: string, parameters: readonly SqlValue[] = []): readonly (readonly (string | null)[])[] {
    const answer = this.run(sql, parameters);
    if ('error' in answer) throw new SqlError(answer.error, answer.message);
    return 'rows' in answer ? answer.rows : [];
  }

  execute(statement: QueryStatement, parameters: readonly SqlValue[] = []): QueryOutcome {
    return this.#withTransaction(
      (transaction, execution) => finish(statement.run(execution, transaction.statement())),
      parameters,
    );
  }

  begin(): void {
    this.#transaction = this.#storage.begin(1, { isolation: 'read committed', isReadOnly: false });
  }

  rollback(): void {
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) undo();
    this.#transaction?.rollback();
    this.#transaction = null;
  }

  #answer(sql: string, parameters: readonly SqlValue[]): Answer {
    try {
      const statement = this.prepare(sql);
      if (statement.kind === 'ddl') return this.#define(statement);
      if (statement.kind === 'transaction') return this.#control(statement.what);
      if (statement.kind !== 'query') return { count: 0 };
      const { rows, rowCount } = this.execute(statement, parameters);
      const { columns } = statement;
      if (columns === null) return { count: rowCount };
      return {
        columns: columns.map(({ name }) => name),
        rows: rows.map((row) => row.map((value, i) => textOf(value, columns[i]?.type, this.dialect))),
      };
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      return { error: error.code, message: error.message };
    }
  }

  #control(what: string): Answer {
    if (what === 'begin') this.begin();
    else if (what === 'rollback') this.rollback();
    else {
      if (this.#transaction !== null) finish(this.#transaction.commit());
      this.#transaction = null;
      this.#undos.length = 0;
    }
    return { count: 0 };
  }

  #define(statement: DdlStatement): Answer {
    const outcome = this.#withTransaction(
      (transaction, execution) => finish(statement.run(execution, transaction.statement())),
      [],
    );
    if (this.#transaction !== null) this.#undos.push(outcome.undo);
    return { count: outcome.rowCount };
  }

  #withTransaction<T>(
    run: (transaction: StorageTransaction, execution: Execution) => T,
    parameters: readonly SqlValue[],
  ): T {
    const open = this.#transaction;
    const transaction = open ?? this.#storage.begin(1, { isolation: 'read committed', isReadOnly: false });
    const execution = { parameters, surroundings: this.#surroundings };
    const mark = transaction.savepoint();
    try {
      const result = run(transaction, execution);
      if (open === null) finish(transaction.commit());
      return result;
    } catch (error) {
      if (open === null) transaction.rollback();
      else transaction.rollbackTo(mark);
      throw error;
    }
  }

  readonly #surroundings: Surroundings = {
    transactionTime: moment,
    statementTime: moment,
    clock: () => moment,
    random: () => 0.5,
    setting: () => undefined,
    globalSetting: () => undefined,
    setSetting: () => undefined,
    user: 'postgres',
    database: 'postgres',
    sessionId: 1,
    sequence: (name) => this.catalog.sequence(name),
    nextValue: (name) => {
      const value = this.catalog.sequence(name).next();
      this.#drawn.set(name, value);
      return value;
    },
    currentValue: (name) => this.#drawn.get(name) ?? 0n,
    setValue: (name, value, isCalled) => {
      this.catalog.sequence(name).set(value, isCalled);
      return value;
    },
    lastInsertId: 0n,
    setLastInsertId: (value) => value,
    foundRows: 0n,
    rowCount: 0n,
    version: 'PostgreSQL 15',
    transactionId: 1,
    catalog: nameless,
    deferred: new DeferredChecks(),
    locks: unlocked,
    activity: () => [],
    signal: () => false,
    onCatalogQuery: () => undefined,
  };
}

function textOf(value: SqlValue, type: SqlType | undefined, dialect: Dialect): string | null {
  assert(type !== undefined, 'every value has a column');
  return value === null ? null : formatText(value, type, dialect);
}

/** Runs what has nobody to wait for. */
function finish<T>(steps: Waiting<T>): T {
  const step = steps.next();
  assert(step.done === true, `a single session waits for nobody`);
  return step.value;
}
