/** Settings of a session: what SET, SHOW and set_config see. Values are text; a few of them mean something to the session. */
import { type Dialect, SqlError } from '../../sql/model/index.ts';
import { postgresHas, unknownSetting } from '../../sql/index.ts';
import { mustBeFollowed } from './followed-settings.ts';
import { sessionRules } from '../dialect/index.ts';

/** What drivers, ORMs and `psql` ask for or set, with the value of a fresh PostgreSQL 15. */
export const postgresDefaults: Readonly<Record<string, string>> = {
  application_name: '',
  bytea_output: 'hex',
  check_function_bodies: 'on',
  client_encoding: 'UTF8',
  client_min_messages: 'notice',
  DateStyle: 'ISO, MDY',
  deadlock_timeout: '1s',
  default_table_access_method: 'heap',
  default_tablespace: '',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  enable_seqscan: 'on',
  extra_float_digits: '1',
  idle_in_transaction_session_timeout: '0',
  in_hot_standby: 'off',
  integer_datetimes: 'on',
  IntervalStyle: 'postgres',
  is_superuser: 'on',
  jit: 'off',
  lc_collate: 'C',
  lc_ctype: 'C',
  lock_timeout: '0',
  max_identifier_length: '63',
  max_index_keys: '32',
  plan_cache_mode: 'auto',
  row_security: 'on',
  search_path: '"$user", public',
  server_encoding: 'UTF8',
  server_version: '15.18',
  server_version_num: '150018',
  session_replication_role: 'origin',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  synchronous_commit: 'on',
  TimeZone: 'UTC',
  transaction_deferrable: 'off',
  transaction_isolation: 'read committed',
  transaction_read_only: 'off',
  wal_level: 'replica',
  work_mem: '4MB',
  xmloption: 'content',
};

/** Settings that a client hears of when they change: the manual's section "Asynchronous Operations". */
const reported = new Set(['application_name', 'client_encoding', 'DateStyle', 'IntervalStyle', 'TimeZone']);

const cannotChange = new Set([
  'server_version',
  'server_version_num',
  'server_encoding',
  'integer_datetimes',
  'is_superuser',
]);

/** Settings that SHOW ALL leaves out. */
const unlisted = new Set(['role', 'seed', 'session_authorization']);

const byLowerCase = new Map(Object.keys(postgresDefaults).map((name) => [name.toLowerCase(), name]));

const timeouts = new Set([
  'deadlock_timeout',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
  'statement_timeout',
]);

/** Settings at one moment of a transaction, to come back to. */
export interface SettingsMark {
  readonly values: ReadonlyMap<string, string>;
  readonly local: ReadonlyMap<string, string>;
}

/** What a client asked for when it connected and does not get. */
export interface UnfollowedSetting {
  readonly name: string;
  readonly value: string;
  readonly error: SqlError;
}

export interface SettingsOptions {
  readonly dialect: Dialect;
  /** The values of a fresh server. */
  readonly settings: Readonly<Record<string, string>>;
}

/** What is followed of DateStyle comes to one value; time limits are shown in their largest whole unit. */
function shownAs(known: string, value: string): string {
  const milliseconds = timeouts.has(known) ? millisecondsOf(value) : null;
  if (milliseconds !== null) return timeText(milliseconds);
  return known === 'DateStyle' ? (postgresDefaults['DateStyle'] ?? value) : value;
}

export class Settings {
  readonly #dialect: Dialect;
  readonly #defaults: Readonly<Record<string, string>>;
  readonly #onReport: (name: string, value: string) => void;
  readonly #initial = new Map<string, string>();
  readonly #unfollowed: UnfollowedSetting[] = [];
  /** Replaced, never changed: every statement that is a transaction of its own marks them twice. */
  #values: ReadonlyMap<string, string>;
  /** SET LOCAL: until the transaction ends. */
  #local: ReadonlyMap<string, string> = none;
  /** Where the open transaction began: in PostgreSQL a SET in a transaction that is rolled back was never there. */
  #begun: SettingsMark | null = null;

  /** @param initial what the client says as it connects */
  constructor(
    { dialect, settings }: SettingsOptions,
    initial: ReadonlyMap<string, string>,
    onReport: (name: string, value: string) => void,
  ) {
    this.#dialect = dialect;
    this.#defaults = settings;
    this.#onReport = onReport;
    for (const [name, value] of initial) this.#connectWith(canonical(name), value);
    this.#values = this.#initial;
    // The client hears of what it gets in place of what it asked for.
    for (const { name } of this.#unfollowed) if (reported.has(name)) onReport(name, this.#default(name) ?? '');
  }

  /** Settings of the connection that have their defaults all the same. */
  get unfollowed(): readonly UnfollowedSetting[] {
    return this.#unfollowed;
  }

  get(name: string): string | undefined {
    return this.chosen(name) ?? this.#default(canonical(name));
  }

  isOff(name: string): boolean {
    return ['0', 'off', 'false'].includes((this.get(name) ?? 'on').toLowerCase());
  }

  /** What sessions begin with: MySQL's @@global. */
  global(name: string): string | undefined {
    return this.#default(canonical(name));
  }

  /** What the client has said; `undefined` where the default holds. */
  chosen(name: string): string | undefined {
    const known = canonical(name);
    return this.#local.get(known) ?? this.#values.get(known);
  }

  /** @param value `null`: back to the default. @throws SqlError 42704, 55P02, 22023 */
  set(name: string, value: string | null, isLocal: boolean): void {
    const known = canonical(name);
    if (sessionRules[this.#dialect].checksSettings) this.#check(known, value);
    mustBeFollowed(known, value, this.#dialect);
    const before = this.get(known);
    const next = (value === null ? undefined : shownAs(known, value)) ?? this.#initial.get(known);
    // Back to the default for this transaction only: what the session has is hidden.
    const hidden = isLocal ? this.#default(known) : undefined;
    if (isLocal) this.#local = changed(this.#local, known, next ?? hidden);
    else {
      this.#values = changed(this.#values, known, next);
      // The last word is that of the session: PostgreSQL forgets the transaction's own.
      this.#local = changed(this.#local, known, undefined);
    }
    this.#report(known, before);
  }

  resetAll(): void {
    const before = this.mark();
    this.#local = none;
    this.#values = this.#initial;
    this.#reportSince(before);
  }

  begin(): void {
    this.#begun ??= this.mark();
  }

  end(isCommitted: boolean): void {
    const before = this.mark();
    if (!isCommitted && this.#begun !== null && sessionRules[this.#dialect].rollsBackSettings)
      this.#values = this.#begun.values;
    this.#local = none;
    this.#begun = null;
    this.#reportSince(before);
  }

  mark(): SettingsMark {
    return { values: this.#values, local: this.#local };
  }

  /** ROLLBACK TO SAVEPOINT. */
  backTo(mark: SettingsMark): void {
    if (!sessionRules[this.#dialect].rollsBackSettings) return;
    const before = this.mark();
    this.#values = mark.values;
    this.#local = mark.local;
    this.#reportSince(before);
  }

  /** Every setting with its value, by name. */
  all(): ReadonlyMap<string, string> {
    const names = new Set([...Object.keys(this.#defaults), ...this.#values.keys(), ...this.#local.keys()]);
    return new Map([...names].toSorted().map((name) => [name, this.get(name) ?? '']));
  }

  /**
   * Drivers send settings that their users never chose (pgjdbc: the zone of the JVM), so one that moirai does not follow refuses no client.
   * @throws SqlError 22023
   */
  #connectWith(name: string, value: string): void {
    try {
      mustBeFollowed(name, value, this.#dialect);
      this.#initial.set(name, shownAs(name, value));
    } catch (error) {
      if (!(error instanceof SqlError && error.isUnsupported)) throw error;
      this.#unfollowed.push({ name, value, error });
    }
  }

  #check(name: string, value: string | null): void {
    if (cannotChange.has(name) || postgresHas.fixedSetting(name))
      throw new SqlError('55P02', `parameter "${name}" cannot be changed`);
    const isKnown =
      this.#default(name) !== undefined || this.#initial.has(name) || postgresHas.setting(name) || unlisted.has(name);
    if (!isKnown && !name.includes('.')) throw unknownSetting(name);
    if (value !== null && timeouts.has(name) && millisecondsOf(value) === null)
      throw new SqlError('22023', `invalid value for parameter "${name}": "${value}"`);
  }

  #default(name: string): string | undefined {
    return Object.hasOwn(this.#defaults, name) ? this.#defaults[name] : undefined;
  }

  #reportSince({ values, local }: SettingsMark): void {
    if (values === this.#values && local === this.#local) return;
    for (const name of reported) this.#report(name, local.get(name) ?? values.get(name) ?? this.#default(name));
  }

  #report(name: string, before: string | undefined): void {
    const value = this.get(name);
    if (reported.has(name) && value !== undefined && value !== before) this.#onReport(name, value);
  }
}

const none: ReadonlyMap<string, string> = new Map();

function changed(
  settings: ReadonlyMap<string, string>,
  name: string,
  value: string | undefined,
): ReadonlyMap<string, string> {
  if (settings.get(name) === value) return settings;
  const copy = new Map(settings);
  if (value === undefined) copy.delete(name);
  else copy.set(name, value);
  return copy;
}

/** As the server spells it: names are case-insensitive. */
function canonical(name: string): string {
  const lower = name.toLowerCase();
  return byLowerCase.get(lower) ?? lower;
}

/** `250`, `250ms`, `2s`, `1min` in milliseconds; 0 is never, and never is Infinity, as is what is no time. */
export function timeoutMs(text: string | undefined): number {
  if (text === undefined || text === '0') return Infinity;
  const milliseconds = millisecondsOf(text);
  return milliseconds === null || milliseconds === 0 ? Infinity : milliseconds;
}

const unitMs: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  min: 60_000,
  s: 1_000,
  ms: 1,
  us: 0.001,
};

/** `null`: no time. */
function millisecondsOf(text: string): number | null {
  const parts = /^\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h|d)?\s*$/.exec(text);
  return parts === null ? null : Number(parts[1]) * (unitMs[parts[2] ?? 'ms'] ?? 1);
}

/** In the largest unit of which it is a whole number, halves of a millisecond to the even one: guc.c, `convert_int_from_base_unit`. */
function timeText(milliseconds: number): string {
  const below = Math.floor(milliseconds);
  const isUp = milliseconds - below > 0.5 || (milliseconds - below === 0.5 && below % 2 === 1);
  const whole = isUp ? below + 1 : below;
  const unit = Object.entries(unitMs).find(([, ms]) => whole % ms === 0);
  return whole === 0 || unit === undefined ? '0' : `${whole / unit[1]}${unit[0]}`;
}
