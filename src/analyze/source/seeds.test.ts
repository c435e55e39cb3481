import { expect, test } from 'vitest';
import { applicationFromSource } from './index.ts';
import { pg, ts } from './read-source.test-support.ts';

const items = `${pg}export async function add(id: number) { await pool.query('INSERT INTO items VALUES ($1)', [id]); }`;
const clear = `${pg}export async function seed() { await pool.query('DELETE FROM items'); }`;

function unitsAndLeftOut(files: Readonly<Record<string, string>>, named: readonly string[] = []) {
  const entryPoints = named.map((name) => ({ text: name, name, matches: () => true }));
  const { units, notUnderstood, leftOut } = applicationFromSource({
    ts,
    files: new Map(Object.entries(files)),
    schema: '',
    dialect: 'postgres',
    entryPoints,
  });
  return { units: units.map(({ name }) => name), notUnderstood, leftOut };
}

test.each(['db/seed.ts', 'src/seeds/01-items.js', 'seeders/items.ts'])('%s runs before any client does', (file) => {
  expect(unitsAndLeftOut({ 'src/items.ts': items, [file]: clear })).toEqual({
    units: ['add'],
    notUnderstood: [],
    leftOut: [`${file} runs while no other transaction does: it is a seed`],
  });
});

test('a function that only a seed calls may be called by clients', () => {
  const seed = `import { add } from './items';\nvoid add(1);`;
  expect(unitsAndLeftOut({ 'src/items.ts': items, 'src/seed.ts': seed }).units).toEqual(['add']);
});

test('a seed that --unit names is a unit', () => {
  expect(unitsAndLeftOut({ 'db/seed.ts': clear }, ['seed'])).toEqual({
    units: ['seed'],
    notUnderstood: [],
    leftOut: [],
  });
});

test.each(['src/seed-phrase.ts', 'src/random/seeding.ts'])('%s is as any file', (file) => {
  expect(unitsAndLeftOut({ [file]: clear })).toMatchObject({ units: ['seed'], leftOut: [] });
});
