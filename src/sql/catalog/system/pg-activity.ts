/** `pg_stat_activity`: the sessions of clients, without the processes that a server has besides. */
import type { SqlValue } from '../../model/index.ts';
import { owner } from './pg-names.ts';
import type { VirtualDefinition } from './virtual.ts';

/** The columns that are not here are refused by name. */
export const pgActivity: VirtualDefinition = {
  name: 'pg_stat_activity',
  columns:
    'datid oid, datname name, pid int4, leader_pid, usesysid oid, usename name, application_name text, backend_start timestamptz, xact_start, query_start, wait_event_type text, state, query_id int8, query text, backend_type',
  *rows(_catalog, _database, activity) {
    for (const each of activity()) {
      const row: Record<string, SqlValue> = {
        datid: 5,
        datname: each.database,
        pid: each.pid,
        usesysid: owner,
        usename: each.user,
        application_name: each.applicationName,
        backend_start: each.backendStart,
        xact_start: each.transactionStart,
        query_start: each.queryStart,
        wait_event_type: each.waitEventType,
        state: each.state,
        query: each.query,
        backend_type: 'client backend',
      };
      yield row;
    }
  },
};
