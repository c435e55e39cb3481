/** Other values of a column's type: of those that a client may be answered, the ones that may matter to who compares them. */
import { changesOf, longTexts, type Mentioned } from '../program/index.ts';
import { formatText, parseText, type SqlArray, SqlError, type SqlValue } from '../sql/model/index.ts';
import { mysqlColumnTypes, type MysqlTypeName, type ResultColumn } from '../sql/index.ts';

/**
 * A number stays a number of the column's range, and a text a text; NULL is one of them, the value itself is none.
 * @param value `null`: of no row, or NULL
 */
export function changesOfCell(value: SqlValue, column: ResultColumn, mentioned: Mentioned): SqlValue[] {
  const own = value === null ? null : formatText(value, column.type, 'postgres');
  const seen = new Set([own]);
  const changes: SqlValue[] = [];
  for (const text of textsOf(own, column, mentioned)) {
    const change = parsed(text, column);
    if (change === undefined) continue;
    const shown = change === null ? null : formatText(change, column.type, 'postgres');
    if (seen.has(shown)) continue;
    seen.add(shown);
    changes.push(change);
  }
  const lists = value !== null && column.type.name === 'array' ? listsOf(value as SqlArray) : [];
  const telling = [...changes.slice(0, TELLING), ...lists];
  return [...telling, ...(value === null ? [] : [null]), ...changes.slice(TELLING)];
}

/** The telling ones first. */
function textsOf(own: string | null, { type }: ResultColumn, { numbers, texts }: Mentioned): string[] {
  switch (type.name) {
    case 'bool':
      return ['true', 'false'];
    case 'int2':
    case 'int4':
    case 'int8':
    case 'uint8':
    case 'oid':
    case 'float4':
    case 'float8':
    case 'numeric': {
      const number = Number(own ?? 1);
      return [
        ...LARGE.flatMap((large) => [`-${large}`, large]),
        ...[0, number + 1, number - 1, ...numbers].map(String),
        ...texts,
      ];
    }
    case 'enum':
      return [...(type.labels ?? [])];
    case 'uuid':
      return ['00000000-0000-4000-8000-000000000001', ...texts];
    case 'date':
      return ['1990-02-03', '2060-02-03', ...nextTo(own).map((each) => each.slice(0, 10)), ...texts];
    case 'timestamp':
    case 'timestamptz':
      return ['1990-02-03 04:05:06.789', '2060-02-03 04:05:06.789', ...nextTo(own), ...texts];
    case 'time':
      return ['00:00:00', '23:59:58', ...texts];
    case 'interval':
      return ['-100 years', '100 years', '0', '1 second', ...texts];
    case 'json':
    case 'jsonb':
      return changesOf(documentOf(own), { numbers, texts }).flatMap((change) => JSON.stringify(change) ?? []);
    case 'bytea':
      return [String.raw`\x`, String.raw`\x6f74686572`, ...texts];
    case 'array':
      return ['{}', '{1}', '{other}', '{1,2,3}', ...texts];
    case 'record':
    case 'void':
      return [];
    default:
      return [`${own ?? 'other'}?`, '', ...longTexts, ...texts, ...numbers.map(String)];
  }
}

/** How many changes of a cell come before NULL. */
const TELLING = 3;
/** Large numbers: the range of every integer type has at least one of them. */
const LARGE = ['1000003', '9000000000000007', '2000000011', '30011', '101'];

/** `undefined`: it is no value of that type. */
function parsed(text: string, { type, mysqlType }: ResultColumn): SqlValue | undefined {
  try {
    const value = parseText(text, type);
    return isInRange(value, mysqlType) ? value : undefined;
  } catch (error) {
    if (error instanceof SqlError) return undefined;
    throw error;
  }
}

/** MySQL has integers of other ranges than those that hold them. */
function isInRange(value: SqlValue, mysqlType: MysqlTypeName | undefined): boolean {
  if (mysqlType === undefined) return true;
  const { range, isUnsigned } = mysqlColumnTypes[mysqlType];
  if (typeof value !== 'number' && typeof value !== 'bigint') return true;
  if (range === undefined) return !isUnsigned || value >= 0;
  return value >= range.min && value <= range.max;
}

/** A day before and after a moment. */
function nextTo(own: string | null): string[] {
  const time = own === null ? Number.NaN : Date.parse(own);
  return Number.isNaN(time) ? [] : [time - DAY_MS, time + DAY_MS].map((each) => new Date(each).toISOString());
}

const DAY_MS = 86_400_000;

function documentOf(own: string | null): unknown {
  return own === null ? {} : (JSON.parse(own) as unknown);
}

function listsOf({ elements }: SqlArray): SqlValue[] {
  const [first] = elements;
  if (first === undefined) return [];
  const many = Array.from({ length: MANY }, () => first);
  return [elements.slice(1), [...elements, first], many].map((each) => ({ kind: 'array', elements: each }));
}

const MANY = 100;
