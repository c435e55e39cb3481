import { describe, expect, test } from 'vitest';
import { counted, formatCount } from '../base/index.ts';
import { displayWidth, padEnd, padStart, printable, truncate, wrap } from './display-text.ts';

const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';

describe('displayWidth counts the columns of a terminal', () => {
  test.each([
    ['abc', 3],
    ['', 0],
    ['日本', 4],
    ['ｆｕｌｌ', 8],
    ['한글', 4],
    ['e\u0301', 1],
    ['\u{1f600}', 2],
    [family, 2],
    ['❤\ufe0f', 2],
    ['\u{1f1e9}\u{1f1ea}', 2],
    ['\u200b', 0],
    ['naïve', 5],
  ])('%s', (text, width) => expect(displayWidth(text)).toBe(width));
});

describe('truncate', () => {
  test.each([
    ['as it is', 8, 'as it is'],
    ['a word too long', 8, 'a wor...'],
    ['日本語日本語', 8, '日本...'],
    [`${family}${family}${family}`, 5, `${family}...`],
    ['abcdef', 2, '..'],
    ['abcdef', 0, ''],
  ])('%s in %i', (text, width, cut) => {
    expect(truncate(text, width)).toBe(cut);
    expect(displayWidth(truncate(text, width))).toBeLessThanOrEqual(width);
  });
});

describe('wrap', () => {
  test.each([
    ['fits', 10, ['fits']],
    ['breaks after a space', 12, ['breaks after', '  a space']],
    ['["aaaa","bbbb","cccc"]', 12, ['["aaaa",', '  "bbbb",', '  "cccc"]']],
    ['unbreakable', 5, ['unbre', '  aka', '  ble']],
    ['日本語日本語', 5, ['日本', '  語', '  日', '  本', '  語']],
  ])('%s in %i', (text, width, lines) => expect(wrap(text, width)).toEqual(lines));
});

test('pads by columns, not by characters', () => {
  expect([padEnd('日本', 6), padStart('日本', 6), padEnd('too long', 3)]).toEqual(['日本  ', '  日本', 'too long']);
});

test('printable shows what would move the cursor or turn the text round', () => {
  expect(printable('a\u001b[2Jb\nc\u202ed\u2028e\u007f')).toBe(String.raw`a\u001b[2Jb\u000ac\u202ed\u2028e\u007f`);
  expect(printable('日本 é')).toBe('日本 é');
});

test('counts have separators and agree with their noun', () => {
  expect([0, 999, 1_000, 1_234_567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([counted(1, 'run'), counted(2_000, 'run')]).toEqual(['1 run', '2,000 runs']);
  expect([1, 2].map((count) => counted(count, 'history', 'histories'))).toEqual(['1 history', '2 histories']);
});
