/** A statement with the plan that was made for one version of the catalog. */
import type { Catalog, PreparedStatement, Statement } from '../../sql/index.ts';
import { type Dialect, engineRules, SqlError, type SqlType } from '../../sql/model/index.ts';
import type { AdminCommand } from '../instance/admin-command.ts';

export interface Prepared extends PreparedStatement {
  readonly givenTypes: readonly (SqlType | undefined)[];
  readonly plan: { statement: Statement; catalog: unknown };
  /** Is it what stands inside the PREPARE of its text? */
  readonly isInner: boolean;
  readonly admin: AdminCommand | null;
}

export type RowStatement = Extract<Statement, { kind: 'query' | 'ddl' | 'lock' }>;

export function columnsOf(statement: Statement): PreparedStatement['columns'] {
  if (statement.kind === 'query') return statement.columns;
  return statement.kind === 'setting' && statement.what === 'show' ? statement.columns : null;
}

/**
 * The plan, made anew when the catalog has changed since.
 * @param keepsColumns of a statement that was kept by name: plancache.c, RevalidateCachedQuery. @throws SqlError 0A000
 */
export function currentPlan(
  prepared: Prepared,
  catalog: Catalog,
  planAnew: () => Statement,
  keepsColumns: boolean,
): Statement {
  const { plan, isInner } = prepared;
  const { statement } = plan;
  const isOld =
    (statement.kind === 'query' || statement.kind === 'lock') && statement.catalogVersion !== catalog.version;
  if (isOld || plan.catalog !== catalog) {
    const planned = planAnew();
    plan.statement = isInner && planned.kind === 'named' && planned.what === 'prepare' ? planned.inner : planned;
    plan.catalog = catalog;
  }
  if (
    keepsColumns &&
    plan.statement.kind === 'query' &&
    plan.statement.columns !== prepared.columns &&
    titlesOf(plan.statement.columns) !== titlesOf(prepared.columns)
  )
    throw new SqlError('0A000', 'cached plan must not change result type', { routine: 'RevalidateCachedQuery' });
  return plan.statement;
}

function titlesOf(columns: PreparedStatement['columns']): string {
  return JSON.stringify(columns?.map(({ name, type, modifier }) => [name, type.oid, modifier]) ?? null);
}

export function isCommittedAround(statement: RowStatement, dialect: Dialect): boolean {
  if (statement.kind === 'query') return statement.commitsAround === true;
  return statement.kind === 'ddl' && !statement.isTemporary && engineRules[dialect].ddlCommits;
}
