/** Aggregates that collect what they are given: into texts, arrays and JSON. */
import {
  notSupported,
  SqlError,
  arrayOf,
  types,
  type SqlType,
  arrayValue,
  jsonDocument,
  objectOf,
  quoteJson,
  type SqlValue,
} from '../model/index.ts';
import { aggregate } from './aggregate-function.ts';
import type { Accumulator, AggregateFunction } from './aggregate-function.ts';
import { documentValue, jsonTextOf } from './json-functions.ts';
import { valueBytes } from './value-bytes.ts';

type Present = Exclude<SqlValue, null>;

/** Keeps all rows, NULLs too; NULL when there were none. */
function listing(finish: (rows: readonly (readonly SqlValue[])[]) => SqlValue): () => Accumulator {
  return () => {
    const rows: (readonly SqlValue[])[] = [];
    let bytes = 0;
    return {
      add: (values) => {
        rows.push(values);
        for (const value of values) bytes += valueBytes(value);
      },
      heldBytes: () => bytes,
      finish: () => (rows.length === 0 ? null : finish(rows)),
    };
  };
}

export function collecting(name: string, given: readonly SqlType[]): AggregateFunction | undefined {
  const settled = given.map((type) => (type.name === 'unknown' ? types.text : type));
  const [first = types.text, second = types.text] = settled;
  switch (`${name}/${given.length}`) {
    case 'string_agg/2':
      return stringAggregate(first);
    case 'array_agg/1':
      if (first.name === 'array') throw notSupported('an array of more than one dimension');
      return aggregate(
        arrayOf(first),
        settled,
        listing((rows) => arrayValue(rows.map(([value = null]) => value))),
      );
    case 'json_agg/1':
      return aggregate(
        types.json,
        settled,
        listing((rows) => `[${rows.map(([value = null], i) => jsonElement(value, first, i > 0)).join('')}]`),
      );
    case 'jsonb_agg/1':
    case 'json_arrayagg/1':
      return aggregate(
        types.jsonb,
        settled,
        listing((rows) => jsonDocument(rows.map(([value = null]) => documentValue(value, first)))),
      );
    case 'json_object_agg/2':
      return aggregate(
        types.json,
        [types.text, second],
        listing((rows) => `{ ${rows.map((row) => member(row, second)).join(', ')} }`),
      );
    case 'jsonb_object_agg/2':
    case 'json_objectagg/2':
      return aggregate(
        types.jsonb,
        [types.text, second],
        listing((rows) =>
          jsonDocument(objectOf(rows.map(([key = null, value = null]) => [keyOf(key), documentValue(value, second)]))),
        ),
      );
    default:
      return undefined;
  }
}

/** Arrays and rows have a line each, but the first. */
function jsonElement(value: SqlValue, type: SqlType, isLater: boolean): string {
  const hasLine = isLater && value !== null && (type.name === 'array' || type.name === 'record');
  return `${isLater ? ', ' : ''}${hasLine ? '\n ' : ''}${jsonTextOf(value, type)}`;
}

function keyOf(key: SqlValue): string {
  if (key === null) throw new SqlError('22023', 'field name must not be null');
  return key as string;
}

function member([key = null, value = null]: readonly SqlValue[], type: SqlType): string {
  return `${quoteJson(keyOf(key))} : ${jsonTextOf(value, type)}`;
}

function stringAggregate(type: SqlType): AggregateFunction | undefined {
  if (type.name === 'bytea') {
    const start = separated((parts) => new Uint8Array(Buffer.concat(parts as Uint8Array[])));
    return aggregate(type, [type, type], start);
  }
  if (!['text', 'varchar', 'bpchar', 'name'].includes(type.name)) return undefined;
  return aggregate(
    types.text,
    [types.text, types.text],
    separated((parts) => (parts as string[]).join('')),
  );
}

/** Each value but the first has its own row's separator before it. */
function separated(join: (parts: readonly Present[]) => Present): () => Accumulator {
  return () => {
    const parts: Present[] = [];
    let isEmpty = true;
    let bytes = 0;
    return {
      add: ([value = null, separator = null]) => {
        if (value === null) return;
        if (!isEmpty && separator !== null) parts.push(separator);
        parts.push(value);
        bytes += valueBytes(value) + valueBytes(separator);
        isEmpty = false;
      },
      heldBytes: () => bytes,
      finish: () => (isEmpty ? null : join(parts)),
    };
  };
}

/** GROUP_CONCAT has its separator as last argument; rows with a NULL are left out. */
export function groupConcat(name: string, given: readonly SqlType[]): AggregateFunction | undefined {
  if (name !== 'group_concat' || given.length === 0) return undefined;
  const text = given.map(() => types.text);
  const hasSeparator = given.length > 1;
  return aggregate(types.text, text, () => {
    let result: string | null = null;
    return {
      add: (values) => {
        if (values.includes(null)) return;
        const separator = hasSeparator ? (values.at(-1) as string) : ',';
        const joined = ((hasSeparator ? values.slice(0, -1) : values) as string[]).join('');
        result = result === null ? joined : result + separator + joined;
      },
      heldBytes: () => result?.length ?? 0,
      finish: () => result,
    };
  });
}
