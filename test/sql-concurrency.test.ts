/** Statements of two sessions at a time over the PostgreSQL storage: what is looked at again after a lock was waited for. */
import { beforeEach, expect, test } from 'vitest';
import { postgresStorage } from '../src/engine/postgres/storage.ts';
import {
  type Catalog,
  DeferredChecks,
  loadParser,
  newCatalog,
  prepareStatement,
  type Surroundings,
} from '../src/sql/index.ts';
import {
  SqlError,
  type SqlValue,
  type Storage,
  type StorageTransaction,
  type Waiting,
} from '../src/sql/model/index.ts';

await loadParser();

let storage: Storage;
let catalog: Catalog;

/** One transaction, statement by statement; a statement that waits is stepped again with `go`. */
class Client {
  readonly #transaction: StorageTransaction;

  constructor(isolation: 'read committed' | 'repeatable read' = 'read committed') {
    this.#transaction = storage.begin(1, { isolation, isReadOnly: false });
  }

  /** The rows, or the reason why it waits. */
  run(sql: string): Running {
    const statement = prepareStatement(sql, { catalog, dialect: 'postgres', searchPath: ['public'] });
    if (statement.kind !== 'query' && statement.kind !== 'ddl') throw new Error(`${sql} is no query`);
    const execution = { parameters: [], surroundings };
    return new Running(statement.run(execution, this.#transaction.statement()));
  }

  commit(): void {
    this.#transaction.commit().next();
  }
}

interface Outcome {
  readonly rows?: readonly (readonly SqlValue[])[];
  readonly rowCount: number;
}

class Running {
  readonly #steps: Waiting<Outcome>;
  state: 'waits' | { readonly rows: unknown; readonly count: number } | { readonly error: string } = 'waits';

  constructor(steps: Waiting<Outcome>) {
    this.#steps = steps;
    this.go();
  }

  go(): this {
    try {
      const step = this.#steps.next();
      if (step.done === true) this.state = { rows: step.value.rows ?? [], count: step.value.rowCount };
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      this.state = { error: error.code };
    }
    return this;
  }
}

const surroundings = {
  setting: () => undefined,
  nextValue: (name: string) => catalog.sequence(name).next(),
  deferred: new DeferredChecks(),
} as unknown as Surroundings;

function once(...statements: readonly string[]): void {
  const client = new Client();
  for (const sql of statements) expect(client.run(sql).state).not.toBe('waits');
  client.commit();
}

beforeEach(() => {
  storage = postgresStorage();
  catalog = newCatalog(storage);
  once(
    'CREATE TABLE t (id int PRIMARY KEY, v int, tag text)',
    'CREATE TABLE o (id int PRIMARY KEY, t int REFERENCES t)',
    "INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')",
  );
});

test('an update adds to the version that the other has committed', () => {
  const [a, b] = [new Client(), new Client()];
  a.run('UPDATE t SET v = v + 1 WHERE id = 1');
  const waiting = b.run('UPDATE t SET v = v + 1 WHERE id = 1 RETURNING v');
  expect(waiting.state).toBe('waits');
  a.commit();
  expect(waiting.go().state).toEqual({ rows: [[12]], count: 1 });
});

test('a row that matches no more is left alone', () => {
  const [a, b] = [new Client(), new Client()];
  a.run('UPDATE t SET v = 0 WHERE id = 1');
  const waiting = b.run('DELETE FROM t WHERE v = 10');
  a.commit();
  expect(waiting.go().state).toEqual({ rows: [], count: 0 });
});

test('a joined update looks again with the same partner', () => {
  const [a, b] = [new Client(), new Client()];
  a.run("UPDATE t SET tag = 'moved', v = 11 WHERE id = 1");
  const waiting = b.run(
    "UPDATE t SET v = t.v + p.n FROM (VALUES ('a', 1), ('b', 2)) p(tag, n) WHERE t.tag = p.tag RETURNING t.id",
  );
  expect(waiting.state).toBe('waits');
  a.commit();
  expect(waiting.go().state).toEqual({ rows: [[2]], count: 1 });
});

test('repeatable read does not write over what it has not seen', () => {
  const [a, b] = [new Client('repeatable read'), new Client('repeatable read')];
  b.run('SELECT 1 FROM t');
  a.run('UPDATE t SET v = 0 WHERE id = 1');
  const waiting = b.run('UPDATE t SET v = 1 WHERE id = 1');
  a.commit();
  expect(waiting.go().state).toEqual({ error: '40001' });
});

test('OFFSET counts the rows that were locked, not those that SKIP LOCKED passed over', () => {
  const [a, b] = [new Client(), new Client()];
  a.run('SELECT id FROM t WHERE id = 1 FOR UPDATE');
  const found = b.run('SELECT id FROM t ORDER BY id LIMIT 1 OFFSET 1 FOR UPDATE SKIP LOCKED');
  expect(found.state).toEqual({ rows: [[3]], count: 1 });
});

test('FOR UPDATE gives the new version, in the order of the old', () => {
  const [a, b] = [new Client(), new Client()];
  a.run('UPDATE t SET v = 99 WHERE id = 1');
  const waiting = b.run('SELECT id, v FROM t ORDER BY v LIMIT 2 FOR UPDATE');
  a.commit();
  expect(waiting.go().state).toEqual({
    rows: [
      [1, 99],
      [2, 20],
    ],
    count: 2,
  });
});

test('SKIP LOCKED takes the next row that is free, NOWAIT fails', () => {
  const [a, b] = [new Client(), new Client()];
  a.run('SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE');
  expect(b.run('SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED').state).toEqual({ rows: [[2]], count: 1 });
  expect(b.run('SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT').state).toEqual({ error: '55P03' });
});

test('a LIMIT locks no more than it gives', () => {
  const [a, b] = [new Client(), new Client()];
  a.run('SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE');
  expect(b.run('UPDATE t SET v = 0 WHERE id > 1').state).toEqual({ rows: [], count: 2 });
});

test('two workers take different jobs', () => {
  const [a, b] = [new Client(), new Client()];
  const take =
    'UPDATE t SET tag = $$taken$$ WHERE id = (SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id';
  expect(a.run(take).state).toEqual({ rows: [[1]], count: 1 });
  expect(b.run(take).state).toEqual({ rows: [[2]], count: 1 });
});

test('an insert of the same key waits, then fails or takes its place', () => {
  const [a, b, c] = [new Client(), new Client(), new Client()];
  a.run("INSERT INTO t VALUES (4, 1, 'x')");
  const plain = b.run("INSERT INTO t VALUES (4, 2, 'y')");
  const upsert = c.run(
    "INSERT INTO t VALUES (4, 3, 'z') ON CONFLICT (id) DO UPDATE SET v = t.v + excluded.v RETURNING v",
  );
  expect([plain.state, upsert.state]).toEqual(['waits', 'waits']);
  a.commit();
  expect(plain.go().state).toEqual({ error: '23505' });
  expect(upsert.go().state).toEqual({ rows: [[4]], count: 1 });
});

test('a child keeps its parent, and does not mind that other columns change', () => {
  const [a, b, c] = [new Client(), new Client(), new Client()];
  a.run('INSERT INTO o VALUES (1, 1)');
  expect(b.run('UPDATE t SET v = 5 WHERE id = 1').state).toEqual({ rows: [], count: 1 });
  b.commit();
  const deletion = c.run('DELETE FROM t WHERE id = 1');
  expect(deletion.state).toBe('waits');
  a.commit();
  expect(deletion.go().state).toEqual({ error: '23503' });
});
