import PgBoss from 'pg-boss-4.1.0';
import { start } from './pg-boss-start.mjs';

export default start(PgBoss);
