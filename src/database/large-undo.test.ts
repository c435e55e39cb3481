/** A statement that fails after many rows is undone in linear time, although the recorder of histories keeps what the rows were. */
import { expect, test } from 'vitest';
import { growth, linearMax } from '../base/growth.test-support.ts';
import { connected, openDatabase } from './sql-session.test-support.ts';

const size = 16_000;

/** InnoDB reads and writes row after row. */
test.each(['postgres', 'mysql'])(
  '%s',
  async (engine) => {
    const client = connected(await openDatabase({ engine }, { computeMsMax: 600_000 }));
    await client.run('create table t (id int not null)');
    await client.run('create table s (id int primary key)');
    await client.run(`insert into s values ${Array.from({ length: size }, (_, i) => `(${i + 1})`).join()}`);
    const grown = await growth(size, async (n) => {
      const sql = `insert into t select case when id < ${n} then id else null end from s where id <= ${n}`;
      expect(await client.outcome(sql)).toBe('23502');
    });
    expect(await client.rows('select count(*) from t')).toEqual([[0n]]);
    expect(grown).toBeLessThan(linearMax);
  },
  120_000,
);
