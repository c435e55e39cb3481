import knex from 'knex-3.3.0';
import { migrateList } from './knex-migrate-list.mjs';

export default migrateList(knex);
