/** Literals: what type and value the text of one has. */
import type { A_Const } from '@pgsql/types';
import { type Dialect, parseNumeric, notSupported, SqlError, types } from '../model/index.ts';
import type { Expression, Scope } from '../expression.ts';
import { constantOf, unknownLiteral } from './coerce.ts';
import { positionOf } from './compiler.ts';
import type { Compiler } from './compiler.ts';

interface LiteralRules {
  readonly truth: (isTrue: boolean) => Expression;
  readonly quoted: (text: string) => Expression;
  /** Of an integer that bigint has not; `undefined`: it is a numeric. */
  readonly large: (whole: bigint) => Expression | undefined;
  /** A number with an exponent is a double. */
  readonly exponentIsDouble: boolean;
  /** `x'0aff'` and `b'01'`. @param text with its letter */
  readonly bits: (text: string, position: number) => Expression;
}

const literalRules: Readonly<Record<Dialect, LiteralRules>> = {
  postgres: {
    truth: (isTrue) => constantOf(isTrue, types.bool),
    quoted: unknownLiteral,
    large: () => undefined,
    exponentIsDouble: false,
    bits: (_text, position) => {
      throw notSupported('type bit', position);
    },
  },
  mysql: {
    truth: (isTrue) => constantOf(isTrue ? 1 : 0, types.int4),
    quoted: (text) => constantOf(text, types.text),
    large: (whole) => (BigInt.asUintN(64, whole) === whole ? constantOf(whole, types.uint8) : undefined),
    exponentIsDouble: true,
    bits: (text) =>
      text.startsWith('x')
        ? constantOf(new Uint8Array(Buffer.from(text.slice(1), 'hex')), types.bytea)
        : constantOf(BigInt(`0${text}`), types.int8),
  },
};

export function compileConstant(node: A_Const, { scope }: Compiler): Expression {
  const rules = literalRules[scope.dialect];
  if (node.isnull === true) return unknownLiteral(null);
  if (node.ival !== undefined) return constantOf(node.ival.ival ?? 0, types.int4);
  if (node.boolval !== undefined) return rules.truth(node.boolval.boolval === true);
  if (node.fval !== undefined) return numberConstant(node.fval.fval ?? '0', scope);
  if (node.sval !== undefined) return rules.quoted(node.sval.sval ?? '');
  return rules.bits(node.bsval?.bsval ?? '', positionOf(node.location));
}

/** A whole number that is too large for integer is a bigint, and then a numeric. */
function numberConstant(text: string, { dialect }: Scope): Expression {
  const { large, exponentIsDouble } = literalRules[dialect];
  const numeric = parseNumeric(text);
  if (numeric === undefined) throw new SqlError('42601', `invalid number: ${text}`);
  if (/^-?\d+$/.test(text)) {
    const whole = BigInt(text);
    // The least integer comes as a number with its sign.
    if (BigInt.asIntN(32, whole) === whole) return constantOf(Number(whole), types.int4);
    if (BigInt.asIntN(64, whole) === whole) return constantOf(whole, types.int8);
    const found = large(whole);
    if (found !== undefined) return found;
  }
  const isDouble = exponentIsDouble && /e/i.test(text);
  return isDouble ? constantOf(Number(text), types.float8) : constantOf(numeric, types.numeric);
}
