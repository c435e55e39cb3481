import type { IsolationName, TransactionModes } from '../statement.ts';
import type { Cursor } from './cursor.ts';

/** ISOLATION LEVEL x, READ ONLY, READ WRITE. */
export function parseMode(cursor: Cursor): TransactionModes {
  if (cursor.accept('READ', 'ONLY')) return { isReadOnly: true };
  if (cursor.accept('READ', 'WRITE')) return { isReadOnly: false };
  cursor.expect('ISOLATION', 'LEVEL');
  const found = isolationNames.find((name) => cursor.accept(...name.toUpperCase().split(' ')));
  if (found === undefined) throw cursor.syntaxError();
  return { isolation: found };
}

export const isolationNames: readonly IsolationName[] = [
  'read uncommitted',
  'read committed',
  'repeatable read',
  'serializable',
];
