/** `||`, LIKE and regular expressions over text. */
import { formatText, types, type SqlType, type SqlValue } from '../model/index.ts';
import { conversionOf } from './cast-values.ts';
import { likeEscape, likeMatcher } from './like.ts';
import { matchesRegex } from './regex.ts';
import { type Call, type Plain, type Signature, stoppable, type Stoppable, strict, typed } from './signature.ts';

type Present = Exclude<SqlValue, null>;

/** As `||` and concat show a value: by its output function, so that true is `t`. */
export function shownText(type: SqlType): (value: Present) => string {
  return (value) => formatText(value, type, 'postgres');
}

/** As a cast to text shows it: a character(n) loses its padding, true is `true`. */
export function castText(type: SqlType): (value: Present) => string {
  const convert = conversionOf(type, types.text);
  // Of casts to text none asks for the session.
  return (value) => convert(value, undefined as never) as string;
}

/** Bytes as characters of Latin 1, so that `_` is one byte. */
function bytesMatch(bytes: Uint8Array, pattern: Uint8Array): boolean {
  const [text, like] = [bytes, pattern].map((each) => Buffer.from(each).toString('latin1'));
  return likeMatcher(like ?? '')(text ?? '');
}

const textual = strict({
  '||(text, text) text': (a: string, b: string) => a + b,
  '||(bytea, bytea) bytea': (a: Uint8Array, b: Uint8Array) => new Uint8Array(Buffer.concat([a, b])),
  '~~(bytea, bytea) bool': bytesMatch,
  '!~~(bytea, bytea) bool': (bytes: Uint8Array, pattern: Uint8Array) => !bytesMatch(bytes, pattern),
  'like_escape(text, text) text': likeEscape,
  '^@(text, text) bool': (a: string, b: string) => a.startsWith(b),
});

const built: Record<string, Plain> = {};
for (const [operator, ignoresCase] of [
  ['~~', false],
  ['~~*', true],
] as const) {
  for (const left of ['text', 'bpchar', 'name']) {
    built[`${operator}(${left}, text) bool`] = (text: string, pattern: string) =>
      likeMatcher(pattern, ignoresCase)(text);
    built[`!${operator}(${left}, text) bool`] = (text: string, pattern: string) =>
      !likeMatcher(pattern, ignoresCase)(text);
  }
}
const matching: Record<string, Stoppable> = {};
for (const [operator, flags] of [
  ['~', ''],
  ['~*', 'i'],
] as const) {
  for (const left of ['text', 'bpchar', 'name']) {
    matching[`${operator}(${left}, text) bool`] = (execution, text: string, pattern: string) =>
      matchesRegex(execution, text, pattern, flags);
    matching[`!${operator}(${left}, text) bool`] = (execution, text: string, pattern: string) =>
      !matchesRegex(execution, text, pattern, flags);
  }
}

export const textOperators: readonly Signature[] = [
  ...textual,
  ...strict(built),
  ...stoppable(matching),
  ...typed({
    '||(text, anynonarray) text': ({ types: [, right] }: Call) => {
      const show = castText(right ?? types.text);
      return (a: string, b: Present) => a + show(b);
    },
    '||(anynonarray, text) text': ({ types: [left] }: Call) => {
      const show = castText(left ?? types.text);
      return (a: Present, b: string) => show(a) + b;
    },
  }),
];
