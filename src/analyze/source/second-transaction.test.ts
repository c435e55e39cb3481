/** A transaction that a function runs on another connection while one is open. */
import { expect, test } from 'vitest';
import { read } from './read-source.test-support.ts';

const unit = (body: string) =>
  read({
    'a.ts': `import { Kysely } from 'kysely'; const db = new Kysely({});
      export async function f(id, text) { await db.transaction().execute(async (outer) => { ${body} }); }`,
  });

const note = `const note = (text) => db.transaction().execute((tx) => tx.insertInto('notes').values({ text }).execute());`;

test('it stands before the one that waits for it', () => {
  expect(
    unit(`${note} await outer.deleteFrom('items').where('id', '=', id).execute(); await note(text);
      await outer.deleteFrom('parts').where('item', '=', id).execute();`),
  ).toBe(`unit f
  transaction note
    INSERT INTO notes (text) VALUES ($1)  [text]
  transaction f
    DELETE FROM items WHERE id = $1  [id]
    DELETE FROM parts WHERE item = $1  [id]
`);
});

test('it stands behind the one whose rows it uses', () => {
  expect(
    unit(`${note} const item = await outer.selectFrom('items').select('name').where('id', '=', id).executeTakeFirst();
      await note(item.name);`),
  ).toBe(`unit f
  transaction f
    items := SELECT name FROM items WHERE id = $1  [id]
  transaction note
    INSERT INTO notes (text) VALUES ($1)  [items.name]
`);
});

test('what it throws rolls both back', () => {
  expect(
    unit(`await outer.deleteFrom('items').where('id', '=', id).execute();
      await db.transaction().execute(async (tx) => {
        await tx.insertInto('notes').values({ text }).execute();
        if (text === '') throw new Error('no text');
      });
      await outer.deleteFrom('parts').where('item', '=', id).execute();`),
  ).toBe(`unit f
  transaction f2
    INSERT INTO notes (text) VALUES ($1)  [text]
    if (text = '')
      abort
  transaction f
    DELETE FROM items WHERE id = $1  [id]
    if (text = '')
      abort
    DELETE FROM parts WHERE item = $1  [id]
`);
});

test('a statement of the one that waits is listed', () => {
  expect(
    unit(`await db.transaction().execute((tx) => outer.deleteFrom('items').where('id', '=', id).execute());`),
  ).toContain('not understood: it runs in a transaction that waits for a second one');
});
