import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { historyFormats } from '../src/history/index.ts';

const text = readFileSync(new URL('../docs/formats.md', import.meta.url), 'utf8');

test('docs/formats.md has a row for every format, and no other', () => {
  const rows = [...text.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names = '']) => names.split(', '));
  const known = historyFormats.map(({ name }) => `\`${name}\``);
  expect(rows.filter((name) => name !== '`--format`').toSorted()).toEqual(known.toSorted());
});

test('its traps speak of every format of other tools', () => {
  const own = new Set(['notation', 'jsonl', 'binary']);
  const titles = [...text.slice(text.indexOf('## Traps')).matchAll(/^\*\*(.*?)\.\*\*/gm)];
  const traps = new Set(titles.flatMap(([, names = '']) => names.split(', ')));
  const missing = historyFormats.filter(({ name }) => !own.has(name) && !traps.has(name));
  expect(missing).toEqual([]);
});
