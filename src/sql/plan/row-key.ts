import { keyText } from '../compare.ts';
import { type SqlType, types } from '../type.ts';
import type { Values } from './query.ts';
import type { QueryScope } from './scope.ts';

/** Text that is the same for rows that are equal: for DISTINCT and set operations. */
export function rowKey(row: Values, target: readonly SqlType[], { dialect }: Pick<QueryScope, 'dialect'>): string {
  let key = '';
  for (const [i, value] of row.entries()) {
    const text = keyText(value, target[i] ?? types.text, dialect);
    key += `${text.length}:${text}`;
  }
  return key;
}
