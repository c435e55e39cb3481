/** What an expression comes to, from its operands: the operators of `Value` on what the database answered and the arguments. */

/** As in JavaScript, for what a database answers. */
export function isTrue(value: unknown): boolean {
  return value !== null && value !== false && value !== 0 && value !== '';
}

type Operator = (a: number, b: number) => unknown;
const arithmetic: Readonly<Record<string, Operator>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? null : a / b),
  '%': (a, b) => (b === 0 ? null : a % b),
};

/** Of numbers, and of two texts: days in the form of ISO 8601. */
const orders: Readonly<Record<string, <Of extends number | string>(a: Of, b: Of) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Is it a text that JavaScript reads as no number? Drivers give some numbers as texts. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && Number.isNaN(Number(value));
}

/** As the functions of `Math`. */
const roundings: Readonly<Record<string, (...numbers: readonly number[]) => number>> = {
  abs: (n = 0) => Math.abs(n),
  ceil: (n = 0) => Math.ceil(n),
  floor: (n = 0) => Math.floor(n),
  max: Math.max,
  min: Math.min,
  round: (n = 0) => Math.round(n),
  trunc: (n = 0) => Math.trunc(n),
};

/** A condition: one of the statements of which it has the row counts failed. Those behind it have not happened then. */
export const fails = 'fails';

/** Of a function of which nothing is known: its first operand, which is one such function. */
export function computed(operator: string, operands: readonly unknown[]): unknown {
  const [first = null, second = null, third = null] = operands;
  if (operator === 'and') return operands.every(isTrue);
  if (operator === 'or') return operands.some(isTrue);
  if (operator === 'not') return !isTrue(first);
  // A statement that has a row count has run.
  if (operator === fails) return false;
  if (operator === 'is null') return first === null;
  if (operator === 'if') return isTrue(first) ? second : third;
  if (operator === '||') return `${String(first)}${String(second)}`;
  if (operator === '+' && (isWord(first) || isWord(second))) return `${String(first)}${String(second)}`;
  const isInOrder = orders[operator];
  if (isInOrder !== undefined)
    return isWord(first) && isWord(second) ? isInOrder(first, second) : isInOrder(Number(first), Number(second));
  if (operator === '=') return String(first) === String(second);
  if (operator === '<>') return String(first) !== String(second);
  const rounding = roundings[operator];
  if (rounding !== undefined) return rounding(...operands.map(Number));
  const compute = arithmetic[operator];
  if (compute === undefined) return first;
  return operands.length === 1 && operator === '-' ? -Number(first) : compute(Number(first), Number(second));
}
