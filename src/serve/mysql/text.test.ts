import { expect, test } from 'vitest';
import { usedDatabase } from '../../database/index.ts';
import { killOf, sqlText } from './text.ts';

test.each([
  ['KILL 7', { what: 'connection', id: 7 }],
  ['kill connection 7;', { what: 'connection', id: 7 }],
  [' Kill  Query 12 ', { what: 'query', id: 12 }],
  ['kill query connection_id()', { what: 'query', id: 'own' }],
  ['KILL x', null],
  ['SELECT 1', null],
] as const)('%s', (sql, expected) => expect(killOf(sql)).toEqual(expected));

test.each([
  ['plain text', Buffer.from("select 'é'"), "select 'é'"],
  ['bytes that are text', Buffer.from("values (_binary'abc')"), "values (_binary'abc')"],
  [
    'bytes that are none',
    Buffer.concat([Buffer.from("values (_binary'"), Buffer.of(0xff, 0x5c, 0x30, 0x27, 0x27), Buffer.from("', 'é')")]),
    "values (x'ff0027', 'é')",
  ],
  [
    'escaped bytes',
    Buffer.concat([Buffer.from("_BINARY '"), Buffer.of(0x5c, 0x5c, 0x5c, 0x27, 0x80), Buffer.from("'")]),
    "x'5c2780'",
  ],
])('%s', (_name, bytes, text) => expect(sqlText(bytes)).toBe(text));

test.each([
  ['USE shop', 'shop'],
  [' use `my ``shop`;', 'my `shop'],
  ['use', null],
  ['SELECT 1', null],
])('%s: the database', (sql, name) => expect(usedDatabase(sql)).toBe(name));
