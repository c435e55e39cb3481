/** The clients that are tested, in the order of the documentation. */
import { drizzleMysql2 } from './drizzle-mysql.ts';
import { drizzleNodePostgres, drizzlePostgresJs } from './drizzle-postgres.ts';
import { knexMysql, knexPostgres } from './knex.ts';
import { kyselyMysql, kyselyPostgres } from './kysely.ts';
import { mariadb } from './mariadb.ts';
import { mysql2Execute, mysql2Query } from './mysql2.ts';
import { nodePostgres, nodePostgresInProcess } from './node-postgres.ts';
import { postgresJs } from './postgres-js.ts';
import { sequelizeMysql, sequelizePostgres } from './sequelize.ts';
import type { Driver } from './shop.ts';
import { typeormMysql, typeormPostgres } from './typeorm.ts';

export const drivers: readonly Driver[] = [
  nodePostgres,
  nodePostgresInProcess,
  postgresJs,
  kyselyPostgres,
  drizzleNodePostgres,
  drizzlePostgresJs,
  knexPostgres,
  sequelizePostgres,
  typeormPostgres,
  mysql2Query,
  mysql2Execute,
  mariadb,
  kyselyMysql,
  drizzleMysql2,
  knexMysql,
  sequelizeMysql,
  typeormMysql,
];
