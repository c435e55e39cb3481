import { Verrou } from 'verrou-0.5.1';
import { knexStore } from 'verrou-0.5.1/drivers/knex';
import { start } from './verrou-start.mjs';

export default start({ Verrou, knexStore });
