/**
 * Constants that name rows. A server reads `'01'`, `1` and `1.0` as one key, so two constants are different rows only where the values that their column
 * has of them differ. Where it is not sure which value that is, they may be one row.
 */
import type { TypeCast } from '@pgsql/types';
import type { Column, Table } from '../sql/index.ts';
import {
  applyModifier,
  formatText,
  keyText,
  parseText,
  rowKey,
  SqlError,
  type SqlType,
  type SqlValue,
  type TypeName,
} from '../sql/model/index.ts';
import type { Dialect, Value } from './application.ts';
import type { Schema } from './schema.ts';

type Constant = Extract<Value, { kind: 'constant' }>['value'];

/** What the column has of a constant that it is compared with, or that is written to it; `undefined`: it is not sure. */
function columnValue(
  constant: Constant,
  { type, modifier, mysqlType }: Column,
  dialect: Dialect,
): SqlValue | undefined {
  if (constant === null || mysqlType === 'year' || !isRead[dialect](constant, type.name)) return undefined;
  try {
    const value = parseText(String(constant), type);
    const stored = applyModifier(value, type, modifier, false);
    // What a write rounds or cuts, a comparison takes as it is.
    return keyText(value, type, dialect) === keyText(stored, type, dialect) ? stored : undefined;
  } catch (error) {
    if (error instanceof SqlError) return undefined;
    throw error;
  }
}

const integers: ReadonlySet<TypeName> = new Set(['int2', 'int4', 'int8', 'uint8']);
const exact: ReadonlySet<TypeName> = new Set([
  ...integers,
  'numeric',
  'text',
  'varchar',
  'bpchar',
  'uuid',
  'bool',
  'enum',
  'bytea',
]);
const days: ReadonlySet<TypeName> = new Set(['date', 'timestamp']);

/** Is the text of such a constant read as any session reads it? Not where a zone, an order of day and month, a collation or a rounding decides. */
const isRead: Readonly<Record<Dialect, (constant: Constant, type: TypeName) => boolean>> = {
  postgres: (constant, type) =>
    exact.has(type) || (days.has(type) && /^\d{4}-?\d\d-?\d\d(?: [\d:.]+)?$/.test(String(constant))),
  // A text and a number are compared as floating-point numbers: '1x' is 1.
  mysql: (constant, type) => integers.has(type) && Number.isSafeInteger(constant),
};

export interface KeyConstants {
  readonly values: readonly Value[];
  /** Equal for one row, other for another; `null`: it may be that of any row. */
  readonly constant: string | null;
}

/** The values of a key, constants in the form that their columns have them. */
export function keyConstants(
  table: Table,
  columns: readonly Column[],
  values: readonly Value[],
  { dialect, unread }: Schema,
): KeyConstants {
  const known = values.map((value, at) => {
    const column = columns[at];
    if (value.kind !== 'constant' || column === undefined) return undefined;
    if (column.type.name === 'text' && unread.textTables.has(table.name)) return undefined;
    return columnValue(value.value, column, dialect);
  });
  const types = columns.map(({ type }) => type);
  return {
    values: values.map((value, at) => {
      const [found, type] = [known[at], types[at]];
      return found === undefined || type === undefined
        ? value
        : { kind: 'constant', value: written(found, type, dialect) };
    }),
    constant: known.every((one) => one !== undefined) ? rowKey(known, types, dialect) : null,
  };
}

function written(value: SqlValue, type: SqlType, dialect: Dialect): Constant {
  if (value === null || typeof value === 'boolean') return value;
  const text = formatText(value, type, dialect);
  const number = Number(text);
  return integers.has(type.name) && Number.isSafeInteger(number) ? number : text;
}

/** Has a value the same text after the cast, or an error, where it is then compared with the column? */
export function keepsValue({ typeName }: TypeCast, { type }: Column): boolean {
  const last = typeName?.names?.at(-1);
  const name = last !== undefined && 'String' in last ? last.String.sval : undefined;
  if (name === undefined || (typeName?.typmods ?? []).length > 0 || (typeName?.arrayBounds ?? []).length > 0)
    return false;
  return name === (type.title ?? type.name) || alike.some((names) => names.has(name) && names.has(type.name));
}

const alike: readonly ReadonlySet<string>[] = [integers, new Set(['text', 'varchar'])];

/** A number as the program wrote it, where JavaScript's is another: `9007199254740993`. */
export function exactNumber(text: string): number | string {
  return String(Number(text)) === text || !/^\d+$/.test(text) ? Number(text) : text;
}
