import type { TransactionModes } from '../sql/index.ts';

/** Settings that are another way to say SET TRANSACTION. */
export function modesOf(name: string, value: string | null): TransactionModes | null {
  const lower = name.toLowerCase();
  if (/^(default_)?(transaction|tx)_isolation$/.test(lower)) {
    const isolation = (value ?? 'read committed').toLowerCase().replaceAll('-', ' ');
    return { isolation: isolation as NonNullable<TransactionModes['isolation']> };
  }
  if (/^(default_)?(transaction|tx)_read_only$/.test(lower))
    return { isReadOnly: ['on', 'true', '1'].includes((value ?? 'off').toLowerCase()) };
  return null;
}
