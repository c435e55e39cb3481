import migrate from 'node-pg-migrate-6.0.0';
import { bootstrap } from './node-pg-migrate-bootstrap.mjs';

export default bootstrap(migrate.default ?? migrate);
