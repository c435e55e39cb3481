/** How the statements that builders send differ by database. */
import { reservedWords as reservedInMysql } from '../../../sql/index.ts';
import type { Dialect } from '../../application.ts';

/** PostgreSQL manual, appendix C: words that are neither table nor column names, and some that are only one of the two. */
const reservedInPostgres: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently
  constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default
  deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike in initially inner intersect
  into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer
  overlaps placing primary references returning right select session_user similar some symmetric system_user table tablesample then to
  trailing true union unique user using variadic verbose when where window with`.split(/\s+/),
);

export interface DialectOfBuilders {
  readonly quote: string;
  readonly needsQuotes: (name: string) => boolean;
  /** @param number from 1 */
  readonly placeholder: (number: number) => string;
  /** One of them may stand in several places of a statement. */
  readonly numbersPlaceholders: boolean;
  /** Does INSERT return its rows? Otherwise the driver gives the id that was generated. */
  readonly hasReturning: boolean;
  /** Do its drivers give `[rows, fields]`? */
  readonly givesPairs: boolean;
  /** Around one bound value that is a list. */
  readonly inList: readonly [before: string, after: string];
  /** Knex's name of the driver; `null`: it has several. */
  readonly knexDriver: string | null;
  readonly notInList: readonly [before: string, after: string];
}

export const dialects: Readonly<Record<Dialect, DialectOfBuilders>> = {
  postgres: {
    quote: '"',
    // PostgreSQL folds what is not quoted to lower case.
    needsQuotes: (name) => !/^[a-z_][a-z0-9_]*$/.test(name) || reservedInPostgres.has(name),
    placeholder: (number) => `$${number}`,
    numbersPlaceholders: true,
    hasReturning: true,
    givesPairs: false,
    inList: [' = ANY(', ')'],
    notInList: [' <> ALL(', ')'],
    knexDriver: 'pg',
  },
  mysql: {
    quote: '`',
    needsQuotes: (name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || reservedInMysql.has(name.toUpperCase()),
    placeholder: () => '?',
    numbersPlaceholders: false,
    hasReturning: false,
    givesPairs: true,
    inList: [' IN (', ')'],
    notInList: [' NOT IN (', ')'],
    knexDriver: null,
  },
};
