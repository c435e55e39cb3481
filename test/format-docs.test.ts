import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { historyFormats, kindText, type LineFields, transactionFields } from '../src/history/index.ts';
import { operationFields } from '../src/trace/index.ts';

const docs = (name: string): string => readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8');
const text = docs('formats.md');

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

test.each([
  ['histories.md', transactionFields],
  ['verify.md', operationFields],
])('docs/%s describes the fields of a line as the reader and the scanner have them', (name, fields: LineFields) => {
  const rows = Object.entries(fields).map(([field, { kind, isRequired, meaning }]) => {
    const needed = isRequired === true ? `**\`${field}\`**` : `\`${field}\``;
    return `| ${needed} | ${kindText(kind)} | ${meaning} |`;
  });
  expect(docs(name)).toContain(['| field | value | meaning |', '| --- | --- | --- |', ...rows, ''].join('\n'));
});
