/** Floating point numbers as PostgreSQL prints them: the shortest digits that read back as the same number. */
import { SqlError } from './sql-error.ts';

export function formatFloat8(value: number): string {
  return special(value) ?? shortest(value, value.toExponential(), 15);
}

/** `real` has its own shortest digits: those of the nearest double would show too many. */
export function formatFloat4(value: number): string {
  return special(value) ?? shortest(value, shortestFloat4(value), 6);
}

/** For MySQL, which prints `float` with the fewest digits too but in JavaScript's manner. */
export function compactFloat4(value: number): string {
  return special(value) ?? String(Number(shortestFloat4(value)));
}

function shortestFloat4(value: number): string {
  for (let digitCount = 0; digitCount < 9; digitCount += 1) {
    const text = value.toExponential(digitCount);
    if (Math.fround(Number(text)) === value && !isHalfway(Number(text), value)) return text;
  }
  return value.toExponential();
}

/** Half way to the next float: readers that do not round to even would miss it, so PostgreSQL shows one more digit. */
function isHalfway(shown: number, value: number): boolean {
  const floats = new Float32Array([value]);
  const bits = new Int32Array(floats.buffer);
  const center = bits[0] ?? 0;
  return [center - 1, center + 1].some((neighbour) => {
    bits[0] = neighbour;
    return shown === (value + (floats[0] ?? 0)) / 2;
  });
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  return undefined;
}

/** Exponents from -4 up to `fixedMax` are written out: ryu's `double_to_shortest_decimal_buf` as PostgreSQL has it. */
function shortest(value: number, exponential: string, fixedMax: number): string {
  const [mantissa = '', exponentText = '0'] =
    Math.abs(value) === value ? exponential.split('e') : exponential.slice(1).split('e');
  const sign = value < 0 ? '-' : '';
  const exponent = Number(exponentText);
  const digitText = mantissa.replace('.', '').replace(/0+$/, '') || '0';
  if (exponent < -4 || exponent >= fixedMax) {
    const fraction = digitText.length > 1 ? `.${digitText.slice(1)}` : '';
    const shown = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${digitText[0]}${fraction}e${exponent < 0 ? '-' : '+'}${shown}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digitText}`;
  const whole = digitText.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = digitText.slice(exponent + 1);
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const floatText = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** @throws SqlError 22P02, 22003 */
export function parseFloat8(text: string): number {
  return parseFloatOf(text, 'double precision', (value) => value);
}

/** @throws SqlError 22P02, 22003 */
export function parseFloat4(text: string): number {
  return parseFloatOf(text, 'real', Math.fround);
}

function parseFloatOf(text: string, typeText: string, round: (value: number) => number): number {
  const word = text.trim().toLowerCase();
  if (word === 'nan') return Number.NaN;
  const infinite = /^([+-]?)inf(?:inity)?$/.exec(word);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  if (!floatText.test(text)) throw new SqlError('22P02', `invalid input syntax for type ${typeText}: "${text}"`);
  const value = round(Number(text));
  const isLost = !Number.isFinite(value) || (value === 0 && /[1-9]/.test(text.split(/e/i)[0] ?? ''));
  if (isLost) throw new SqlError('22003', `"${text.trim()}" is out of range for type ${typeText}`);
  return value;
}
