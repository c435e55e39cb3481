/** What is drawn of a run never contradicts SQL: each statement answers as the lines above it imply, read from the top. */
import { expect, test } from 'vitest';
import { seeded } from '../base/index.ts';
import { drawing } from '../mockdb/index.ts';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../program/index.ts';
import { everyEngineLevel, onMysql, onPostgres } from './engines.test-support.ts';
import { parseProfile } from '../database/index.ts';
import { runSqlProgram } from './sql-run.ts';
import { drawStatements, type DrawnStatement, formatStatements, type LoggedStatement } from './statement-log.ts';

const insert = 'INSERT INTO u (n) SELECT 1 WHERE NOT EXISTS (SELECT * FROM u)';
const statements = ['BEGIN', 'SELECT n FROM t', 'UPDATE t SET n = n + 1', 'SELECT n FROM t', 'COMMIT', insert];

function counting(dialect: 'postgres' | 'mysql'): SqlProgram {
  const run = (c: SqlConnection) =>
    dialect === 'postgres'
      ? onPostgres(c, async (client) => {
          for (const sql of statements) await client.query(sql).catch(() => client.query('ROLLBACK'));
        })
      : onMysql(c, async (client) => {
          for (const sql of statements) await client.query(sql).catch(() => client.query('ROLLBACK'));
        });
  return sqlProgram({
    dialect,
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0); CREATE TABLE u (n int)',
    sessions: { a: run, b: run },
    invariant: () => true,
  });
}

/** Reads the drawing from the top, as a person does who knows what a snapshot is, and no more. */
class Reader {
  /** Committed: the counter, and rows of `u`. */
  readonly #now = { n: 0, rows: 0 };
  /** By connection: what was committed where its transaction took its snapshot, where its statement began, and what it has written. */
  readonly #snapshots = new Map<number, { n: number; rows: number }>();
  readonly #begun = new Map<number, { n: number; rows: number }>();
  readonly #written = new Map<number, number>();

  /**
   * What this statement may answer; `null` where nothing follows from the lines above. One that locks what it reads, on InnoDB, reads the latest
   * when it has its locks: somewhere between its beginning and its end.
   */
  expected(drawn: DrawnStatement): string[] | null {
    const { statement, part, takesSnapshot, readsOlder } = drawn;
    const { connection, sql } = statement;
    if (takesSnapshot === 'transaction') this.#snapshots.set(connection, { ...this.#now });
    if (part === 'begin') {
      this.#begun.set(connection, { ...this.#now });
      return null;
    }
    const began = part === 'end' ? this.#begun.get(connection) : this.#now;
    const read = (readsOlder ? this.#snapshots.get(connection) : began) ?? this.#now;
    const seen = statement.snapshot === null ? [read, this.#now] : [read];
    if (sql.startsWith('SELECT')) return seen.map(({ n }) => `(${this.#written.get(connection) ?? n})`);
    return sql === insert ? seen.map(({ rows }) => (rows === 0 ? '1 row changed' : '0 rows changed')) : null;
  }

  /** It answered. */
  did({ connection, sql, outcome }: LoggedStatement): void {
    if (/^\w{5} /.test(outcome) || sql === 'ROLLBACK') this.#written.delete(connection);
    else if (sql.startsWith('UPDATE')) this.#written.set(connection, this.#now.n + 1);
    else if (sql === 'COMMIT') {
      this.#now.n = this.#written.get(connection) ?? this.#now.n;
      this.#written.delete(connection);
    } else if (sql === insert) this.#now.rows += Number.parseInt(outcome, 10);
  }
}

test.each(everyEngineLevel)('%s at %s', async (dialect, isolation) => {
  if (isolation === 'read uncommitted') return;
  const profile = parseProfile({ engine: dialect, isolation });
  let split = 0;
  for (let seed = 0; seed < 40; seed += 1) {
    const run = await runSqlProgram(counting(dialect), {
      profile,
      seed,
      abortRate: 0,
      timeoutMs: 10_000,
      decisions: drawing({ chooser: seeded(seed) }),
      isLogged: true,
    });
    if (run.kind === 'timeout') throw new Error('late');
    const reader = new Reader();
    for (const drawn of drawStatements(run.statements)) {
      split += Number(drawn.part === 'begin');
      const expected = reader.expected(drawn);
      if (drawn.part === 'begin') continue;
      const { outcome } = drawn.statement;
      if (expected !== null && !/^\w{5} /.test(outcome))
        expect({
          outcome,
          isExpected: expected.includes(outcome),
          drawing: formatStatements(run.statements),
        }).toMatchObject({
          outcome,
          isExpected: true,
        });
      reader.did(drawn.statement);
    }
  }
  expect(split).toBeGreaterThan(0);
});

test('a statement that ran under an older snapshot is drawn with the moment at which that was taken', () => {
  const base = {
    parameters: [],
    summary: '',
    waitedFor: null,
    connection: 1,
    snapshot: null,
    commits: false,
    connectionName: 'a',
    isError: false,
    endsTransaction: false,
    time: 0,
    began: 0,
  };
  const log: LoggedStatement[] = [
    { ...base, session: 'a', sql: 'BEGIN', outcome: '' },
    { ...base, session: 'b', connection: 2, sql: 'INSERT 1', outcome: '1 row changed', began: 1, commits: true },
    { ...base, session: 'a', sql: 'INSERT 2', outcome: '1 row changed', began: 1, snapshot: 1 },
  ];
  expect(formatStatements(log)).toEqual([
    '  a  BEGIN',
    '  a  INSERT 2',
    '       takes its snapshot',
    '  b  INSERT 1',
    '       -> 1 row changed',
    '  a  ... INSERT 2',
    '       -> 1 row changed',
  ]);
});
