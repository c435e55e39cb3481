/** The axiomatic store below SQL text: what a statement reads and in which order, constraints, anomalies. */
import { describe, expect, test } from 'vitest';
import { type Chooser, seeded } from '../../base/index.ts';
import { formatHistory } from '../../history/index.ts';
import { check, type ConstrainingLevel, constrainingLevels } from '../../isolation/index.ts';
import { drawing, type StrategyName } from '../../mockdb/index.ts';
import {
  type Catalog,
  newCatalog,
  loadParser,
  prepareStatement,
  splitStatements,
  type Execution,
  type Surroundings,
  DeferredChecks,
} from '../../sql/index.ts';
import { SqlError, type SqlValue, type StorageTransaction, type Waiting } from '../../sql/model/index.ts';
import { axiomaticStorage, type AxiomaticStorageOptions } from './storage.ts';

await loadParser();

const options = { isolation: 'serializable', isReadOnly: false } as const;

const schema = `
  CREATE TABLE accounts (id int PRIMARY KEY, owner text, balance int);
  INSERT INTO accounts VALUES (1, 'ada', 50), (2, 'bob', 60);
  CREATE TABLE entries (id int PRIMARY KEY, account int REFERENCES accounts, amount int);
`;

class Database {
  readonly store;
  readonly catalog: Catalog;

  constructor(
    level: ConstrainingLevel,
    more: Partial<AxiomaticStorageOptions> = {},
    strategy: StrategyName = 'latest',
  ) {
    this.store = axiomaticStorage({ level, decisions: drawing({ chooser: seeded(1), strategy }), ...more });
    this.catalog = newCatalog(this.store);
    const load = this.store.begin(0, options);
    this.run(load, schema);
    finish(load.commit());
    this.store.start();
  }

  begin(session: number): StorageTransaction {
    return this.store.begin(session, options);
  }

  /** All statements of the text; the rows of the last, or how many it wrote. */
  run(transaction: StorageTransaction, sql: string): readonly (readonly SqlValue[])[] | number {
    let answer: readonly (readonly SqlValue[])[] | number = 0;
    for (const text of splitStatements(sql, 'postgres')) {
      const statement = prepareStatement(text, { catalog: this.catalog, dialect: 'postgres', searchPath: ['public'] });
      if (statement.kind !== 'query' && statement.kind !== 'ddl') throw new Error(`${text} is a ${statement.kind}`);
      const view = transaction.statement();
      const execution: Execution = { parameters: [], surroundings };
      try {
        if (statement.kind === 'ddl') finish(statement.run(execution, view));
        else {
          const { rows, rowCount } = finish(statement.run(execution, view));
          answer = statement.columns === null ? rowCount : rows;
        }
      } catch (error) {
        view.undo();
        throw error;
      }
    }
    return answer;
  }

  /** A transaction of its own. */
  runAlone(session: number, sql: string) {
    const t = this.begin(session);
    try {
      const answer = this.run(t, sql);
      finish(t.commit());
      return answer;
    } catch (error) {
      t.rollback();
      throw error;
    }
  }

  history(): string {
    return formatHistory(this.store.history());
  }
}

/** @throws Error where the statement would wait */
function finish<T>(steps: Waiting<T>): T {
  const step = steps.next();
  if (step.done === true) return step.value;
  steps.return(undefined as never);
  throw new Error(`waits: ${step.value.reason}`);
}

const surroundings = {
  transactionTime: 0n,
  statementTime: 0n,
  clock: () => 0n,
  random: () => 0.5,
  setting: () => undefined,
  user: 'postgres',
  database: 'postgres',
  sessionId: 1,
  deferred: new DeferredChecks(),
} as unknown as Surroundings;

describe('the reads of a statement', () => {
  test('SELECT: existence of each row, the condition, then what is returned', () => {
    const database = new Database('causal');
    expect(database.runAlone(0, `SELECT owner FROM accounts WHERE balance > 55`)).toEqual([['bob']]);
    expect(database.history().split('\n').at(-1)).toBe(
      'r accounts/1 _, r accounts/2 _, r accounts/1/balance _, r accounts/2/balance _, r accounts/2/owner _',
    );
  });

  test('UPDATE: the condition, what is computed from, then the writes of what is assigned', () => {
    const database = new Database('causal');
    expect(database.runAlone(0, `UPDATE accounts SET balance = balance + 1 WHERE id = 2`)).toBe(1);
    expect(database.history().split('\n').at(-1)).toBe(
      'r accounts/2 _, r accounts/2/id _, r accounts/2/balance _, w accounts/2/balance 61',
    );
  });

  test('DELETE writes existence, INSERT existence and all columns; keys are looked up outside of the history', () => {
    const database = new Database('causal');
    expect(database.runAlone(0, `DELETE FROM accounts WHERE id = 2`)).toBe(1);
    expect(database.runAlone(0, `INSERT INTO entries VALUES (7, 1, 5)`)).toBe(1);
    expect(database.history().split('\n').at(-1)).toBe(
      'r accounts/2 _, r accounts/2/id _, w accounts/2 false | w entries/7 true, w entries/7/id 7, w entries/7/account 1, w entries/7/amount 5',
    );
  });

  test('a subquery over the table that is updated sees it as it was before', () => {
    const database = new Database('causal');
    database.runAlone(0, `UPDATE accounts SET balance = (SELECT sum(balance) FROM accounts)`);
    expect(database.runAlone(0, `SELECT balance FROM accounts ORDER BY id`)).toEqual([[110], [110]]);
    expect(check(database.store.history(), 'serializable').kind).toBe('satisfied');
  });

  test('MERGE: the row that ON looks up, then what the clause that acts on it looks at', () => {
    const database = new Database('causal');
    const source = 'SELECT id, id * 100 AS paid FROM generate_series(2, 3) id';
    const merge = `MERGE INTO accounts a USING (${source}) s ON a.id = s.id
      WHEN MATCHED AND a.balance > 100 THEN DELETE WHEN MATCHED THEN UPDATE SET balance = a.balance + s.paid
      WHEN NOT MATCHED THEN INSERT (id, balance) VALUES (s.id, s.paid)`;
    expect(database.runAlone(0, merge)).toBe(2);
    expect(database.history().split('\n').at(-1)).toBe(
      'r accounts/2 _, r accounts/2/id _, r accounts/2/balance _, w accounts/2/balance 260, ' +
        'w accounts/3 true, w accounts/3/id 3, w accounts/3/owner null, w accounts/3/balance 300',
    );
    expect(database.runAlone(0, 'SELECT id, balance FROM accounts ORDER BY id')).toEqual([
      [1, 50],
      [2, 260],
      [3, 300],
    ]);
  });
});

describe('constraints hold whatever the reads see', () => {
  const code = (run: () => unknown): string | null => {
    try {
      run();
      return null;
    } catch (error) {
      if (error instanceof SqlError) return error.code;
      throw error;
    }
  };

  test('unique and foreign keys', () => {
    const database = new Database('causal', {}, 'older');
    database.runAlone(0, `INSERT INTO accounts VALUES (3, 'cyd', 0)`);
    expect(code(() => database.runAlone(1, `INSERT INTO accounts VALUES (3, 'cyd', 0)`))).toBe('23505');
    expect(code(() => database.runAlone(1, `INSERT INTO entries VALUES (1, 3, 0)`))).toBeNull();
    expect(code(() => database.runAlone(1, `INSERT INTO entries VALUES (2, 9, 0)`))).toBe('23503');
    expect(code(() => database.runAlone(0, `DELETE FROM accounts WHERE id = 3`))).toBe('23503');
    expect(check(database.store.history(), 'causal').kind).toBe('satisfied');
  });

  test('ON CONFLICT updates the row that is in the way', () => {
    const database = new Database('causal');
    const upsert = `INSERT INTO accounts VALUES (2, 'eve', 1) ON CONFLICT (id) DO UPDATE SET balance = accounts.balance + 1`;
    expect(database.runAlone(0, upsert)).toBe(1);
    expect(database.runAlone(0, `SELECT * FROM accounts WHERE id = 2`)).toEqual([[2, 'bob', 61]]);
  });

  test('a child of a row that an open transaction deletes waits', () => {
    const database = new Database('causal');
    const t = database.begin(0);
    database.run(t, `DELETE FROM accounts WHERE id = 1`);
    expect(() => database.runAlone(1, `INSERT INTO entries VALUES (1, 1, 0)`)).toThrow('waits: row accounts/1');
  });
});

const withdraw = `UPDATE accounts SET balance = balance - 40 WHERE id = 1`;

test('two withdrawals: one is lost at causal, refused at snapshot isolation', () => {
  const outcomes = (['causal', 'snapshot-isolation'] as const).map((level) => {
    const database = new Database(level);
    const [a, b] = [database.begin(0), database.begin(1)];
    for (const t of [a, b]) database.run(t, `SELECT balance FROM accounts WHERE id = 1 FOR UPDATE; ${withdraw}`);
    finish(a.commit());
    let outcome = 'lost';
    try {
      finish(b.commit());
    } catch (error) {
      outcome = (error as SqlError).code;
    }
    const strong = database.store.beginStrong(2);
    return [outcome, database.run(strong, `SELECT balance FROM accounts WHERE id = 1`)];
  });
  expect(outcomes).toEqual([
    ['lost', [[10]]],
    ['40001', [[10]]],
  ]);
});

const statements = [
  `SELECT sum(balance) FROM accounts`,
  `SELECT a.owner, e.amount FROM accounts a LEFT JOIN entries e ON e.account = a.id WHERE a.balance > 10`,
  `UPDATE accounts SET balance = balance + 7 WHERE id = 1`,
  `UPDATE accounts SET owner = 'zoe', balance = balance - 3 WHERE balance > 40`,
  `DELETE FROM entries WHERE amount < 4`,
  `INSERT INTO entries SELECT coalesce(max(id), 0) + 1, 1, count(*) FROM entries`,
  `INSERT INTO accounts VALUES (3, 'new', 1) ON CONFLICT DO NOTHING`,
  `DELETE FROM accounts WHERE id = 3`,
];

function runAtRandom(database: Database, chooser: Chooser): void {
  const open: (StorageTransaction | undefined)[] = [undefined, undefined];
  for (let step = 0; step < 60; step += 1) {
    const session = chooser.choose(open.length);
    const t = (open[session] ??= database.begin(session));
    try {
      if (chooser.choose(4) > 0) database.run(t, statements[chooser.choose(statements.length)] as string);
      else {
        open[session] = undefined;
        finish(t.commit());
      }
    } catch (error) {
      if (!(error instanceof SqlError) && !String(error).includes('waits')) throw error;
      open[session] = undefined;
      t.rollback();
    }
  }
}

test.each(constrainingLevels)('histories of SQL programs are at %s, whatever the window', (level) => {
  for (let seed = 0; seed < 12; seed += 1) {
    const chooser = seeded(seed);
    const granularity = seed % 2 === 0 ? 'cell' : 'row';
    const database = new Database(level, { granularity, decisions: drawing({ chooser }), windowMax: 2 + (seed % 4) });
    runAtRandom(database, chooser);
    const history = database.store.history();
    expect(history.transactions.length).toBeGreaterThan(5);
    const { kind } = check(history, level, { abortedReads: 'constrained' });
    expect({ kind, seed }).toEqual({ kind: 'satisfied', seed });
  }
});
