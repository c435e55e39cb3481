/** What a session does at a moment: a row of `pg_stat_activity` (PostgreSQL manual, table 28.3). Times in microseconds since 1970. */
export interface SessionActivity {
  readonly pid: number;
  readonly user: string;
  readonly database: string;
  readonly applicationName: string;
  readonly state: 'active' | 'idle' | 'idle in transaction' | 'idle in transaction (aborted)';
  /** Manual, table 28.4; `null`: it waits for nothing. */
  readonly waitEventType: 'Client' | 'Lock' | 'Timeout' | null;
  /** The text of the statement under way, or of the last one. */
  readonly query: string;
  readonly backendStart: bigint;
  readonly transactionStart: bigint | null;
  readonly queryStart: bigint | null;
}
