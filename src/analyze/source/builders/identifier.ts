/** Names in SQL text: quoted only where they have to be. */
import { reservedWords as reservedInMysql } from '../../../sql/mysql/reserved-words.ts';

export type Dialect = 'postgres' | 'mysql';

/** PostgreSQL manual, appendix C: words that are neither table nor column names, and some that are only one of the two. */
const reservedInPostgres: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently
  constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default
  deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike in initially inner intersect
  into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer
  overlaps placing primary references returning right select session_user similar some symmetric system_user table tablesample then to
  trailing true union unique user using variadic verbose when where window with`.split(/\s+/),
);

interface Naming {
  readonly quote: string;
  readonly needsQuotes: (name: string) => boolean;
}

const namings: Readonly<Record<Dialect, Naming>> = {
  postgres: {
    quote: '"',
    // PostgreSQL folds what is not quoted to lower case.
    needsQuotes: (name) => !/^[a-z_][a-z0-9_]*$/.test(name) || reservedInPostgres.has(name),
  },
  mysql: {
    quote: '`',
    needsQuotes: (name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || reservedInMysql.has(name.toUpperCase()),
  },
};

export function identifier(name: string, dialect: Dialect): string {
  const { quote, needsQuotes } = namings[dialect];
  return needsQuotes(name) ? quote + name.replaceAll(quote, quote + quote) + quote : name;
}

/** `a.b` as two names; `*` stays. */
export function qualifiedName(path: string, dialect: Dialect): string {
  return path
    .split('.')
    .map((name) => (name === '*' ? name : identifier(name, dialect)))
    .join('.');
}

export function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
