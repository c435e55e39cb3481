/** What a recorder knows of a statement from its text. */
import type { TransactionStatement } from '../sql/index.ts';
import type { TraceLock } from '../trace/index.ts';
import type { SelectPlan } from './plan-select.ts';
import type { WritePlan } from './plan-write.ts';

export type StatementPlan =
  | { readonly kind: 'transaction'; readonly statement: TransactionStatement }
  | { readonly kind: 'autocommit'; readonly isOn: boolean }
  /** CREATE, ALTER, DROP...: what is known of the tables may be wrong after it. */
  | {
      readonly kind: 'ddl';
      /** Whose rows may be others after it. */
      readonly tables?: readonly string[];
    }
  /** PREPARE TRANSACTION: whether it is committed some other session says. */
  | { readonly kind: 'prepared' }
  /** SET, SHOW, `SELECT 1`: no row of a table. */
  | { readonly kind: 'neutral' }
  /** It may read, or with `writes` write, any rows. */
  | { readonly kind: 'opaque'; readonly writes: boolean; readonly lock?: TraceLock | null; readonly why: string }
  | SelectPlan
  | WritePlan;
