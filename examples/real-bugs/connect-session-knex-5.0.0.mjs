import { ConnectSessionKnexStore } from 'connect-session-knex-5.0.0';
import { set } from './connect-session-knex-set.mjs';

export default set(ConnectSessionKnexStore);
