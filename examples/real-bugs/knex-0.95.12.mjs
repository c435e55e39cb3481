import knex from 'knex-0.95.12';
import { migrateList } from './knex-migrate-list.mjs';

export default migrateList(knex);
