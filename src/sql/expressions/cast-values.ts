/** Converting a value from one type to another, once the rules allow it. Errors are worded as PostgreSQL's. */
import type { NameType } from '../catalog-lookups.ts';
import {
  formatNumeric,
  numericOf,
  parseNumeric,
  roundNumeric,
  type Numeric,
  SqlError,
  byteOf,
  formatText,
  parseText,
  typeTitle,
  isSameType,
  typeByName,
  typeOfOid,
  type SqlType,
  type TypeName,
  intervalOf,
  roundHalfEven,
  formatJsonDocument,
  isJsonNumeric,
  numericOfJson,
  parseJsonDocument,
  firstTime,
  floorDivide,
  isFiniteTime,
  isTimestampInRange,
  joinTimestamp,
  lastTime,
  microsecondsPerDay,
  splitTimestamp,
  type Interval,
  type SqlValue,
  type TypeValues,
} from '../model/index.ts';
import type { Execution } from '../execution.ts';

export type Conversion = (value: Exclude<SqlValue, null>, execution: Execution) => SqlValue;

const integerNames: ReadonlySet<TypeName> = new Set(['int2', 'int4', 'int8', 'oid']);
const floatNames: ReadonlySet<TypeName> = new Set(['float4', 'float8']);
const stringNames: ReadonlySet<TypeName> = new Set(['text', 'varchar', 'bpchar', 'name', 'unknown', 'char']);

/** The conversion of values that are not null; the rules have been asked before. */
export function conversionOf(from: SqlType, to: SqlType): Conversion {
  if (isSameType(from, to) || from.name === 'unknown') return identity;
  if (stringNames.has(to.name)) return toString(from, to);
  if (stringNames.has(from.name)) return fromString(from, to);
  if (from.name === 'array' && to.name === 'array') return toArray(from, to);
  if (isRegistered(to)) return toRegistered(from, to);
  if (isRegistered(from)) return fromRegistered(from, to);
  if (from.name === 'jsonb') return fromJsonb(to);
  if (from.name === 'json') return taking<'json'>(parseJsonDocument);
  if (integerNames.has(to.name)) return toInteger(from, to);
  if (floatNames.has(to.name)) return toFloat(to);
  switch (to.name) {
    case 'numeric':
      return toNumeric(from);
    case 'bool':
      return (value) => value !== 0;
    default:
      return timeConversion(from, to);
  }
}

const identity: Conversion = (value) => value;

/** A conversion of the values of one type: which type they are of is settled before it is called. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- who calls it names the type
function taking<Name extends TypeName>(
  convert: (value: TypeValues[Name], execution: Execution) => SqlValue,
): Conversion {
  return convert as Conversion;
}

/** A number of the catalog that is shown as the name it stands for. */
type RegisteredType = SqlType & { readonly name: NameType };

function isRegistered(type: SqlType): type is RegisteredType {
  return nameTypes.has(type.name);
}

const nameTypes: ReadonlySet<TypeName> = new Set<NameType>(['regclass', 'regtype', 'regnamespace', 'regrole']);

function toString(from: SqlType, to: SqlType): Conversion {
  if (to.name === 'name') return (value) => parseText(formatText(value, from, 'postgres'), to);
  if (to.name === 'char')
    return from.name === 'int4' ? taking<'int4'>((code) => String.fromCharCode(code)) : firstCharacter;
  switch (from.name) {
    case 'bool':
      return (value) => (value === true ? 'true' : 'false');
    case 'bpchar':
      return taking<'bpchar'>((text) => text.replace(/ +$/, ''));
    case 'text':
    case 'varchar':
      return identity;
    default:
      return (value) => formatText(value, from, 'postgres');
  }
}

const firstCharacter = taking<'text'>((text) => byteOf(text));

function fromString(from: SqlType, to: SqlType): Conversion {
  if (from.name === 'char' && to.name === 'int4') return taking<'char'>((text) => text.charCodeAt(0) || 0);
  if (isRegistered(to)) return toRegistered(from, to);
  return taking<'text'>((text, execution) => readText(text, to, execution));
}

const momentWords = /^\s*(now|today|tomorrow|yesterday)\s*$/i;

/** Does the text mean another value at another time? Then it cannot be read once and for all. */
export function dependsOnMoment(text: string, type: SqlType): boolean {
  if (isRegistered(type)) return true;
  return ['date', 'timestamp', 'timestamptz'].includes(type.name) && momentWords.test(text);
}

/** `parseText`, and the words that need the statement: `now`, `today`, names of tables. */
export function readText(text: string, type: SqlType, execution: Execution): SqlValue {
  if (!dependsOnMoment(text, type)) return parseText(text, type);
  const { surroundings } = execution;
  if (type.name === 'regtype') return readTypeName(text, execution);
  if (isRegistered(type)) return surroundings.catalog.names[type.name].read(text);
  const word = text.trim().toLowerCase();
  const shift = word === 'tomorrow' ? 1 : word === 'yesterday' ? -1 : 0;
  const { days } = splitTimestamp(surroundings.transactionTime);
  if (type.name === 'date') return days + shift;
  return word === 'now' ? surroundings.transactionTime : joinTimestamp(days + shift, 0n);
}

function readTypeName(text: string, execution: Execution): SqlValue {
  const type = typeByName(text.trim().toLowerCase());
  if (type !== undefined) return typeTitle(type);
  return execution.surroundings.catalog.names.regtype.read(text);
}

/** Names of tables and types stand for numbers; the catalog knows which. */
function toRegistered(from: SqlType, to: RegisteredType): Conversion {
  if (stringNames.has(from.name)) return taking<'text'>((text, execution) => readText(text, to, execution));
  if (to.name === 'regtype')
    return (value, { surroundings }) => {
      const type = typeOfOid(Number(value));
      return type === undefined ? surroundings.catalog.names.regtype.nameOf(Number(value)) : typeTitle(type);
    };
  return (value, { surroundings }) => surroundings.catalog.names[to.name].nameOf(Number(value));
}

function fromRegistered(from: RegisteredType, to: SqlType): Conversion {
  return taking<NameType>((name, { surroundings }) => {
    const known = from.name === 'regtype' ? typeByName(name)?.oid : undefined;
    const oid = known ?? surroundings.catalog.names[from.name].numberOf(name);
    return oid !== null && to.name === 'int8' ? BigInt(oid) : oid;
  });
}

function toArray(from: SqlType, to: SqlType): Conversion {
  const convert = from.element && to.element ? conversionOf(from.element, to.element) : identity;
  return taking<'array'>(({ elements }, execution) => ({
    kind: 'array',
    elements: elements.map((each) => (each === null ? null : convert(each, execution))),
  }));
}

const integerBounds: Readonly<Record<string, readonly [number | bigint, number | bigint]>> = {
  int2: [-32_768, 32_767],
  int4: [-2_147_483_648, 2_147_483_647],
  int8: [-(2n ** 63n), 2n ** 63n - 1n],
  oid: [0, 4_294_967_295],
};

/** A whole number as a value of the type. @throws SqlError 22003 */
export function integerOf(value: number | bigint, type: SqlType): number | bigint {
  const [least, greatest] = integerBounds[type.name] ?? [0, 0];
  if (value < least || value > greatest) {
    throw new SqlError('22003', `${type.name === 'oid' ? 'OID' : typeTitle(type)} out of range`);
  }
  return type.name === 'int8' ? BigInt(value) : Number(value);
}

function toInteger(from: SqlType, to: SqlType): Conversion {
  if (to.name === 'oid' && from.name !== 'int8') return taking<'int4'>((value) => value >>> 0);
  switch (from.name) {
    case 'bool':
      return (value) => (value === true ? 1 : 0);
    case 'float4':
    case 'float8':
      return taking<'float8'>((value) => integerOfFloat(value, to));
    case 'numeric':
      return taking<'numeric'>((value) => integerOfNumeric(value, to));
    case 'oid':
      return taking<'oid'>((value) => (to.name === 'int8' ? BigInt(value) : value | 0));
    default:
      return taking<'int4' | 'int8'>((value) => integerOf(value, to));
  }
}

function integerOfFloat(value: number, to: SqlType): number | bigint {
  const whole = roundHalfEven(value);
  if (!Number.isFinite(whole)) throw new SqlError('22003', `${typeTitle(to)} out of range`);
  return integerOf(to.name === 'int8' ? BigInt(whole) : whole, to);
}

function integerOfNumeric(value: Numeric, to: SqlType): number | bigint {
  if (!value.value.isFinite()) {
    const what = value.value.isNaN() ? 'NaN' : 'infinity';
    throw new SqlError('0A000', `cannot convert ${what} to ${typeTitle(to)}`);
  }
  return integerOf(BigInt(formatNumeric(roundNumeric(value, 0))), to);
}

function toFloat(to: SqlType): Conversion {
  return taking<'int4' | 'int8' | 'numeric'>((value) => {
    const double = Number(typeof value === 'object' ? value.value : value);
    return to.name === 'float4' ? narrowFloat(double) : checkFloat(double, value);
  });
}

function checkFloat(double: number, source: number | bigint | Numeric): number {
  if (!Number.isFinite(double) && typeof source === 'object' && source.value.isFinite()) {
    throw new SqlError('22003', `"${formatNumeric(source)}" is out of range for type double precision`);
  }
  return double;
}

/** @throws SqlError 22003 */
function narrowFloat(double: number): number {
  const single = Math.fround(double);
  if (!Number.isFinite(single) && Number.isFinite(double)) throw new SqlError('22003', 'value out of range: overflow');
  if (single === 0 && double !== 0) throw new SqlError('22003', 'value out of range: underflow');
  return single;
}

/** Floats keep 15 (real: 6) significant digits: numeric.c prints them with DBL_DIG and FLT_DIG. */
function toNumeric(from: SqlType): Conversion {
  if (from.name !== 'float4' && from.name !== 'float8') return taking<'int4' | 'int8'>((value) => numericOf(value));
  const digitCount = from.name === 'float4' ? 6 : 15;
  return taking<'float8'>((value) => numericOfFloat(value, digitCount));
}

export function numericOfFloat(value: number, digitCount = 15): Numeric {
  if (!Number.isFinite(value)) return numericOf(value);
  const [mantissa = '0', exponent = '0'] = value.toExponential(digitCount - 1).split('e');
  const digits = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return parseNumeric(`${digits}e${exponent}`) ?? numericOf(value);
}

function fromJsonb(to: SqlType): Conversion {
  if (to.name === 'json') return taking<'jsonb'>(({ value }) => formatJsonDocument(value));
  return taking<'jsonb'>(({ value }, execution) => {
    if (to.name === 'bool' && typeof value === 'boolean') return value;
    if (to.name !== 'bool' && (typeof value === 'number' || isJsonNumeric(value))) {
      const numeric = numericOfJson(value);
      return to.name === 'numeric' ? numeric : conversionOf(numericType, to)(numeric, execution);
    }
    throw new SqlError('22023', `cannot cast jsonb ${jsonKind(value)} to type ${typeTitle(to)}`);
  });
}

const numericType: SqlType = { name: 'numeric', oid: 1700 };

/** null, boolean, number, string, array, object: what jsonb_typeof says. */
export function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isJsonNumeric(value)) return 'number';
  return typeof value;
}

function timeConversion(from: SqlType, to: SqlType): Conversion {
  switch (`${from.name} ${to.name}`) {
    case 'date timestamp':
    case 'date timestamptz':
      return taking<'date'>(timestampOfDate);
    case 'timestamp date':
    case 'timestamptz date':
      return taking<'timestamp'>(dateOfTimestamp);
    case 'timestamp time':
    case 'timestamptz time':
      return taking<'timestamp'>((value) => (isFiniteTime(value) ? splitTimestamp(value).time : null));
    case 'time interval':
      return taking<'time'>((value) => intervalOf(0, 0, value));
    case 'interval time':
      return taking<'interval'>(timeOfInterval);
    default:
      // timestamp and timestamptz: the session's zone is UTC.
      return identity;
  }
}

export function timestampOfDate(days: number): bigint {
  if (!Number.isFinite(days)) return days > 0 ? lastTime : firstTime;
  const instant = joinTimestamp(days, 0n);
  if (!isTimestampInRange(instant)) throw new SqlError('22008', 'date out of range for timestamp');
  return instant;
}

function dateOfTimestamp(microseconds: bigint): number {
  if (!isFiniteTime(microseconds)) return microseconds > 0n ? Infinity : -Infinity;
  return splitTimestamp(microseconds).days;
}

function timeOfInterval({ microseconds }: Interval): bigint {
  return microseconds - floorDivide(microseconds, microsecondsPerDay) * microsecondsPerDay;
}
