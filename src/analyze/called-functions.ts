/** Which functions of a statement only compute: one that the application's schema defines may read and write any row. */
import type { FuncCall } from '@pgsql/types';
import { mysqlHas, postgresHas, stringsOf } from '../sql/index.ts';
import type { Dialect } from './application.ts';
import type { Schema } from './schema.ts';

/** Why a call is not understood; `undefined`: its function only computes. */
export function effectOf({ funcname }: Pick<FuncCall, 'funcname'>, { dialect, unread }: Schema): string | undefined {
  const parts = stringsOf(funcname);
  const name = parts.at(-1) ?? '';
  const isQualified = parts.length > 1 && parts[0] !== 'pg_catalog';
  if (!isQualified && withEffects[dialect].test(name)) return `the function ${name}`;
  if (computes[dialect](name, isQualified) && !unread.functions.has(name)) return undefined;
  return `it calls ${name}, a function that is not built in: what it reads and writes is not known`;
}

/** Functions that do more than compute. */
const withEffects: Readonly<Record<Dialect, RegExp>> = {
  postgres: /^(?:pg_.*|setval|currval|lastval|set_config|lo_.*|dblink.*|txid_.*|query_to_.*)$/,
  mysql: /^(?:(?:get|release|is_free|is_used)_lock|release_all_locks|sleep|benchmark)$/i,
};

const computes: Readonly<Record<Dialect, (name: string, isQualified: boolean) => boolean>> = {
  postgres: (name, isQualified) =>
    ofExtensions.test(name) ||
    (!isQualified && (postgresHas.function(name) !== undefined || ofLaterVersions.test(name))),
  mysql: (name, isQualified) => !isQualified && mysqlHas.function(name),
};

/** Of uuid-ossp, pgcrypto, pg_trgm, unaccent, fuzzystrmatch, earthdistance, PostGIS and pgvector. */
const ofExtensions =
  /^(?:uuid_(?:generate_v\w+|nil|ns_\w+)|crypt|gen_salt|gen_random_bytes|digest|hmac|armor|dearmor|pgp_\w+|(?:strict_)?(?:word_)?similarity|show_trgm|unaccent|levenshtein\w*|d?metaphone\w*|soundex|difference|earth\w*|ll_to_earth|st_\w+|(?:l[12]|cosine)_distance|inner_product)$/;

/** Built in since PostgreSQL 16. */
const ofLaterVersions =
  /^(?:any_value|array_(?:reverse|sample|shuffle|sort)|casefold|crc32c?|date_(?:add|subtract)|erfc?|l?gamma|random_normal|to_(?:bin|oct)|uuidv[47]|uuid_extract_\w+)$/;
