import { drizzle } from 'drizzle-orm-0.45.2/node-postgres';
import { migrate } from 'drizzle-orm-0.45.2/node-postgres/migrator';
import { start } from './drizzle-migrate.mjs';

export default start({ drizzle, migrate });
