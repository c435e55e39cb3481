/** Values of a column's type, by number: each within the column's length or precision. */
import type { Column } from '../sql/index.ts';
import { lengthOf, precisionAndScale } from '../sql/model/index.ts';

export type RowValue = number | string;

/** The n-th value; `undefined`: the column's default. Where the type has as many, different numbers have different values. */
export function valueFor(column: Column, n: number): RowValue | undefined {
  const { type, default: given } = column;
  switch (type.name) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'float4':
    case 'float8':
      return n;
    case 'numeric':
      return numberWithin(column, n);
    case 'bool':
      return 'true';
    case 'uuid':
      return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return dayAfter(n);
    case 'time':
      return `${String(n % 24).padStart(2, '0')}:00:00`;
    case 'enum':
      return type.labels?.[n % type.labels.length];
    case 'array':
      return '{}';
    case 'json':
    case 'jsonb':
      return '{}';
    case 'text':
    case 'varchar':
    case 'bpchar':
      return textWithin(column, n);
    default:
      return given === null ? `${n}` : undefined;
  }
}

/** What a condition of the code asks of the column, as its type has it; `undefined`: the column takes none such. */
export function asColumn(column: Column, asked: RowValue | null): RowValue | null | undefined {
  if (asked === null) return column.isNotNull ? undefined : null;
  if (typeof asked === 'string') return asked;
  switch (column.type.name) {
    case 'bool':
      return asked === 0 ? 'false' : 'true';
    case 'uuid':
    case 'date':
    case 'timestamp':
    case 'timestamptz':
    case 'enum':
    case 'json':
    case 'jsonb':
    case 'array':
      return valueFor(column, Math.abs(asked));
    default:
      return asked;
  }
}

/** As an argument that nothing decides: a number is a text, too, and stays one where it is compared with a number elsewhere. */
export function asArgument(value: RowValue | undefined, n: number): RowValue | undefined {
  return typeof value === 'string' && value === `v${n}` ? n : value;
}

/** Of 2020, and some years after it. */
function dayAfter(n: number): string {
  return new Date(Date.UTC(2020, 0, 1) + n * 86_400_000).toISOString().slice(0, 10);
}

/** 100 in a numeric(4, 4) is 0.01. */
function numberWithin({ modifier }: Column, n: number): number {
  if (modifier < 0) return n;
  const { precision, scale } = precisionAndScale(modifier);
  return n < 10 ** (precision - scale) ? n : (n % 10 ** precision) / 10 ** scale;
}

function textWithin({ modifier }: Column, n: number): string {
  const text = `v${n}`;
  const length = modifier < 0 ? text.length : lengthOf(modifier);
  return text.length <= length ? text : (n % 36 ** length).toString(36);
}
