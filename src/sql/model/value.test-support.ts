/** Random values of every type. */
import * as fc from 'fast-check';
import { numericOf } from './numeric.ts';
import type { SqlType } from './type.ts';
import { dateBegin, timestampBegin, timestampEnd } from './value-time.ts';
import { documentOf, parseJson } from './value-json.ts';
import type { SqlValue } from './value.ts';

type Present = Exclude<SqlValue, null>;

/** PostgreSQL's texts have no NUL; lone surrogates are no characters. */
const anyText = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0'));
const anyJson = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.stringify(value))
  .filter((text) => !text.includes('\\u0000'));

export function anyValue(type: SqlType): fc.Arbitrary<Present> {
  switch (type.name) {
    case 'bool':
      return fc.boolean();
    case 'int2':
      return fc.integer({ min: -32_768, max: 32_767 });
    case 'int4':
      return fc.integer();
    case 'oid':
    case 'xid':
      return fc.nat(4_294_967_295);
    case 'int8':
      return fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    case 'numeric':
      return fc
        .tuple(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.nat(20))
        .map(([digits, scale]) => numericOf(`${digits}e-${scale}`, scale));
    case 'float4':
      return fc.float();
    case 'float8':
      return fc.double();
    case 'bytea':
      return fc.uint8Array({ maxLength: 20 });
    case 'date':
      return fc.integer({ min: dateBegin, max: 3_000_000 });
    case 'time':
      return fc.bigInt(0n, 86_400_000_000n);
    case 'timestamp':
    case 'timestamptz':
      return fc.bigInt(timestampBegin, timestampEnd - 1n);
    case 'interval':
      return fc
        .tuple(
          fc.integer({ min: -9999, max: 9999 }),
          fc.integer({ min: -9999, max: 9999 }),
          fc.bigInt(-(10n ** 14n), 10n ** 14n),
        )
        .map(([months, days, microseconds]) => ({ kind: 'interval', months, days, microseconds }));
    case 'uuid':
      return fc.uuid();
    case 'json':
      return anyJson;
    case 'jsonb':
      return anyJson.map((text) => ({ kind: 'json', value: documentOf(parseJson(text)) }));
    case 'array':
      return fc
        .array(fc.option(anyValue(type.element ?? type)), { maxLength: 4 })
        .map((elements) => ({ kind: 'array', elements }));
    default:
      return anyText;
  }
}
