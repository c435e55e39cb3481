import migrate from 'node-pg-migrate-5.10.0';
import { bootstrap } from './node-pg-migrate-bootstrap.mjs';

export default bootstrap(migrate.default ?? migrate);
