import { describe, expect, test } from 'vitest';
import { seeded } from '../base/index.ts';
import { connected, openDatabase, type TestSession } from './sql-session.test-support.ts';

// More rows than a scan needs to keep its list.
const rowCount = 300;

const numbers = Array.from({ length: rowCount }, (_, i) => i + 1);

describe('a scan of a table that has not been written since another scan', () => {
  test.each([1, 2, 3, 4])(
    'sees what its snapshot has, as a scan of the index does, in order of insertion (seed %i)',
    async (seed) => {
      const database = await openDatabase({ engine: 'postgres' });
      const sessions = [connected(database), connected(database), connected(database)];
      const [first] = sessions as [TestSession, ...TestSession[]];
      await first.run('create table t (id int primary key, v int)');
      await first.run(`insert into t values ${numbers.map((id) => `(${id}, 0)`).join()}`);
      const chooser = seeded(seed);
      const choose = (options: number): number => chooser.choose(options);
      let lastId = rowCount;
      for (let step = 0; step < 120; step++) {
        const at = choose(sessions.length);
        const session = sessions[at] as TestSession;
        // A row of its own, so that no session waits.
        const own = 1 + at + sessions.length * choose(40);
        const statements = [
          'begin isolation level read committed',
          'begin isolation level repeatable read',
          'commit',
          'rollback',
          'savepoint s',
          'rollback to s',
          `insert into t values (${++lastId}, ${step})`,
          `update t set v = ${step} where id = ${own}`,
          `update t set v = v + 1 where id % ${sessions.length} = ${own % sessions.length} and id < 50`,
          `delete from t where id = ${own}`,
          'select sum(v) from t',
        ];
        await session.outcome(statements[choose(statements.length)] as string);
        for (const { session: reader, rows } of sessions) {
          if (reader.transactionStatus === 'failed') continue;
          const scanned = await rows('select id, v from t');
          const again = await rows('select id, v from t');
          expect(again).toEqual(scanned);
          expect(scanned).toEqual(await rows('select id, v from t where id > 0 order by id'));
        }
      }
    },
  );

  test('is not kept for an older snapshot', async () => {
    const database = await openDatabase({ engine: 'postgres' });
    const [old, other] = [connected(database), connected(database)];
    await other.run('create table t (id int primary key)');
    await other.run(`insert into t values ${numbers.map((id) => `(${id})`).join()}`);
    await old.run('begin isolation level repeatable read');
    expect(await old.rows('select count(*) from t')).toEqual([[BigInt(rowCount)]]);
    await other.run('delete from t where id = 7');
    expect(await other.rows('select count(*) from t')).toEqual([[BigInt(rowCount - 1)]]);
    expect(await old.rows('select count(*) from t')).toEqual([[BigInt(rowCount)]]);
  });
});

test('a join of tables that were scanned before finds the same partners', async () => {
  const database = await openDatabase({ engine: 'postgres' });
  const { run, rows } = connected(database);
  await run('create table a (id int primary key, code text unique)');
  await run('create table b (id int primary key, a_id int, a_code text, v int)');
  await run('create index on b (a_id)');
  const codeOf = (id: number): string => `c${id}`;
  await run(`insert into a values ${numbers.map((id) => `(${id}, '${codeOf(id)}')`).join()}`);
  // Two rows for some, none for others, NULL, and keys without a partner.
  const partnerOf = (id: number): number | null => (id % 10 === 0 ? null : id % 7 === 0 ? 1000 + id : (id * 7) % 200);
  const text = (value: number | null): string => (value === null ? 'null, null' : `${value}, '${codeOf(value)}'`);
  await run(`insert into b values ${numbers.map((id) => `(${id}, ${text(partnerOf(id))}, ${id % 3})`).join()}`);
  const isPartner = (id: number | null): id is number => id !== null && id >= 1 && id <= rowCount;
  const joined = numbers.map((id) => [partnerOf(id), id]).filter(([partner = null]) => isPartner(partner));
  const sorted = (pairs: readonly (readonly unknown[])[]): string[] => pairs.map(String).toSorted();
  for (let round = 0; round < 2; round++) {
    expect(sorted(await rows('select a.id, b.id from b join a on a.id = b.a_id'))).toEqual(sorted(joined));
    expect(sorted(await rows('select a.id, b.id from b join a on a.code = b.a_code'))).toEqual(sorted(joined));
    const left = numbers.flatMap((id) => {
      const found = joined.filter(([partner]) => partner === id);
      return found.length > 0 ? found : [[id, null]];
    });
    expect(sorted(await rows('select a.id, b.id from a left join b on b.a_id = a.id'))).toEqual(sorted(left));
    const some = numbers.filter((id) => joined.some(([partner, b = 0]) => partner === id && (b ?? 0) % 3 === 1));
    expect(
      sorted(await rows('select id from a where exists (select 1 from b where b.a_id = a.id and b.v = 1)')),
    ).toEqual(sorted(some.map((id) => [id])));
  }
});
