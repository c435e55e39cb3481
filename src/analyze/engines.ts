/** How programs that analyze makes speak to each database, and what it says of them. */
import type { IsolationName } from '../sql/index.ts';
import type { Profile } from '../database/index.ts';
import type { Dialect } from './application.ts';
import { MysqlClient, PostgresClient, PostgresQueries, type ProgramClient } from '../sql-program/index.ts';
import type { Connecting } from './connecting.ts';

export interface AnalyzedEngine {
  /** Of a statement outside a transaction, where a client sets none. */
  readonly defaultIsolation: IsolationName;
  readonly profileAt: (isolation: IsolationName) => Profile;
  readonly connect: (connecting: Connecting) => Promise<ProgramClient>;
  /** Statements that begin a transaction. */
  readonly begin: (level: IsolationName) => readonly string[];
  /** A session's statements fail where they wait longer for a lock. */
  readonly limitWaits: string;
  /** The error after which a transaction at a raised level has to be tried again. */
  readonly retriedError: string;
}

const programUser = 'app';

export const engineOf: Readonly<Record<Dialect, AnalyzedEngine>> = {
  postgres: {
    defaultIsolation: 'read committed',
    profileAt: (isolation) => ({ family: 'engine', engine: 'postgres', dialect: 'postgres', isolation }),
    connect: async ({ queries, stream }) =>
      queries === undefined ? PostgresClient.connect(stream()) : new PostgresQueries(queries(programUser)),
    begin: (level) => [`BEGIN ISOLATION LEVEL ${level.toUpperCase()}`],
    limitWaits: 'SET lock_timeout = 1000',
    retriedError: '40001',
  },
  mysql: {
    defaultIsolation: 'repeatable read',
    profileAt: (isolation) => ({ family: 'engine', engine: 'mysql', dialect: 'mysql', isolation }),
    connect: ({ stream }) => MysqlClient.connect(stream()),
    begin: (level) => [`SET TRANSACTION ISOLATION LEVEL ${level.toUpperCase()}`, 'START TRANSACTION'],
    limitWaits: 'SET SESSION innodb_lock_wait_timeout = 1',
    retriedError: '1213',
  },
};
