/** The clients that are tested, in the order of the documentation. */
import { mariadb } from './mariadb.ts';
import { mysql2Execute, mysql2Query } from './mysql2.ts';
import { nodePostgres, nodePostgresInProcess } from './node-postgres.ts';
import { postgresJs } from './postgres-js.ts';
import type { Driver } from './shop.ts';

export const drivers: readonly Driver[] = [
  nodePostgres,
  nodePostgresInProcess,
  postgresJs,
  mysql2Query,
  mysql2Execute,
  mariadb,
];
