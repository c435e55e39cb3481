import { Verrou } from 'verrou-0.5.2';
import { knexStore } from 'verrou-0.5.2/drivers/knex';
import { start } from './verrou-start.mjs';

export default start({ Verrou, knexStore });
