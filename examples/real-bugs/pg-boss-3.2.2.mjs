import PgBoss from 'pg-boss-3.2.2';
import { start } from './pg-boss-start.mjs';

export default start(PgBoss);
