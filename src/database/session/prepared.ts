/** A statement with the plan that was made for one version of the catalog. */
import type { PreparedStatement, Statement } from '../../sql/index.ts';
import type { SqlType } from '../../sql/model/index.ts';
import type { AdminCommand } from '../instance/index.ts';

export interface Prepared extends PreparedStatement {
  readonly givenTypes: readonly (SqlType | undefined)[];
  readonly plan: { statement: Statement; catalog: unknown };
  /** Is it what stands inside the PREPARE of its text? */
  readonly isInner: boolean;
  readonly admin: AdminCommand | null;
}

export type RowStatement = Extract<Statement, { kind: 'query' | 'ddl' | 'lock' }>;
