import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { anomalyParts, filled, levelParts, type Parts } from './support/level-docs.ts';

/** MOIRAI_UPDATE_DOCS=1 writes them. */
const isUpdate = process.env['MOIRAI_UPDATE_DOCS'] === '1';

test.each<[string, Parts]>([
  ['docs/levels.md', levelParts],
  ['docs/anomalies.md', anomalyParts],
])(
  '%s says what the tables say; else run: MOIRAI_UPDATE_DOCS=1 npx vitest run test/level-docs.test.ts',
  (path, parts) => {
    const file = new URL(`../${path}`, import.meta.url);
    const text = readFileSync(file, 'utf8');
    const expected = filled(text, parts);
    if (isUpdate) writeFileSync(file, expected);
    else expect(text).toBe(expected);
    const inText = [...text.matchAll(/<!-- part (\S+) -->/g)].map(([, name]) => name);
    expect(inText).toEqual(Object.keys(parts));
  },
);

test('a part that is out of date is seen', () => {
  const parts = { greeting: 'hello' };
  expect(filled('a\n<!-- part greeting -->\n\nold\n\n<!-- end -->\nb', parts)).toBe(
    'a\n<!-- part greeting -->\n\nhello\n\n<!-- end -->\nb',
  );
  expect(() => filled('<!-- part other -->\n<!-- end -->', parts)).toThrow('no part is called other');
});
