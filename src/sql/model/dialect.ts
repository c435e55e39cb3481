/** What the two dialects do differently, beyond syntax: MySQL's text has become trees of the one grammar before it comes here. */
import type { EngineRules } from './engine-rules.ts';
import type { ExpressionRules } from './expression-rules.ts';
import { mysqlEngine, mysqlExpressions } from './mysql-rules.ts';
import { postgresEngine, postgresExpressions } from './postgres-rules.ts';

/** Whose SQL and protocol are spoken. */
export type Dialect = 'postgres' | 'mysql';

export const engineRules: Readonly<Record<Dialect, EngineRules>> = { postgres: postgresEngine, mysql: mysqlEngine };

export const expressionRules: Readonly<Record<Dialect, ExpressionRules>> = {
  postgres: postgresExpressions,
  mysql: mysqlExpressions,
};

/** Are these the same name of a column or an alias? */
export function isSameName(a: string, b: string, dialect: Dialect): boolean {
  return a === b || (engineRules[dialect].ignoresCaseOfColumns && a.toLowerCase() === b.toLowerCase());
}
