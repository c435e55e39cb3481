/** Patterns of to_char, to_date and to_timestamp: those in common use. PostgreSQL manual, 9.8. */
import {
  formatNumeric,
  roundNumeric,
  type Numeric,
  notSupported,
  SqlError,
  civilOfDays,
  dayOfWeek,
  daysInMonth,
  daysOfCivil,
  digits,
  isFiniteTime,
  joinTimestamp,
  splitTimestamp,
} from '../model/index.ts';
import { isoWeek } from './time-fields.ts';

const monthNames = 'January February March April May June July August September October November December'.split(' ');
const dayNames = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** Longer words first, so that `MONTH` is not `MON` and `TH`. */
const keywords =
  'Y,YYY YYYY YYY YY Y IYYY IYY IY I MONTH Month month MON Mon mon MM DDD DD DAY Day day DY Dy dy IDDD ID D HH24 HH12 HH MI SSSSS SSSS SS MS US FF1 FF2 FF3 FF4 FF5 FF6 A.M. P.M. a.m. p.m. AM PM am pm A.D. B.C. a.d. b.c. AD BC ad bc Q WW IW W CC J TZH TZM TZ tz OF RM rm'
    .split(' ')
    .toSorted((a, b) => b.length - a.length);

interface Token {
  readonly keyword?: string;
  readonly literal?: string;
  readonly isFilled: boolean;
  readonly ordinal?: string;
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; ) {
    let isFilled = true;
    const start = at;
    if (/^fm/i.test(pattern.slice(at))) {
      isFilled = false;
      at += 2;
    }
    const rest = pattern.slice(at);
    const quoted = /^"((?:[^"\\]|\\.)*)"?/.exec(rest);
    const keyword = keywords.find(
      (word) =>
        rest.startsWith(word) ||
        (word === word.toUpperCase() && isCaseless(word) && rest.toUpperCase().startsWith(word)),
    );
    if (quoted !== null && start === at) {
      tokens.push({ literal: (quoted[1] ?? '').replace(/\\(.)/g, '$1'), isFilled });
      at += quoted[0].length;
    } else if (keyword === undefined) {
      tokens.push({ literal: rest.slice(0, 1), isFilled });
      at += 1;
    } else {
      at += keyword.length;
      const ordinal = /^(?:TH|th)/.exec(pattern.slice(at))?.[0];
      at += ordinal?.length ?? 0;
      tokens.push({ keyword, isFilled, ...(ordinal === undefined ? {} : { ordinal }) });
    }
  }
  return tokens;
}

/** Words that show digits mean the same in small letters. */
function isCaseless(word: string): boolean {
  return /^(?:Y,YYY|I?Y+|I|MM|I?D+|ID|HH(?:24|12)?|MI|S+|MS|US|FF\d|Q|WW|IW|W|CC|J|OF|TZH|TZM)$/.test(word);
}

/** @throws SqlError 0A000 for patterns that are not here */
export function formatTimestampPattern(time: bigint, pattern: string, zone: string): string {
  if (!isFiniteTime(time)) return '';
  return tokensOf(pattern)
    .map((token) => (token.keyword === undefined ? (token.literal ?? '') : fieldText(token, time, zone)))
    .join('');
}

function fieldText({ keyword = '', isFilled, ordinal }: Token, time: bigint, zone: string): string {
  const { days, time: clock } = splitTimestamp(time);
  const number = numberField(keyword, days, clock);
  if (number !== undefined) {
    const [value, width] = number;
    const sign = value < 0 ? '-' : '';
    const text = sign + (isFilled ? digits(Math.abs(value), width) : String(Math.abs(value)));
    return text + (ordinal === undefined ? '' : ordinalSuffix(value, ordinal));
  }
  const { year, month } = civilOfDays(days);
  switch (keyword) {
    case 'Y,YYY': {
      const text = digits(year, 4);
      return `${text.slice(0, -3)},${text.slice(-3)}`;
    }
    case 'TZ':
      return zone;
    case 'tz':
      return zone.toLowerCase();
    case 'OF':
    case 'TZH':
      return '+00';
    case 'TZM':
      return '00';
    default:
      break;
  }
  if (/^[ap]\.?m\.?$/i.test(keyword)) return likeWord(clock < 43_200_000_000n ? 'am' : 'pm', keyword);
  if (/^(?:a\.?d|b\.?c)\.?$/i.test(keyword)) return likeWord(year > 0 ? 'ad' : 'bc', keyword);
  const name = keyword.toUpperCase().startsWith('MON') ? monthNames[month - 1] : dayNames[dayOfWeek(days)];
  if (name === undefined || /^rm$/i.test(keyword)) throw notSupported(`the pattern "${keyword}"`);
  return nameText(name, keyword, isFilled);
}

function likeWord(word: string, keyword: string): string {
  const dotted = keyword.includes('.') ? `${word[0]}.${word[1]}.` : word;
  return /[A-Z]/.test(keyword) ? dotted.toUpperCase() : dotted;
}

/** Full names are padded to the longest one. */
function nameText(name: string, keyword: string, isFilled: boolean): string {
  const isShort = keyword.length <= 3 && keyword.toUpperCase() !== 'DAY';
  const text = isShort ? name.slice(0, 3) : name.padEnd(isFilled ? 9 : 0);
  if (keyword === keyword.toUpperCase()) return text.toUpperCase();
  return keyword === keyword.toLowerCase() ? text.toLowerCase() : text;
}

function numberField(keyword: string, days: number, clock: bigint): readonly [number, number] | undefined {
  const { year, month, day } = civilOfDays(days);
  const shownYear = year > 0 ? year : 1 - year;
  const second = Number(clock / 1_000_000n);
  const micro = Number(clock % 1_000_000n);
  const iso = isoWeek(days);
  const dayOfYear = days - daysOfCivil({ year, month: 1, day: 1 }) + 1;
  const fraction = /^FF(\d)$/.exec(keyword);
  if (fraction !== null) return [Math.floor(micro / 10 ** (6 - Number(fraction[1]))), Number(fraction[1])];
  const fields: Readonly<Record<string, readonly [number, number]>> = {
    YYYY: [shownYear, 4],
    YYY: [shownYear % 1000, 3],
    YY: [shownYear % 100, 2],
    Y: [shownYear % 10, 1],
    IYYY: [iso.year, 4],
    IYY: [iso.year % 1000, 3],
    IY: [iso.year % 100, 2],
    I: [iso.year % 10, 1],
    MM: [month, 2],
    DDD: [dayOfYear, 3],
    DD: [day, 2],
    D: [dayOfWeek(days) + 1, 1],
    ID: [dayOfWeek(days) || 7, 1],
    HH24: [Math.floor(second / 3600), 2],
    HH12: [Math.floor(second / 3600) % 12 || 12, 2],
    HH: [Math.floor(second / 3600) % 12 || 12, 2],
    MI: [Math.floor(second / 60) % 60, 2],
    SS: [second % 60, 2],
    SSSS: [second, 1],
    SSSSS: [second, 1],
    MS: [Math.floor(micro / 1000), 3],
    US: [micro, 6],
    Q: [Math.ceil(month / 3), 1],
    WW: [Math.floor((dayOfYear - 1) / 7) + 1, 2],
    IW: [iso.week, 2],
    W: [Math.floor((day - 1) / 7) + 1, 1],
    CC: [year > 0 ? Math.ceil(year / 100) : Math.floor(year / 100) - 1, 2],
    J: [days + 2_440_588, 1],
  };
  return fields[keyword];
}

function ordinalSuffix(value: number, like: string): string {
  const last = value % 10;
  const isTeen = Math.floor((value % 100) / 10) === 1;
  const suffix = isTeen || last > 3 || last === 0 ? 'th' : (['st', 'nd', 'rd'][last - 1] ?? 'th');
  return like === 'TH' ? suffix.toUpperCase() : suffix;
}

interface Parsed {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  micro: number;
  half: string | undefined;
}

/** An instant in UTC. @throws SqlError 22007, 22008, 0A000 */
export function parseTimestampPattern(text: string, pattern: string): bigint {
  const parsed: Parsed = { year: 1, month: 1, day: 1, hour: 0, minute: 0, second: 0, micro: 0, half: undefined };
  let rest = text.trimStart();
  const tokens = tokensOf(pattern.trim());
  for (const [i, token] of tokens.entries()) {
    if (token.keyword === undefined) {
      const isSeparator = !/[a-z0-9]/i.test(token.literal ?? '');
      rest = isSeparator ? rest.replace(/^[^A-Za-z0-9+-]|^[-+](?=\d)/, '') : rest.slice((token.literal ?? '').length);
      continue;
    }
    // Without a separator after it a field takes its own width only.
    const isBounded = tokens[i + 1]?.keyword !== undefined;
    rest = readField(token.keyword, rest.trimStart(), parsed, isBounded);
  }
  return instantOf(parsed, text);
}

const widths: Readonly<Record<string, number>> = {
  YYYY: 4,
  MM: 2,
  DD: 2,
  HH24: 2,
  HH12: 2,
  HH: 2,
  MI: 2,
  SS: 2,
  MS: 3,
  US: 6,
};

function readField(keyword: string, rest: string, parsed: Parsed, isBounded: boolean): string {
  const width = widths[keyword];
  if (width !== undefined) {
    const found = (isBounded ? new RegExp(`^\\d{1,${width}}`) : /^\d+/).exec(rest)?.[0];
    if (found === undefined) throw invalidField(rest, keyword);
    setNumber(keyword, found, parsed);
    return rest.slice(found.length);
  }
  if (/^[ap]\.?m\.?$/i.test(keyword)) {
    const word = /^[ap]\.?m\.?/i.exec(rest)?.[0];
    if (word === undefined) throw invalidField(rest, keyword);
    parsed.half = word.replaceAll('.', '').toLowerCase();
    return rest.slice(word.length);
  }
  if (/^mon/i.test(keyword)) {
    const isShort = keyword.length === 3;
    const month = monthNames.findIndex((name) =>
      rest.toLowerCase().startsWith((isShort ? name.slice(0, 3) : name).toLowerCase()),
    );
    if (month < 0) throw invalidField(rest, keyword);
    parsed.month = month + 1;
    return rest.slice(isShort ? 3 : (monthNames[month]?.length ?? 3));
  }
  throw notSupported(`the pattern "${keyword}"`);
}

function invalidField(rest: string, keyword: string): SqlError {
  return new SqlError('22007', `invalid value "${rest.slice(0, 4)}" for "${keyword}"`);
}

function setNumber(keyword: string, found: string, parsed: Parsed): void {
  const value = Number(found);
  if (keyword === 'YYYY') parsed.year = value;
  else if (keyword === 'MM') parsed.month = value;
  else if (keyword === 'DD') parsed.day = value;
  else if (keyword.startsWith('HH')) parsed.hour = value;
  else if (keyword === 'MI') parsed.minute = value;
  else if (keyword === 'SS') parsed.second = value;
  else parsed.micro = Number(found.slice(0, 6).padEnd(6, '0'));
}

function instantOf({ year, month, day, hour, minute, second, micro, half }: Parsed, text: string): bigint {
  const hours = half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0);
  const isRight = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  if (!isRight || hours > 23 || minute > 59 || second > 59) {
    throw new SqlError('22008', `date/time field value out of range: "${text}"`);
  }
  const clock = BigInt(hours * 3600 + minute * 60 + second) * 1_000_000n + BigInt(micro);
  return joinTimestamp(daysOfCivil({ year, month, day }), clock);
}

interface NumberShape {
  readonly whole: string;
  readonly fraction: string;
  readonly hasPoint: boolean;
  readonly prefix: string;
  readonly suffix: string;
  readonly isFilled: boolean;
}

/**
 * `999,990.00`, with FM, S, MI, PR, SG.
 * @param digitsMax of a floating-point number: PostgreSQL shows no more. @throws SqlError 0A000
 */
export function formatNumberPattern(number: Numeric, pattern: string, digitsMax = Infinity): string {
  const shape = shapeOf(pattern);
  const fractionDigits = shape.fraction.length;
  if (number.value.abs().trunc().toFixed().length + fractionDigits > digitsMax)
    throw notSupported('to_char with more digits than the number has');
  if (!number.value.isFinite()) throw notSupported('to_char of a number that is not finite');
  const rounded = roundNumeric(number, fractionDigits);
  const isNegative = rounded.value.isNegative() && !rounded.value.isZero();
  const [whole = '0', fraction = ''] = formatNumeric({ ...rounded, value: rounded.value.abs() }).split('.');
  // A zero of which nothing else would be shown is shown.
  const isBlank = !shape.isFilled && rounded.value.isZero() && !shape.fraction.includes('0');
  const hasNoWhole = whole === '0' && fractionDigits > 0 && !isBlank;
  const { blank, text } = wholeText(shape, hasNoWhole ? '' : whole);
  const shownFraction = whole.length > slots(shape.whole) ? '#'.repeat(fractionDigits) : fractionText(shape, fraction);
  const point = shape.hasPoint && (shape.isFilled || fractionDigits > 0) ? '.' : '';
  return withSign(shape, blank, `${text}${point}${shownFraction}`, isNegative);
}

function shapeOf(pattern: string): NumberShape {
  const isFilled = !/fm/i.test(pattern);
  const bare = pattern.replace(/fm/gi, '').replaceAll(/d/gi, '.').replaceAll(/g/gi, ',');
  const match = /^(s|sg|mi|pl)?([09,]*)(\.)?([09]*)(s|sg|mi|pl|pr)?$/i.exec(bare);
  if (match === null) throw notSupported(`the number pattern "${pattern}"`);
  const [, prefix = '', whole = '', point, fraction = '', suffix = ''] = match;
  return {
    whole,
    fraction,
    hasPoint: point !== undefined,
    prefix: prefix.toUpperCase(),
    suffix: suffix.toUpperCase(),
    isFilled,
  };
}

function slots(whole: string): number {
  return whole.replaceAll(',', '').length;
}

/** Digits fill the places from the right; before them come zeros from the first `0` on, and blanks. */
function wholeText(
  { whole, isFilled }: NumberShape,
  digitsText: string,
): { readonly blank: string; readonly text: string } {
  const places = slots(whole);
  if (digitsText.length > places) return { blank: '', text: whole.replaceAll(/[09]/g, '#') };
  const firstZero = whole.replaceAll(',', '').indexOf('0');
  let blank = '';
  let text = '';
  let place = 0;
  for (const character of whole) {
    if (character === ',') {
      if (text !== '') text += ',';
      else blank += ' ';
      continue;
    }
    const index = place - (places - digitsText.length);
    if (index >= 0) text += digitsText[index] ?? '';
    else if (firstZero !== -1 && place >= firstZero) text += '0';
    else blank += ' ';
    place += 1;
  }
  return { blank: isFilled ? blank : '', text };
}

/** Without padding, zeros at the end go, down to the last `0` of the pattern. */
function fractionText({ fraction, isFilled }: NumberShape, digitsText: string): string {
  if (isFilled) return digitsText;
  const needed = fraction.lastIndexOf('0') + 1;
  return digitsText.slice(0, needed) + digitsText.slice(needed).replace(/0+$/, '');
}

function withSign({ prefix, suffix, isFilled }: NumberShape, blank: string, text: string, isNegative: boolean): string {
  const sign = isNegative ? '-' : '+';
  const filler = isFilled ? ' ' : '';
  if (suffix === 'PR') return isNegative ? `${blank}<${text}>` : `${filler}${blank}${text}${filler}`;
  if (prefix === 'S') return `${blank}${sign}${text}`;
  if (suffix === 'S' || suffix === 'SG') return `${blank}${text}${sign}`;
  if (prefix === 'SG') return `${sign}${blank}${text}`;
  if (prefix === 'MI') return `${isNegative ? '-' : filler}${blank}${text}`;
  if (suffix === 'MI') return `${blank}${text}${isNegative ? '-' : filler}`;
  if (prefix === 'PL' || suffix === 'PL') throw notSupported('the number pattern PL');
  return `${blank}${isNegative ? '-' : filler}${text}`;
}
