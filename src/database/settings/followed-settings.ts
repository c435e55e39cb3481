/**
 * Settings that change what statements answer, each with the values that moirai follows; another value is refused by name, or a run would show
 * what no server does. Settings that are not here change how a server works, plans or logs, and nothing that a client sees.
 */
import { type Dialect, notSupported, SqlError } from '../../sql/model/index.ts';

type Follows = (value: string) => boolean;

const only =
  (...values: readonly string[]): Follows =>
  (value) =>
    values.includes(value.toLowerCase());
const on = only('on', 'true', 'yes', '1');
const off = only('off', 'false', 'no', '0');
const never: Follows = (value) => /^\s*0\s*(us|ms|s|min|h|d)?\s*$/.test(value);
const matching =
  (pattern: RegExp): Follows =>
  (value) =>
    pattern.test(value);

/** Every time of moirai is UTC's. */
const utc = matching(
  /^('?)(utc|gmt|uct|zulu|universal|greenwich|z|etc\/(utc|gmt|uct|zulu|universal|greenwich)|[+-]?0+(:?00)?)\1$/i,
);
/** Orders of `C` and what differs from it in nothing that moirai does. */
const plainLocale = matching(/^(c|posix|c\.utf-?8|en_us\.utf-?8|)$/i);

const postgres: Readonly<Record<string, Follows>> = {
  array_nulls: on,
  backslash_quote: only('safe_encoding'),
  bytea_output: only('hex'),
  client_encoding: matching(/^'?(utf-?8|unicode|sql_ascii)'?$/i),
  DateStyle: matching(/^\s*(iso|mdy|us|default)?(\s*,\s*(mdy|us))?\s*$/i),
  default_table_access_method: only('heap'),
  default_tablespace: only('', 'pg_default'),
  default_transaction_deferrable: off,
  // moirai answers by an index where there is one.
  enable_bitmapscan: on,
  enable_indexonlyscan: on,
  enable_indexscan: on,
  exit_on_error: off,
  extra_float_digits: matching(/^[1-3]$/),
  idle_in_transaction_session_timeout: never,
  idle_session_timeout: never,
  IntervalStyle: only('postgres'),
  lc_monetary: plainLocale,
  lc_numeric: plainLocale,
  lc_time: plainLocale,
  quote_all_identifiers: off,
  role: only('none'),
  seed: () => false,
  session_authorization: only('postgres'),
  session_replication_role: only('origin', 'local'),
  standard_conforming_strings: on,
  temp_tablespaces: only(''),
  TimeZone: utc,
  timezone_abbreviations: only('default'),
  transaction_deferrable: off,
  transform_null_equals: off,
};

const strictModes = new Set([
  'ONLY_FULL_GROUP_BY',
  'STRICT_TRANS_TABLES',
  'STRICT_ALL_TABLES',
  'NO_ZERO_IN_DATE',
  'NO_ZERO_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION',
  'TRADITIONAL',
]);
const utf8 = matching(/^(utf8|utf8mb3|utf8mb4|binary)?$/i);

const mysql: Readonly<Record<string, Follows>> = {
  auto_increment_increment: only('1'),
  auto_increment_offset: only('1'),
  character_set_client: utf8,
  character_set_connection: utf8,
  character_set_results: utf8,
  collation_connection: matching(/^utf8\w*_ci$/i),
  default_storage_engine: only('innodb'),
  div_precision_increment: only('4'),
  sql_auto_is_null: off,
  sql_mode: isStrict,
  sql_safe_updates: off,
  sql_select_limit: only('18446744073709551615', 'default'),
  time_zone: (value) => /^system$/i.test(value) || utc(value),
  timestamp: only('0', 'default'),
};

const followed: Readonly<Record<Dialect, Readonly<Record<string, Follows>>>> = { postgres, mysql };

/** @param value `null`: the default, which is followed. @throws SqlError 0A000; 22023 where the server knows no such value either */
export function mustBeFollowed(name: string, value: string | null, dialect: Dialect): void {
  const table = followed[dialect];
  if (value === null || !Object.hasOwn(table, name) || table[name]?.(value) === true) return;
  if (name === 'TimeZone' && !isTimeZone(value))
    throw new SqlError('22023', `invalid value for parameter "TimeZone": "${value}"`);
  throw notSupported(`${name} = ${value === '' ? "''" : value}`);
}

/** Strict, and with no mode that changes the meaning of a statement. */
function isStrict(value: string): boolean {
  const modes = value
    .toUpperCase()
    .split(',')
    .map((mode) => mode.trim());
  const known = modes.every((mode) => mode === '' || strictModes.has(mode));
  return known && modes.some((mode) => /^(STRICT_|TRADITIONAL)/.test(mode));
}

/** A zone of the tz database, or a distance from UTC. */
function isTimeZone(value: string): boolean {
  if (/^[<+-]?\d/.test(value) || /^[A-Za-z]{3,}[+-]?\d/.test(value)) return true;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value.replaceAll("'", '') }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
