export { ClockOffset } from './clock-offset.ts';
export { hookMariadb } from './hook-mariadb.ts';
export { hookMysql2 } from './hook-mysql2.ts';
export { hookPg } from './hook-pg.ts';
export { hookPostgresJs } from './hook-postgres-js.ts';
export { type Proxy, type ProxyOptions, startProxy } from './proxy.ts';
export { Recording, type RecordingOptions } from './recording.ts';
export type { Workload, WorkloadClient } from './workloads/workload.ts';
export { loadWorkload, runWorkload, type WorkloadCounts, workloadNames, workloadOf } from './workloads/workloads.ts';
