/** LIKE: `%` is any text, `_` one character, a backslash takes the next one as it is. PostgreSQL source, like_match.c. */
import { SqlError } from '../model/index.ts';

type Matcher = (text: string) => boolean;

const any = Symbol('%');
const one = Symbol('_');
type Part = typeof any | typeof one | string;

const matchers = new Map<string, Matcher>();
const matchersMax = 500;

/** Patterns mostly repeat, row after row. */
export function likeMatcher(pattern: string, ignoresCase = false): Matcher {
  const key = (ignoresCase ? 'i' : 's') + pattern;
  const known = matchers.get(key);
  if (known !== undefined) return known;
  if (matchers.size >= matchersMax) matchers.clear();
  const made = matcherOf(ignoresCase ? pattern.toLowerCase() : pattern, ignoresCase);
  matchers.set(key, made);
  return made;
}

function matcherOf(pattern: string, ignoresCase: boolean): Matcher {
  const parts = partsOf(pattern);
  return (text) => matches(Array.from(ignoresCase ? text.toLowerCase() : text), parts);
}

/** An escape at the very end is an error only when a match comes to it. */
const danglingEscape = 'escape';

function partsOf(pattern: string): readonly Part[] {
  const parts: Part[] = [];
  const characters = Array.from(pattern);
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i] ?? '';
    if (character === '%') parts.push(any);
    else if (character === '_') parts.push(one);
    else if (character !== '\\') parts.push(character);
    else {
      i += 1;
      parts.push(characters[i] ?? danglingEscape);
    }
  }
  return parts;
}

/** Goes back to the last `%` only: quadratic at worst, never exponential. */
function matches(text: readonly string[], parts: readonly Part[]): boolean {
  let at = 0;
  let part = 0;
  let lastAny = -1;
  let resumeAt = 0;
  while (at < text.length) {
    const wanted = parts[part];
    if (wanted === danglingEscape) {
      throw new SqlError('22025', 'LIKE pattern must not end with escape character');
    }
    if (wanted === any) {
      lastAny = part;
      resumeAt = at;
      part += 1;
    } else if (wanted !== undefined && (wanted === one || wanted === text[at])) {
      at += 1;
      part += 1;
    } else if (lastAny >= 0) {
      resumeAt += 1;
      at = resumeAt;
      part = lastAny + 1;
    } else return false;
  }
  while (parts[part] === any) part += 1;
  return part === parts.length;
}

/** A pattern with another escape character, or none, as one with a backslash. @throws SqlError 22019 */
export function likeEscape(pattern: string, escape: string): string {
  const characters = Array.from(escape);
  if (characters.length > 1) {
    throw new SqlError('22019', 'invalid escape string', { hint: 'Escape string must be empty or one character.' });
  }
  if (escape === '\\') return pattern;
  let result = '';
  const source = Array.from(pattern);
  for (let i = 0; i < source.length; i += 1) {
    const character = source[i] ?? '';
    if (escape !== '' && character === escape) {
      i += 1;
      result += `\\${source[i] ?? ''}`;
    } else result += character === '\\' ? '\\\\' : character;
  }
  return result;
}
