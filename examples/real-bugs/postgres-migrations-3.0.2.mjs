import { migrate } from 'postgres-migrations-3.0.2';
import { start } from './postgres-migrations-start.mjs';

export default start(migrate);
