import KeyvPostgres from 'keyv-postgres-1.4.11';
import { firstValue } from './keyv-postgres.mjs';

export default firstValue(KeyvPostgres);
