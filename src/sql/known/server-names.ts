/**
 * What the real servers have, by name: what moirai lacks of it is "not supported", what no server has is the statement's mistake. The lists
 * are made by scripts/engine-names.mjs. They are read when a name was not found, so a statement that works pays nothing for them.
 */
import { mysqlFunctions } from './mysql-functions.ts';
import { mysqlVariables } from './mysql-variables.ts';
import { postgresCatalog } from './postgres-catalog.ts';
import { postgresFixedSettings } from './postgres-fixed-settings.ts';
import { postgresFunctions } from './postgres-functions.ts';
import { postgresOperators } from './postgres-operators.ts';
import { postgresSettings } from './postgres-settings.ts';
import { postgresTypes } from './postgres-types.ts';

/** Parameters of one signature of a function or an operator, by the names of `pg_type`. */
export interface ServerSignature {
  readonly parameters: readonly string[];
  /** Those before the ones with defaults. */
  readonly countMin: number;
  readonly isVariadic: boolean;
}

export const postgresHas = {
  /** `undefined`: PostgreSQL has no function of this name. */
  function: signaturesIn(postgresFunctions),
  operator: signaturesIn(postgresOperators),
  type: membership(postgresTypes),
  setting: membership(postgresSettings),
  /** Settings that SET cannot change (55P02). */
  fixedSetting: membership(postgresFixedSettings),
  /** Columns of a table or view of `pg_catalog` and `information_schema`. */
  catalogColumns: columnsIn(postgresCatalog),
} as const;

export const mysqlHas = { function: membership(mysqlFunctions), variable: membership(mysqlVariables) } as const;

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function membership(text: string): (name: string) => boolean {
  const names = lazily(() => new Set(text.trim().split(/\s+/)));
  return (name) => names().has(name.toLowerCase());
}

function byName<T>(text: string, read: (content: string) => T): () => ReadonlyMap<string, T> {
  return lazily(
    () =>
      new Map(
        text
          .trim()
          .split(/\s+/)
          .map((entry) => {
            const bracket = entry.indexOf('(');
            return [entry.slice(0, bracket), read(entry.slice(bracket + 1, -1))] as const;
          }),
      ),
  );
}

function signaturesIn(text: string): (name: string) => readonly ServerSignature[] | undefined {
  const names = byName(text, (content) => content.split('|').map(readSignature));
  return (name) => names().get(name);
}

function columnsIn(text: string): (relation: string) => readonly string[] | undefined {
  const names = byName(text, (content) => content.split(','));
  return (relation) => names().get(relation);
}

/** `text,int4=,...any`: `=` has a default, `...` may come any number of times. */
function readSignature(text: string): ServerSignature {
  const written = text === '' ? [] : text.split(',');
  const countMin = written.findIndex((each) => each.endsWith('='));
  return {
    parameters: written.map((each) => each.replace(/^\.\.\./, '').replace(/=$/, '')),
    countMin: countMin === -1 ? written.length : countMin,
    isVariadic: written.some((each) => each.startsWith('...')),
  };
}
