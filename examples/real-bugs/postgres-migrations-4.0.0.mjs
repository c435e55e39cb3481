import { migrate } from 'postgres-migrations-4.0.0';
import { start } from './postgres-migrations-start.mjs';

export default start(migrate);
