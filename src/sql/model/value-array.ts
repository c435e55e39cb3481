/** The text form of arrays: `{1,NULL,"a b"}`. PostgreSQL manual, 8.15.6. Arrays here have one dimension. */
import { notSupported, SqlError } from './sql-error.ts';
import type { SqlArray, SqlValue } from './value.ts';

export function arrayValue(elements: readonly SqlValue[]): SqlArray {
  return { kind: 'array', elements };
}

export function formatArray(elements: readonly (string | null)[]): string {
  return `{${elements.map((element) => (element === null ? 'NULL' : quoteElement(element))).join(',')}}`;
}

function quoteElement(text: string): string {
  const needsQuotes = text === '' || /[{},"\\\s]/.test(text) || text.toUpperCase() === 'NULL';
  return needsQuotes ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}

const elementPattern = /\s*(?:"((?:[^"\\]|\\[\s\S])*)"|((?:[^{},"\\]|\\[\s\S])*))\s*/y;

/** The texts of the elements; `null` for NULL. @throws SqlError 22P02, 0A000 more than one dimension */
export function parseArray(text: string): (string | null)[] {
  const body = text.trim().replace(/^\[1:\d+\]=/, '');
  if (!body.startsWith('{')) {
    throw malformed(text, 'Array value must start with "{" or dimension information.');
  }
  if (/^\{\s*\{/.test(body)) throw notSupported('an array of more than one dimension');
  const elements: (string | null)[] = [];
  if (/^\{\s*\}$/.test(body)) return elements;
  let at = 1;
  for (;;) {
    elementPattern.lastIndex = at;
    const match = elementPattern.exec(body);
    const element = match === null ? undefined : readElement(match);
    if (element === undefined) throw malformed(text, `Unexpected "${body[at] ?? ''}" character.`);
    elements.push(element);
    at = elementPattern.lastIndex;
    if (body[at] === '}') break;
    if (body[at] !== ',') throw malformed(text, 'Unexpected end of input.');
    at += 1;
  }
  if (at !== body.length - 1) throw malformed(text, 'Junk after closing right brace.');
  return elements;
}

function readElement([, quoted, bare]: RegExpExecArray): string | null | undefined {
  if (quoted !== undefined) return quoted.replace(/\\([\s\S])/g, '$1');
  const trimmed = bare?.trim();
  if (trimmed === undefined || trimmed === '') return undefined;
  return trimmed.toUpperCase() === 'NULL' ? null : trimmed.replace(/\\([\s\S])/g, '$1');
}

function malformed(text: string, detail: string): SqlError {
  return new SqlError('22P02', `malformed array literal: "${text}"`, { detail });
}
