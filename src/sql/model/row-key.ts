/** Keys of several values: rows with equal keys are equal. For GROUP BY, DISTINCT, PARTITION BY, set operations and hash joins. */
import { isIdentity, keyText } from './compare.ts';
import type { Dialect } from './dialect.ts';
import type { SqlType } from './type.ts';
import type { SqlValue } from './value.ts';

/** Each part stands behind its length, so that no text inside a part can end it. @param types of the values, as many as there are */
export function rowKey(values: readonly SqlValue[], types: readonly SqlType[], dialect: Dialect): string {
  let key = '';
  for (let i = 0; i < values.length; i++) {
    const text = keyText(values[i] ?? null, types[i] as SqlType, dialect);
    key += `${text.length}:${text}`;
  }
  return key;
}

/** The same as a key of a `Map` where `rowKey` is, and for one value mostly the value itself. */
export function hashReader(types: readonly SqlType[], dialect: Dialect): (values: readonly SqlValue[]) => unknown {
  const [only] = types;
  const isPlain = only !== undefined && isIdentity(only, dialect);
  return (values) => (isPlain && values.length === 1 ? (values[0] ?? null) : rowKey(values, types, dialect));
}

/** Is it the same value as it is stored? `'a'` and `'A'` are equal to MySQL's collation, and still two values. */
export function isSameStored(a: SqlValue, b: SqlValue, type: SqlType): boolean {
  return a === b || keyText(a, type, 'postgres') === keyText(b, type, 'postgres');
}
