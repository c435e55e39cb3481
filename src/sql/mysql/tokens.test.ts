import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitMysql, tokenize } from './tokens.ts';

/** The tokens that mean something, as `kind value`. */
function tokens(sql: string): string[] {
  return tokenize(sql)
    .filter(({ kind }) => kind !== 'space')
    .map(({ kind, value }) => `${kind} ${value}`);
}

describe('tokenize', () => {
  test.each([
    [
      'strings',
      String.raw`'a''b' "c""d" 'e\'f\n\%\q' n'g'`,
      [`string a'b`, 'string c"d', "string e'f\n\\%q", 'string g'],
    ],
    ['quoted names', '`a``b` `c\\`', ['quoted a`b', 'quoted c\\']],
    ['numbers', '1 1.5 .5 1e5 1.5E-3 12.', ['1', '1.5', '.5', '1e5', '1.5E-3', '12.'].map((text) => `number ${text}`)],
    ['names that begin with digits', '1st 2e', ['word 1st', 'word 2e']],
    ['bytes', `x'4D' X'' 0xF 0xfz b'01' 0b1`, ['hex 4D', 'hex ', 'hex 0F', 'word 0xfz', 'bits 01', 'bits 1']],
    [
      'variables',
      "@a.b @`c d` @'e' @@f @@GLOBAL.g @@session . h",
      ['a.b', 'c d', 'e']
        .map((name) => `user-variable ${name}`)
        .concat(['f', 'global.g', 'session.h'].map((name) => `system-variable ${name}`)),
    ],
    [
      'operators',
      'a<=>b->>c&&d||e:=!f<>g',
      ['a', '<=>', 'b', '->>', 'c', '&&', 'd', '||', 'e', ':=', '!', 'f', '<>', 'g'].map(
        (text) => `${/\w/.test(text) ? 'word' : 'operator'} ${text}`,
      ),
    ],
    ['parameters', '?,?', ['parameter ?', 'operator ,', 'parameter ?']],
    ['comments', '1 -- a\n2 # b\n3 /* c */4', ['number 1', 'number 2', 'number 3', 'number 4']],
    ['no comment without white space', '1--1', ['number 1', 'operator -', 'operator -', 'number 1']],
    ['executed comments', '/*!40101 a */ /*! b */ /*!90000 c */ /*+ d */', ['word a', 'word b']],
    ['names in other letters', 'größe 名前', ['word größe', 'word 名前']],
    ['what does not end', "'a", ["unterminated 'a"]],
  ])('%s', (_name, sql, expected) => expect(tokens(sql)).toEqual(expected));

  test('loses no character, whatever the text', () => {
    fc.assert(
      fc.property(sqlLike, (sql) => {
        const all = tokenize(sql);
        expect(all.map(({ text }) => text).join('')).toBe(sql);
        let at = 0;
        for (const token of all) {
          expect(token.at).toBe(at);
          expect(token.text.length).toBeGreaterThan(0);
          at += token.text.length;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('splitMysql', () => {
  test.each([
    ['a; b ;c', ['a', 'b', 'c']],
    [`select ';' ; -- x;\n select ";"`, [`select ';'`, '-- x;\n select ";"']],
    [';; /* only; a comment */ ;', []],
    ['/*!40101 SET NAMES utf8 */;', ['/*!40101 SET NAMES utf8 */']],
    ["select 'open; select 2", ["select 'open; select 2"]],
  ])('%j', (sql, expected) => expect(splitMysql(sql)).toEqual(expected));
});

const sqlLike = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        ...`' " \` \\ -- # /* */ /*! /*!50000 @ @@ x' 0x b' 1 . e5 a ; ? \n , := -> | & é 名`.split(' '),
        ' ',
        '\0',
      ),
      {
        maxLength: 30,
      },
    )
    .map((parts) => parts.join('')),
);
