/** What PostgreSQL remarks about transactions that are open, or not, and what it calls the statements of savepoints. */
import type { Notice } from '../../sql/index.ts';

export const savepointTitles = {
  savepoint: 'SAVEPOINT',
  release: 'RELEASE SAVEPOINT',
  'rollback to': 'ROLLBACK TO SAVEPOINT',
} as const;

function warning(code: string, message: string): Notice {
  return { severity: 'WARNING', code, message };
}

export const alreadyOpen = warning('25001', 'there is already a transaction in progress');
export const noneOpen = warning('25P01', 'there is no transaction in progress');
export const localOutside = warning('25P01', 'SET LOCAL can only be used in transaction blocks');
export const constraintsOutside = warning('25P01', 'SET CONSTRAINTS can only be used in transaction blocks');
export const modesOutside = warning('25P01', 'SET TRANSACTION can only be used in transaction blocks');
