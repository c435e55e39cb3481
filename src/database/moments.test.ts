import { expect, test } from 'vitest';
import { connected, openDatabase } from './sql-session.test-support.ts';

test('moments have microseconds', async () => {
  const clock = (): bigint => 1_704_164_645_454_321n;
  const session = connected(await openDatabase({ engine: 'postgres' }, { settle: null, clock }));
  expect(await session.rows('select now()::text, extract(microseconds from clock_timestamp())::int')).toEqual([
    ['2024-01-02 03:04:05.454321+00', 5_454_321],
  ]);
});
