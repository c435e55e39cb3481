/** What MySQL's SET TRANSACTION is for, as MariaDB 10.11 takes it: whatever reads a table or ends a transaction next. */
import { expect, test } from 'vitest';
import { read } from './read-source.test-support.ts';

const setLevel = "await c.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');";
const work = "await c.beginTransaction(); await c.query('UPDATE a SET n = 1 WHERE id = ?', [id]); await c.commit();";
const f = (body: string): string =>
  read(
    {
      'a.ts': `import mysql from 'mysql2/promise'; const pool = mysql.createPool({});
        export async function f(id: number, isStrict: boolean) { const c = await pool.getConnection(); ${body} }`,
    },
    false,
    100_000,
    'mysql',
  );

test.each<[string, string, string]>([
  ['the transaction that begins next', `${setLevel} ${work}`, 'transaction f (serializable)'],
  ['a statement of its own', `${setLevel} await c.query('SELECT n FROM a WHERE id = 1'); ${work}`, 'transaction f\n'],
  ['no transaction behind COMMIT', `${setLevel} await c.query('COMMIT'); ${work}`, 'transaction f\n'],
  [
    'the transaction behind a SELECT of no table',
    `${setLevel} await c.query('SELECT 1'); ${work}`,
    'transaction f (serializable)',
  ],
])('SET TRANSACTION is for %s', (_, body, expected) => {
  expect(f(body)).toContain(expected);
});

test('a statement of its own runs at that level', () => {
  expect(f(`${setLevel} await c.query('SELECT n FROM a WHERE id = 1');`)).toBe(`unit f
  transaction line 2 (serializable)
    SELECT n FROM a WHERE id = 1
`);
});

test('on a condition, nothing is said of the level', () => {
  expect(f(`if (isStrict) ${setLevel} ${work}`)).toContain(
    'not understood: SET TRANSACTION ISOLATION LEVEL on a condition',
  );
});

test('COMMIT AND CHAIN begins another transaction of the same level', () => {
  expect(
    f(`${setLevel} await c.query('BEGIN'); await c.query('DELETE FROM a'); await c.query('COMMIT AND CHAIN');
       await c.query('DELETE FROM b'); await c.query('ROLLBACK AND CHAIN'); await c.query('DELETE FROM a'); await c.query('COMMIT');`),
  ).toBe(`unit f
  transaction f (serializable)
    DELETE FROM a
  transaction f2 (serializable)
    DELETE FROM b
    abort
  transaction f3 (serializable)
    DELETE FROM a
`);
});
