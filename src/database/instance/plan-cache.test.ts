/** Plans that databases with the same schema share: each has its own rows, counters and catalog. */
import { describe, expect, test } from 'vitest';
import { connected, openDatabase, type TestSession } from '../sql-session.test-support.ts';
import { SharedPlans } from './plan-cache.ts';

/** Whose counter follows a value that a statement names, and whose does not. */
const counters = {
  postgres: { key: 'serial PRIMARY KEY', afterOneAndThirty: 2 },
  mysql: { key: 'int AUTO_INCREMENT PRIMARY KEY', afterOneAndThirty: 31 },
} as const;

class CountedPlans extends SharedPlans {
  uses = 0;

  override get(key: string): ReturnType<SharedPlans['get']> {
    const found = super.get(key);
    if (found !== undefined) this.uses += 1;
    return found;
  }
}

async function opened(dialect: keyof typeof counters, sharedPlans: SharedPlans): Promise<TestSession> {
  const database = await openDatabase({ engine: dialect }, { sharedPlans, settle: null });
  const session = connected(database);
  await session.run(`CREATE TABLE a (id ${counters[dialect].key}, n int)`);
  await session.run('INSERT INTO a (n) VALUES (7)');
  database.start();
  return session;
}

describe.each(['postgres', 'mysql'] as const)('%s: two databases with one schema', (dialect) => {
  test('share the plan of a statement', async () => {
    const shared = new CountedPlans();
    const [one, other] = [await opened(dialect, shared), await opened(dialect, shared)];
    const sql = 'SELECT n FROM a WHERE id = 1';
    expect(await one.rows(sql)).toEqual([[7]]);
    expect(shared.uses).toBe(0);
    expect(await other.rows(sql)).toEqual([[7]]);
    expect(shared.uses).toBe(1);
    await other.run('UPDATE a SET n = 8 WHERE id = 1');
    expect([await one.rows(sql), await other.rows(sql)]).toEqual([[[7]], [[8]]]);
  });

  test('count on in counters of their own', async () => {
    const shared = new SharedPlans();
    const [one, other] = [await opened(dialect, shared), await opened(dialect, shared)];
    for (let i = 0; i < 3; i++) await one.run('INSERT INTO a (n) VALUES (1)');
    await one.run('INSERT INTO a (id, n) VALUES (50, 1)');
    await other.run('INSERT INTO a (id, n) VALUES (30, 1)');
    await other.run('INSERT INTO a (n) VALUES (1)');
    const last = counters[dialect].afterOneAndThirty;
    expect(await other.rows('SELECT id FROM a ORDER BY id')).toEqual(
      [1, 30, last].toSorted((a, b) => a - b).map((id) => [id]),
    );
    await one.run('TRUNCATE a');
    await other.run('INSERT INTO a (n) VALUES (2)');
    expect(await other.rows('SELECT id FROM a WHERE n = 2')).toEqual([[last + 1]]);
  });

  test('look up their own catalogs', async () => {
    const shared = new SharedPlans();
    const [one, other] = [await opened(dialect, shared), await opened(dialect, shared)];
    const tables = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'own%'";
    expect(await one.rows(tables)).toEqual([[0n]]);
    await other.run('CREATE TABLE own (id int)');
    expect(await other.rows(tables)).toEqual([[1n]]);
    expect(await one.rows(tables)).toEqual([[0n]]);
  });

  test('of which one has changed its schema: the other sees nothing of that', async () => {
    const shared = new SharedPlans();
    const [one, other] = [await opened(dialect, shared), await opened(dialect, shared)];
    const deletion = 'DELETE FROM a WHERE id = 1';
    one.session.prepare(deletion);
    await one.run('CREATE TABLE child (a_id int, FOREIGN KEY (a_id) REFERENCES a (id))');
    await one.run('INSERT INTO child VALUES (1)');
    expect(await other.outcome(deletion)).toBe('DELETE');
    expect(await one.outcome(deletion)).toMatch(/^23/);
    expect(await other.rows('SELECT * FROM a')).toEqual([]);
  });
});
