/** A statement with the plan that was made for one version of the catalog. */
import type { PreparedStatement, SqlType, Statement } from '../sql/index.ts';
import type { AdminCommand } from './admin-command.ts';

export interface Prepared extends PreparedStatement {
  readonly givenTypes: readonly (SqlType | undefined)[];
  readonly plan: { statement: Statement; catalog: unknown };
  /** Is it what stands inside the PREPARE of its text? */
  readonly isInner: boolean;
  readonly admin: AdminCommand | null;
}

export type RowStatement = Extract<Statement, { kind: 'query' | 'definition' | 'lock' }>;

export function columnsOf(statement: Statement): PreparedStatement['columns'] {
  if (statement.kind === 'query') return statement.columns;
  return statement.kind === 'setting' && statement.what === 'show' ? statement.columns : null;
}
