/** Statements that would take all time or all memory inside an expression. With PostgreSQL's code where the server refuses them too. */
import { expect, test } from 'vitest';
import { connected, openDatabase } from './sql-session.test-support.ts';

test.each([
  ['select generate_series(1, 1000000000000)', '57014'],
  ['select count(*) from (select generate_series(1, 1000000000000)) x', '57014'],
  ['select * from generate_series(1, 1000000000000) with ordinality where ordinality < 0', '57014'],
  [`select '${'a'.repeat(60)}!' ~ '^(a+)+$'`, '57014'],
  [`select regexp_replace('${'a'.repeat(60)}!', '(a|aa)+$', 'x')`, '57014'],
  [`select count(*) from regexp_matches('${'x'.repeat(60)}', '^(x+x+)+y', 'g')`, '57014'],
  [`select regexp_split_to_array('${'x'.repeat(60)}', '(x+x+)+y')`, '57014'],
  [`select sqrt(repeat('9', 100000)::numeric)`, '57014'],
  [`select exp(1e6::numeric)`, '22003'],
  [`select array_fill(0, array[1000000000])`, '54000'],
  [`select repeat('x', 2000000000)`, '54000'],
  [`select lpad('x', 2000000000)`, '54000'],
  [`select 'x' ~ 'a{256}'`, '2201B'],
])('%s: %s', async (sql, code) => {
  // What has another answer may take as long as a busy machine needs.
  const database = await openDatabase({}, { computeMsMax: code === '57014' ? 200 : 60_000 });
  const session = connected(database);
  expect(await session.outcome(sql)).toBe(code);
  expect(await session.rows('select round(sqrt(2::numeric), 3)::text')).toEqual([['1.414']]);
});

test('functions in a select list give their rows as far as they are asked for', async () => {
  const database = await openDatabase({}, { computeMsMax: 1_000 });
  expect(await connected(database).rows('select generate_series(1, 1000000000000) limit 2')).toEqual([[1n], [2n]]);
});
