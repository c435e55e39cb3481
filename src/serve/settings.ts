/** Settings of a session: what SET, SHOW and set_config see. Values are text; a few of them mean something to the session. */
import { type Dialect, SqlError } from '../sql/index.ts';

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

const byLowerCase = new Map(Object.keys(postgresDefaults).map((name) => [name.toLowerCase(), name]));

export class Settings {
  readonly #dialect: Dialect;
  readonly #onReport: (name: string, value: string) => void;
  readonly #initial: ReadonlyMap<string, string>;
  readonly #values = new Map<string, string>();
  /** Values before the open transaction: SET in a transaction that is rolled back was never there. */
  #before: Map<string, string> | null = null;
  /** SET LOCAL: until the transaction ends. */
  readonly #local = new Map<string, string>();

  constructor(dialect: Dialect, initial: ReadonlyMap<string, string>, onReport: (name: string, value: string) => void) {
    this.#dialect = dialect;
    this.#onReport = onReport;
    this.#initial = new Map([...initial].map(([name, value]) => [canonical(name), value]));
    for (const [name, value] of this.#initial) this.#values.set(name, value);
  }

  get(name: string): string | undefined {
    const known = canonical(name);
    return this.#local.get(known) ?? this.#values.get(known) ?? this.#default(known);
  }

  /** @param value `null`: back to the default. @throws SqlError 42704, 55P02 */
  set(name: string, value: string | null, isLocal: boolean): void {
    const known = canonical(name);
    if (this.#dialect === 'postgres') {
      if (cannotChange.has(known)) throw new SqlError('55P02', `parameter "${known}" cannot be changed`);
      if (this.#default(known) === undefined && !known.includes('.'))
        throw new SqlError('42704', `unrecognized configuration parameter "${known}"`);
    }
    const before = this.get(known);
    const target = isLocal ? this.#local : this.#values;
    const fallback = this.#initial.get(known) ?? this.#default(known);
    const next = value ?? fallback;
    if (next === undefined) target.delete(known);
    else target.set(known, next);
    this.#report(known, before);
  }

  resetAll(): void {
    const names = [...this.#values.keys()];
    for (const name of names) this.set(name, null, false);
  }

  begin(): void {
    this.#before = new Map(this.#values);
  }

  end(isCommitted: boolean): void {
    const names = new Set([...this.#local.keys(), ...(isCommitted ? [] : this.#values.keys())]);
    const shown = new Map([...names].map((name) => [name, this.get(name)]));
    this.#local.clear();
    if (!isCommitted && this.#before !== null) {
      this.#values.clear();
      for (const [name, value] of this.#before) this.#values.set(name, value);
    }
    this.#before = null;
    for (const [name, value] of shown) this.#report(name, value);
  }

  /** Every setting with its value, by name. */
  all(): ReadonlyMap<string, string> {
    const names = new Set([...Object.keys(postgresDefaults), ...this.#values.keys(), ...this.#local.keys()]);
    return new Map([...names].toSorted().map((name) => [name, this.get(name) ?? '']));
  }

  #default(name: string): string | undefined {
    return this.#dialect === 'postgres' ? postgresDefaults[name] : undefined;
  }

  #report(name: string, before: string | undefined): void {
    const value = this.get(name);
    if (reported.has(name) && value !== undefined && value !== before) this.#onReport(name, value);
  }
}

/** As the server spells it: names are case-insensitive. */
function canonical(name: string): string {
  const lower = name.toLowerCase();
  return byLowerCase.get(lower) ?? (lower === 'timezone' ? 'TimeZone' : lower);
}

/** `250`, `250ms`, `2s`, `1min` in milliseconds; 0 is never, and never is Infinity. */
export function timeoutMs(text: string | undefined): number {
  const parts = /^\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h|d)?\s*$/.exec(text ?? '0');
  if (parts === null) return Infinity;
  const unit = { us: 0.001, ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 }[parts[2] ?? 'ms'] ?? 1;
  const milliseconds = Number(parts[1]) * unit;
  return milliseconds === 0 ? Infinity : milliseconds;
}
