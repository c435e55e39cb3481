/** What `try` and `catch` of a promise leave behind: variables, and the code that follows. */
import { expect, test } from 'vitest';
import { pg, read } from './read-source.test-support.ts';

const named = `function named(name) { if (name === '') throw new Error('no name'); return name; }\n`;

test('a variable has what the path gave it on which the handler ran', () => {
  const text = read({
    'a.ts': `${pg}${named}export async function f(given) {
      let isNamed = false;
      try { named(given); isNamed = true; } catch { console.log('none'); }
      if (isNamed) await pool.query('DELETE FROM items WHERE name = $1', [given]);
      else await pool.query('DELETE FROM items');
    }`,
  });
  expect(text).toBe(`unit f
  if (given <> '')
    DELETE FROM items WHERE name = $1  [given]
  else
    DELETE FROM items
`);
});

test('a variable that the handler sets', () => {
  const text = read({
    'a.ts': `${pg}export async function f(given) {
      let name = 'x';
      try { if (given === '') throw new Error(); name = given; } catch { name = 'y'; }
      await pool.query('DELETE FROM items WHERE name = $1', [name]);
    }`,
  });
  expect(text).toContain(`DELETE FROM items WHERE name = $1  [if((given = ''), 'y', given)]`);
});

test('what a promise throws reaches the function of `catch`, and the chain continues', () => {
  const text = read({
    'a.ts': `${pg}${named}const check = async (given) => named(given);
      export const f = (given) => check(given).catch(() => console.log('none')).then(() => pool.query('DELETE FROM items'));`,
  });
  expect(text).toBe('unit f\n  DELETE FROM items\n');
});

test('a promise that its function rejects', () => {
  const text = read({
    'a.ts': `${pg}const wait = (given) => new Promise((resolve, reject) => { if (given === '') reject(new Error()); resolve(given); });
      export async function f(given) { let name = 'x'; try { name = await wait(given); } catch { name = 'y'; }
        await pool.query('DELETE FROM items WHERE name = $1', [name]); }`,
  });
  expect(text).toContain(`DELETE FROM items WHERE name = $1  [if((given = ''), 'y', given)]`);
});

test('where an error of a function is caught and thrown again, the code behind it runs on the paths without one', () => {
  const text = read({
    'a.ts': `${pg}import axios from 'axios';
      const fetched = async (id) => { try { const found = await axios.get('/items/' + id); return found.data; } catch { throw new Error('not fetched'); } };
      export const f = (id) => fetched(id)
        .then((found) => pool.query('UPDATE items SET name = $1', [found.name]))
        .catch(() => pool.query('DELETE FROM items'));`,
  });
  expect(text).toMatch(/if not\(.*\)\n.*UPDATE items SET name = \$1/);
  expect(text).toContain('DELETE FROM items');
});
