/**
 * PostgreSQL's regular expressions, as far as JavaScript's mean the same: character classes in brackets, `\m \M \y \Y`, and that `.` and
 * `[^...]` match a newline are translated; look-behind and the embedded options beyond `(?i)` are refused. Manual, 9.7.3.
 */
import { notSupported, SqlError } from '../model/index.ts';
import type { Execution } from '../execution.ts';
import { regexDegree } from './regex-degree.ts';

interface Compiled {
  readonly pattern: string;
  readonly flags: string;
  readonly regex: RegExp;
  /** Longer texts are matched under watch. */
  readonly unwatchedLength: number;
}

const cache = new Map<string, Compiled>();
const cacheMax = 500;

/** The one before: a statement asks for the same, row after row, and a key for the cache is a text to make. */
let latest: Compiled | null = null;

/** `flags`: i, g, and PostgreSQL's others that change nothing here. @throws SqlError 2201B */
function compiled(pattern: string, flags: string): Compiled {
  if (latest === null || latest.pattern !== pattern || latest.flags !== flags) latest = cached(pattern, flags);
  latest.regex.lastIndex = 0;
  return latest;
}

function cached(pattern: string, flags: string): Compiled {
  const key = `${flags}/${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (cache.size >= cacheMax) cache.clear();
  const regex = build(pattern, flags);
  const made = { pattern, flags, regex, unwatchedLength: STEPS_UNWATCHED ** (1 / regexDegree(regex.source)) };
  cache.set(key, made);
  return made;
}

/**
 * JavaScript's engine backtracks: where a match may take far more steps than the text is long, the statement's time can end it.
 * @throws SqlError 2201B, 57014
 */
export function withRegex<T>(
  { budget }: Pick<Execution, 'budget'>,
  text: string,
  [pattern, flags = '']: readonly [pattern: string, flags?: string],
  work: (regex: RegExp) => T,
): T {
  const { regex, unwatchedLength } = compiled(pattern, flags);
  try {
    return budget === undefined || text.length <= unwatchedLength ? work(regex) : budget.stoppable(() => work(regex));
  } catch (error) {
    throw complexity(error);
  }
}

export function matchesRegex(
  execution: Pick<Execution, 'budget'>,
  text: string,
  pattern: string,
  flags: string,
): boolean {
  return withRegex(execution, text, [pattern, flags], (regex) => regex.test(text));
}

/** Every match, as far as it is asked for. @throws SqlError 2201B, 57014 */
export function* eachMatch(
  execution: Pick<Execution, 'budget'>,
  text: string,
  pattern: string,
  flags: string,
): Generator<RegExpExecArray, void> {
  const { budget } = execution;
  const globally = `${flags.replaceAll('g', '')}g`;
  let at = 0;
  for (;;) {
    budget?.checkInterrupt();
    const match = withRegex(execution, text, [pattern, globally], (regex) => {
      regex.lastIndex = at;
      return regex.exec(text);
    });
    if (match === null) return;
    at = match.index + match[0].length;
    // An empty match ends where it begins; a character may have two units.
    if (match[0] === '') at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    yield match;
  }
}

/** Steps that a match may take without a watch, which costs as much as some ten thousand steps. */
const STEPS_UNWATCHED = 1e6;

/** V8 compiles an expression when it is first used, and finds only then that it is too large. */
function complexity(error: unknown): unknown {
  if (!(error instanceof SyntaxError)) return error;
  return new SqlError('2201B', 'invalid regular expression: regular expression is too complex');
}

function build(pattern: string, flags: string): RegExp {
  const { source, options } = splitOptions(pattern);
  const all = flags + options;
  for (const flag of all) {
    if (!'icgnmpqstwex'.includes(flag)) {
      throw new SqlError('22023', `invalid regular expression option: "${flag}"`);
    }
    if ('nmpwxqe'.includes(flag)) throw notSupported(`the regular expression option "${flag}"`);
  }
  const isFolded = all.lastIndexOf('i') > all.lastIndexOf('c');
  try {
    return new RegExp(translate(source), `su${isFolded ? 'i' : ''}${all.includes('g') ? 'g' : ''}`);
  } catch (error) {
    if (error instanceof SqlError) throw error;
    throw new SqlError('2201B', `invalid regular expression: ${reason(source)}`);
  }
}

function reason(source: string): string {
  if (/(^|[^\\])[[][^\]]*$/.test(source)) return 'brackets [] not balanced';
  if (/[()]/.test(source)) return 'parentheses () not balanced';
  return 'quantifier operand invalid';
}

function splitOptions(pattern: string): { readonly source: string; readonly options: string } {
  const match = /^\(\?([a-z]+)\)/.exec(pattern);
  return match === null
    ? { source: pattern, options: '' }
    : { source: pattern.slice(match[0].length), options: match[1] ?? '' };
}

const classes: Readonly<Record<string, string>> = {
  alpha: '\\p{L}',
  digit: '\\p{Nd}',
  alnum: '\\p{L}\\p{Nd}',
  upper: '\\p{Lu}',
  lower: '\\p{Ll}',
  space: '\\s',
  punct: '\\p{P}\\p{S}',
  xdigit: '0-9A-Fa-f',
  blank: ' \\t',
  cntrl: '\\p{Cc}',
};

const wordStart = '(?<![\\p{L}\\p{Nd}_])(?=[\\p{L}\\p{Nd}_])';
const wordEnd = '(?<=[\\p{L}\\p{Nd}_])(?![\\p{L}\\p{Nd}_])';
const escapes: Readonly<Record<string, string>> = {
  m: wordStart,
  M: wordEnd,
  y: `(?:${wordStart}|${wordEnd})`,
  Y: `(?!${wordStart}|${wordEnd})`,
  A: '^',
  Z: '$',
  a: '\\u0007',
  e: '\\u001b',
  B: '\\\\',
};

/** regguts.h, DUPMAX. */
const repetitionsMax = 255;

function translate(source: string): string {
  let result = '';
  for (let i = 0; i < source.length; i += 1) {
    const character = source[i] ?? '';
    if (character === '\\') {
      i += 1;
      result += escaped(source[i]);
    } else if (character === '[') {
      const end = bracketEnd(source, i);
      result += bracket(source.slice(i, end));
      i = end - 1;
    } else if (character === '(' && source.startsWith('(?<', i)) {
      throw new SqlError('2201B', 'invalid regular expression: quantifier operand invalid');
    } else if (
      character === '{' &&
      Number(/^\{(?:\d+,)?(\d+)/.exec(source.slice(i, i + 16))?.[1] ?? 0) > repetitionsMax
    ) {
      throw new SqlError('2201B', 'invalid regular expression: invalid repetition count(s)');
    } else if (character === '}' || (character === '{' && !/^\{\d+(?:,\d*)?\}/.test(source.slice(i)))) {
      result += openBrace(source, i, character);
    } else result += character;
  }
  return result;
}

/** A brace that is part of no bound stands for itself, but for one that begins with a digit. */
function openBrace(source: string, at: number, character: string): string {
  if (character === '}' && /\{\d+(?:,\d*)?$/.test(source.slice(0, at))) return character;
  return `\\${character}`;
}

function escaped(character: string | undefined): string {
  if (character === undefined) throw new SqlError('2201B', 'invalid regular expression: invalid escape \\ sequence');
  const translated = escapes[character];
  if (translated !== undefined) return translated;
  if (/[dDwWsSbfnrtv1-9]/.test(character)) return character === 'b' ? '\\u0008' : `\\${character}`;
  return /[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : literal(character);
}

function literal(character: string): string {
  if (/[a-zA-Z]/.test(character)) throw new SqlError('2201B', 'invalid regular expression: invalid escape \\ sequence');
  return character === '-' ? '-' : character;
}

/** The place after the closing bracket; a bracket that comes first is a member. */
function bracketEnd(source: string, start: number): number {
  let i = start + 1;
  if (source[i] === '^') i += 1;
  if (source[i] === ']') i += 1;
  while (i < source.length && source[i] !== ']') {
    if (source[i] === '\\') i += 1;
    const end = /^\[([.:=])/.test(source.slice(i, i + 2)) ? source.indexOf(`${source[i + 1] ?? ''}]`, i + 2) : -1;
    i = end === -1 ? i + 1 : end + 2;
  }
  if (i >= source.length) throw new SqlError('2201B', 'invalid regular expression: brackets [] not balanced');
  return i + 1;
}

function bracket(text: string): string {
  const isNegated = text.startsWith('[^');
  const body = text.slice(isNegated ? 2 : 1, -1);
  const translated = body.replace(
    /\[:([a-z]+):\]|\\([\s\S])|([[\]^])/g,
    (_all, name?: string, escape?: string, special?: string) => {
      if (name !== undefined) {
        const members = classes[name];
        if (members === undefined) throw new SqlError('2201B', 'invalid regular expression: invalid character class');
        return members;
      }
      if (escape !== undefined) return /[dwsDWSfnrtv\\\]^-]/.test(escape) ? `\\${escape}` : escaped(escape);
      return `\\${special ?? ''}`;
    },
  );
  return `[${isNegated ? '^' : ''}${translated}]`;
}
