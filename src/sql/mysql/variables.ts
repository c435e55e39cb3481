/** System variables that clients ask for, with what a fresh MySQL 8.0 server says (manual, 7.1.8), and the few that mean something to us. */

export interface SystemVariable {
  readonly value: string | bigint | null;
  /** Another name of the same variable, of which it has the value. */
  readonly is?: string;
}

const text = (name: string, value: string | null): [string, SystemVariable] => [name, { value }];
const number = (name: string, value: bigint): [string, SystemVariable] => [name, { value }];
const alias = (name: string, is: string): [string, SystemVariable] => [name, { value: null, is }];

/** What we say we are. Clients choose features by it: 8.0 has no RETURNING and knows `FOR SHARE`, `SKIP LOCKED`, CTEs and windows. */
export const mysqlVersion = '8.0.36-moirai';

/** Bytes of one packet, unless the server says otherwise. */
export const maxAllowedPacket = 16_777_216n;

/** By name, lower case. Integers are shown as numbers by SELECT @@name, as text by SHOW VARIABLES. */
export const systemVariables: ReadonlyMap<string, SystemVariable> = new Map([
  number('auto_increment_increment', 1n),
  number('auto_increment_offset', 1n),
  number('autocommit', 1n),
  number('big_tables', 0n),
  text('character_set_client', 'utf8mb4'),
  text('character_set_connection', 'utf8mb4'),
  text('character_set_database', 'utf8mb4'),
  text('character_set_filesystem', 'binary'),
  text('character_set_results', 'utf8mb4'),
  text('character_set_server', 'utf8mb4'),
  text('character_set_system', 'utf8mb3'),
  text('collation_connection', 'utf8mb4_0900_ai_ci'),
  text('collation_database', 'utf8mb4_0900_ai_ci'),
  text('collation_server', 'utf8mb4_0900_ai_ci'),
  number('connect_timeout', 10n),
  text('default_storage_engine', 'InnoDB'),
  text('div_precision_increment', '4'),
  number('foreign_key_checks', 1n),
  number('group_concat_max_len', 1024n),
  text('hostname', 'moirai'),
  text('init_connect', ''),
  number('innodb_lock_wait_timeout', 50n),
  number('innodb_rollback_on_timeout', 0n),
  number('innodb_snapshot_isolation', 0n),
  number('interactive_timeout', 28800n),
  text('license', 'Apache-2.0'),
  number('lock_wait_timeout', 31536000n),
  number('lower_case_table_names', 0n),
  number('max_allowed_packet', maxAllowedPacket),
  number('max_connections', 151n),
  number('max_execution_time', 0n),
  number('net_buffer_length', 16384n),
  number('net_read_timeout', 30n),
  number('net_write_timeout', 60n),
  number('performance_schema', 0n),
  number('port', 3306n),
  number('pseudo_thread_id', 0n),
  number('query_cache_size', 0n),
  text('query_cache_type', 'OFF'),
  number('read_only', 0n),
  number('server_id', 1n),
  number('sql_auto_is_null', 0n),
  number('sql_log_bin', 1n),
  text(
    'sql_mode',
    'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
  ),
  number('sql_notes', 1n),
  number('sql_quote_show_create', 1n),
  number('sql_safe_updates', 0n),
  number('sql_select_limit', 18446744073709551615n),
  number('sql_warnings', 0n),
  alias('storage_engine', 'default_storage_engine'),
  text('system_time_zone', 'UTC'),
  text('time_zone', 'SYSTEM'),
  number('timestamp', 0n),
  text('transaction_isolation', 'REPEATABLE-READ'),
  number('transaction_read_only', 0n),
  alias('tx_isolation', 'transaction_isolation'),
  alias('tx_read_only', 'transaction_read_only'),
  number('unique_checks', 1n),
  text('version', mysqlVersion),
  text('version_comment', 'moirai'),
  text('version_compile_machine', 'x86_64'),
  text('version_compile_os', 'Linux'),
  number('wait_timeout', 28800n),
]);

/** Shown as ON and OFF by SHOW VARIABLES. */
export const switches: ReadonlySet<string> = new Set([
  'autocommit',
  'big_tables',
  'foreign_key_checks',
  'innodb_rollback_on_timeout',
  'innodb_snapshot_isolation',
  'performance_schema',
  'read_only',
  'sql_auto_is_null',
  'sql_log_bin',
  'sql_notes',
  'sql_quote_show_create',
  'sql_safe_updates',
  'sql_warnings',
  'transaction_read_only',
  'tx_read_only',
  'unique_checks',
]);
