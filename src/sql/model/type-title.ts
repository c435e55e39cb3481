/** Types in SQL's words: error messages and `format_type`. */
import { lengthOf, precisionAndScale } from './type-modifier.ts';
import { intervalFieldsTitle } from './value-interval.ts';
import type { SqlType, TypeName } from './type.ts';

const titles: Partial<Record<TypeName, string>> = {
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  uint8: 'bigint unsigned',
  float4: 'real',
  float8: 'double precision',
  varchar: 'character varying',
  bpchar: 'character',
  char: '"char"',
  time: 'time without time zone',
  timestamp: 'timestamp without time zone',
  timestamptz: 'timestamp with time zone',
};

function intervalTitle(modifier: number): string {
  const fields = intervalFieldsTitle(modifier >> 16);
  const precision = modifier & 0xffff;
  return `interval${fields === '' ? '' : ` ${fields}`}${precision <= 6 ? `(${precision})` : ''}`;
}

/** `character varying(20)`, `numeric(10,2)[]`: format_type(oid, typmod). */
export function typeTitle(type: SqlType, modifier = -1): string {
  if (type.name === 'array') return type.element === undefined ? 'anyarray' : `${typeTitle(type.element, modifier)}[]`;
  if (type.name === 'enum') return type.title ?? 'enum';
  const title = titles[type.name] ?? type.name;
  // Without a length, "character" would mean character(1).
  if (modifier < 0) return title;
  switch (type.name) {
    case 'varchar':
    case 'bpchar':
      return `${title}(${lengthOf(modifier)})`;
    case 'numeric': {
      const { precision, scale } = precisionAndScale(modifier);
      return `numeric(${precision},${scale})`;
    }
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return title.replace(' ', `(${modifier}) `);
    case 'interval':
      return intervalTitle(modifier);
    default:
      return title;
  }
}
