/** Text to plan, for the statements of one session; and the plan made anew when the catalog has changed since. */
import { type Catalog, type PreparedStatement, splitStatements, type Statement } from '../../sql/index.ts';
import { SqlError, type SqlType } from '../../sql/model/index.ts';
import { adminCommandOf } from '../instance/index.ts';
import type { Prepared, SessionParts, SessionTransaction } from '../session/index.ts';
import { searchPathOf } from '../settings/index.ts';
import { adminColumns } from './administer.ts';
import { orStackError } from './limit-errors.ts';

type Types = readonly (SqlType | undefined)[];

/** @throws SqlError */
export function prepareIn(sql: string, parameterTypes: Types, parts: SessionParts): Prepared {
  const admin = adminCommandOf(sql);
  const statement: Statement = admin === null ? plan(sql, parameterTypes, parts) : { kind: 'empty' };
  return {
    sql,
    givenTypes: parameterTypes,
    parameterTypes: statement.kind === 'query' ? statement.parameterTypes : [],
    columns: admin === null ? columnsIn(statement, parts) : adminColumns(admin),
    ...(statement.kind === 'query' && statement.refusal !== undefined ? { refusal: statement.refusal } : {}),
    plan: { statement, catalog: parts.instance.catalog },
    isInner: false,
    admin,
  };
}

/** For a client that prepares a statement without running it. @throws SqlError */
export function prepareAloneIn(sql: string, parts: SessionParts): Prepared {
  const prepared = prepareIn(sql, [], parts);
  if (prepared.refusal !== undefined) throw prepared.refusal;
  return prepared;
}

/** The statement inside of a PREPARE. */
export function preparedInside(inner: Statement, prepare: Prepared, { instance }: SessionParts): Prepared {
  const parameterTypes = inner.kind === 'query' ? inner.parameterTypes : [];
  const known = { statement: inner, catalog: instance.catalog };
  return { ...prepare, parameterTypes, columns: columnsOf(inner), plan: known, isInner: true };
}

/**
 * The plan by the catalog as it is now: made anew when the catalog has changed.
 * @param keepsColumns of a statement that was kept by name: plancache.c, RevalidateCachedQuery. @throws SqlError 0A000
 */
export function currentStatement(prepared: Prepared, parts: SessionParts, keepsColumns = prepared.isInner): Statement {
  const known = prepared.plan;
  const { catalog } = parts.instance;
  if (known.catalog !== catalog || isOld(known.statement, catalog)) {
    const anew = plan(prepared.sql, prepared.givenTypes, parts);
    known.statement = prepared.isInner && anew.kind === 'named' && anew.what === 'prepare' ? anew.inner : anew;
    known.catalog = catalog;
  }
  if (keepsColumns && haveColumnsChanged(known.statement, prepared))
    throw new SqlError('0A000', 'cached plan must not change result type', { routine: 'RevalidateCachedQuery' });
  return known.statement;
}

function plan(sql: string, parameterTypes: Types, { instance, state, transaction }: SessionParts): Statement {
  const { catalog, plans } = instance;
  catalog.lookAs(state.id);
  try {
    const session = { database: state.database, searchPath: searchPathOf(state, catalog) };
    return orStackError(() => plans.plan(sql, parameterTypes, session, instance));
  } catch (error) {
    checkReadableNotFailed(transaction, () => splitStatements(sql, instance.dialect));
    throw error;
  }
}

function columnsIn(statement: Statement, { named }: SessionParts): PreparedStatement['columns'] {
  const isExecution = statement.kind === 'named' && statement.what === 'execute';
  return isExecution ? named.get(statement.name).columns : columnsOf(statement);
}

function columnsOf(statement: Statement): PreparedStatement['columns'] {
  if (statement.kind === 'query') return statement.columns;
  return statement.kind === 'setting' && statement.what === 'show' ? statement.columns : null;
}

function isOld(statement: Statement, catalog: Catalog): boolean {
  return (statement.kind === 'query' || statement.kind === 'lock') && statement.catalogVersion !== catalog.version;
}

function haveColumnsChanged(statement: Statement, { columns }: Prepared): boolean {
  if (statement.kind !== 'query' || statement.columns === columns) return false;
  return titlesOf(statement.columns) !== titlesOf(columns);
}

function titlesOf(columns: PreparedStatement['columns']): string {
  return JSON.stringify(columns?.map(({ name, type, modifier }) => [name, type.oid, modifier]) ?? null);
}

/** A failed transaction refuses each statement that can be read, before names are looked up. @throws SqlError 25P02 */
function checkReadableNotFailed(transaction: SessionTransaction, read: () => unknown): void {
  if (!transaction.isFailed) return;
  try {
    read();
  } catch {
    return;
  }
  transaction.checkNotFailed();
}
