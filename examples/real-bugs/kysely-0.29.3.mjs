import { Kysely, PostgresDialect } from 'kysely-0.29.3';
import { Migrator } from 'kysely-0.29.3/migration';
import { migrate } from './kysely-migrate.mjs';

export default migrate({ Kysely, PostgresDialect, Migrator });
