import fc from 'fast-check';
import { scanSync } from 'libpg-query';
import { beforeAll, expect, test } from 'vitest';
import { growth, linearMax } from '../base/growth.test-support.ts';
import { withoutNested } from './nested-comments.ts';
import { loadParser, parseStatement } from './parse.ts';

beforeAll(loadParser);

const nested = `${'/*'.repeat(60)}${'*/'.repeat(60)}`;
const blank = `/*${' '.repeat(nested.length - 4)}*/`;

test.each([
  ['few comments', 'select 1 /* a /* b */ */', 'select 1 /* a /* b */ */'],
  ['many', `${nested} select 1`, `${blank} select 1`],
  ['one after the other', `${nested} select ${'/*a*/'.repeat(100)} 1`, `${blank} select ${'/* */'.repeat(100)} 1`],
  ['lines and bytes of a comment stay', `${nested}/*ü\nx*/ select 1`, `${blank}/*  \n */ select 1`],
  ['a literal', `${nested} select '/* it''s */'`, `${blank} select '/* it''s */'`],
  ['a literal with escapes', `${nested} select e'\\'/* x */'`, `${blank} select e'\\'/* x */'`],
  ['one that continues', `${nested} select e'' -- '\n'\\'/*'`, `${blank} select e'' -- '\n'\\'/*'`],
  ['a name', `${nested} select "/* ""x */"`, `${blank} select "/* ""x */"`],
  ['dollar quotes', `${nested} select $a$ /* $$ */ $a$`, `${blank} select $a$ /* $$ */ $a$`],
  ['dollars in names', `${nested} select a$b$, '/*', c$b$ '/*'`, `${blank} select a$b$, '/*', c$b$ '/*'`],
  ['the rest of a line', `${nested} select 1 -- /* x\n, 2 /* y */`, `${blank} select 1 -- /* x\n, 2 /*   */`],
  ['no end', `select 1 ${'/*'.repeat(200)}`, `select 1 /*${' '.repeat(398)}`],
])('%s', (_name, sql, expected) => {
  expect(withoutNested(sql)).toBe(expected);
});

test("PostgreSQL's scanner finds the same tokens in the same places", () => {
  const piece = fc.constantFrom(
    '/*',
    '*/',
    "'",
    "''",
    '"',
    '\\',
    '$$',
    '$a$',
    '$1',
    'a$',
    '--',
    '\n',
    ' ',
    'e',
    "e'",
    "E'",
    'U&',
    'x',
    '+',
    ';',
    'ü',
    '1',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const sql = `${nested} ${pieces.join('')}`;
      expect(tokens(withoutNested(sql), sql)).toEqual(tokens(sql, sql));
    }),
    { numRuns: 2_000 },
  );
});

/** What is no comment, as it stands in `sql`; `null`: something has no end. */
function tokens(scanned: string, sql: string): string[] | null {
  const bytes = Buffer.from(sql);
  try {
    return scanSync(scanned).tokens.flatMap(({ start, end, tokenName }) => {
      const [there, here] = [Buffer.from(scanned), bytes].map((all) => all.subarray(start, end).toString());
      return tokenName === 'C_COMMENT' ? [] : [`${start} ${tokenName} ${there} ${here}`];
    });
  } catch {
    return null;
  }
}

test.each([
  ['nested comments', (n: number) => `${'/*'.repeat(n)}${'*/'.repeat(n)} select ${n}`],
  ['comments without an end', (n: number) => `select ${n} ${'/*'.repeat(n)}`],
  [
    'dollar quotes without an end',
    (n: number) => `${nested} ${Array.from({ length: n }, (_, i) => `$a${i}$`).join(' ')}`,
  ],
])('%s are read in linear time', async (_name, textOf) => {
  const read = (size: number): void => {
    try {
      parseStatement(textOf(size));
    } catch {
      // Some are syntax errors.
    }
  };
  expect(await growth(16_000, read)).toBeLessThan(linearMax);
});
