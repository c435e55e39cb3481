/** PostgreSQL's levels under the names of the theory. */
import type { IsolationName } from '../sql/index.ts';
import type { Level } from './robustness/access.ts';

/** READ UNCOMMITTED is READ COMMITTED; REPEATABLE READ is snapshot isolation; SERIALIZABLE adds what makes it serializable (manual, chapter 13.2). */
export const levelOf: Readonly<Record<IsolationName, Level>> = {
  'read uncommitted': 'RC',
  'read committed': 'RC',
  'repeatable read': 'SI',
  serializable: 'SSI',
};

export const isolationOf: Readonly<Record<Level, IsolationName>> = {
  RC: 'read committed',
  SI: 'repeatable read',
  SSI: 'serializable',
};
