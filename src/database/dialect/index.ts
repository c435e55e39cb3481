/** What sessions and transactions of the two servers do differently. */
import type { Dialect } from '../../sql/model/index.ts';
import { mysqlSessions } from './mysql.ts';
import { postgresSessions } from './postgres.ts';
import type { SessionRules } from './session-rules.ts';

export type { SessionRules, TimeoutSetting } from './session-rules.ts';

export const sessionRules: Readonly<Record<Dialect, SessionRules>> = {
  postgres: postgresSessions,
  mysql: mysqlSessions,
};
