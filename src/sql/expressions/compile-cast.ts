/** `CAST(x AS type)`, `x::type`, `type 'text'`. */
import type { Node, TypeCast } from '@pgsql/types';
import type { Expression, Scope } from '../expression.ts';
import {
  expressionRules,
  notSupported,
  SqlError,
  applyModifier,
  modifierOf,
  arrayOf,
  typeByName,
  types,
  type SqlType,
  parseInterval,
} from '../model/index.ts';
import { mysqlColumnTypes } from '../mysql/column-types.ts';
import type { MysqlType, MysqlTypeName } from '../tree/mysql.ts';
import { compileElements } from './compile-array.ts';
import { namesOf, positionOf } from './compiler.ts';
import type { Compiler } from './compiler.ts';
import { coerce, constantOf, isConstant, isUnknownLiteral, isUntypedParameter } from './coerce.ts';

export function compileCast({ arg, typeName, location }: TypeCast, compiler: Compiler): Expression {
  if (arg === undefined || typeName === undefined) throw notSupported('this cast');
  const { type, modifier } = typeOfNode(typeName, compiler.scope);
  if (type.element !== undefined && 'A_ArrayExpr' in arg) {
    return compileElements(arg.A_ArrayExpr.elements ?? [], type.element, compiler);
  }
  const source = compiler.compile(arg);
  if (type.name === 'interval' && modifier >= 0) {
    const literal = isUnknownLiteral(source) ? source.literal : isConstant(source) ? source.constant : undefined;
    if (typeof literal === 'string') return intervalLiteral(literal, modifier);
    if (source.type.name !== 'interval') throw notSupported('a text as an interval of some fields');
  }
  try {
    const cast = coerce(source, type, modifier, 'explicit', compiler.scope);
    return expressionRules[compiler.scope.dialect].castsWrap ? wrapped(source, cast, compiler.scope) : cast;
  } catch (error) {
    throw located(error, location, arg);
  }
}

/** CAST between signed and unsigned integers keeps the bits; so does that of a text with a negative number. Other conversions take the nearest value. */
function wrapped(source: Expression, cast: Expression, scope: Scope): Expression {
  const { name } = source.type;
  const { evaluate } = cast;
  // The column itself, where it is held as what it is cast to.
  if (cast.isUnsigned === true) return { ...cast, isUnsigned: false };
  if (cast.type.name === 'int8' && name === 'uint8') {
    const own = source.evaluate;
    return computedFrom(source, cast, (frame) => {
      const value = own(frame);
      return value === null ? null : BigInt.asIntN(64, value as bigint);
    });
  }
  const isInteger = name === 'int2' || name === 'int4' || name === 'int8';
  if (cast.type.name !== 'uint8' || !(isInteger || name === 'text' || name === 'unknown')) return cast;
  if (isUntypedParameter(source)) return cast;
  const signed = coerce(source, types.int8, -1, 'explicit', scope).evaluate;
  return computedFrom(source, cast, (frame) => {
    const value = signed(frame) as bigint | null;
    if (value !== null && value < 0n) return BigInt.asUintN(64, value);
    return value === largestSigned ? evaluate(frame) : value;
  });
}

const largestSigned = 2n ** 63n - 1n;

function computedFrom(
  source: Expression,
  { type, modifier }: Expression,
  evaluate: Expression['evaluate'],
): Expression {
  return {
    type,
    modifier,
    isRowFree: source.isRowFree,
    ...(source.isVolatile === true && { isVolatile: true }),
    evaluate,
  };
}

/** A cast's error has its place; for a literal, the literal's own. */
function located(error: unknown, location: number | undefined, arg: Node): unknown {
  if (!(error instanceof SqlError) || error.detail.position !== undefined) return error;
  const place = 'A_Const' in arg ? arg.A_Const.location : location;
  return new SqlError(error.code, error.message, { ...error.detail, position: positionOf(place) });
}

/** What holds the values of a type of MySQL's. */
function ownType(own: MysqlTypeName | undefined): SqlType | undefined {
  const storage = own === undefined ? undefined : mysqlColumnTypes[own].storage;
  return storage === undefined || storage === 'array' || storage === 'enum' ? undefined : types[storage];
}

/** The type that a tree names, and its modifier. Exported for column definitions. @throws SqlError 42704, 22023 */
export function typeOfNode(
  node: MysqlType,
  scope: Pick<Scope, 'type'>,
): { readonly type: SqlType; readonly modifier: number } {
  const names = namesOf(node.names);
  const name = names.at(-1) ?? '';
  const base = ownType(node.own) ?? builtIn(names) ?? scope.type(names.join('.'), positionOf(node.location));
  if (base.domain !== undefined && (node.arrayBounds?.length ?? 0) > 0)
    throw notSupported('an array of a domain', positionOf(node.location));
  const numbers = (node.typmods ?? []).map((each) => integerOfNode(each, name));
  const modifier = base.domain?.modifier ?? modifierOf(base, numbers);
  const depth = node.arrayBounds?.length ?? 0;
  if (depth > 1) throw notSupported('an array of more than one dimension', positionOf(node.location));
  return { type: depth === 1 ? arrayOf(base) : base, modifier };
}

function builtIn(names: readonly string[]): SqlType | undefined {
  const [schema, name] = names.length > 1 ? names : ['pg_catalog', names[0]];
  if (schema !== 'pg_catalog' || name === undefined) return undefined;
  // The grammar writes the standard's names as pg_catalog's; "char" is the one-byte type only there.
  return typeByName(name);
}

function integerOfNode(node: Node, name: string): number {
  const value = 'A_Const' in node && node.A_Const.ival !== undefined ? (node.A_Const.ival.ival ?? 0) : undefined;
  if (value === undefined) throw new SqlError('22023', `type modifiers of ${name} must be constants`);
  return value;
}

function intervalLiteral(text: string, modifier: number): Expression {
  const interval = parseInterval(text, modifier >> 16);
  if (interval === undefined) throw new SqlError('22007', `invalid input syntax for type interval: "${text}"`);
  return { ...constantOf(applyModifier(interval, types.interval, modifier, true), types.interval), modifier };
}
