import knex from 'knex-0.95.11';
import { migrateList } from './knex-migrate-list.mjs';

export default migrateList(knex);
