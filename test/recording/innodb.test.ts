/** Random statements of many clients on a real MariaDB, and on a real MySQL where there is one, recorded and verified with the claim that is right: no violation. */
import mysql2 from 'mysql2';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { hookMysql2 } from '../../src/capture/index.ts';
import { loadParser } from '../../src/sql/index.ts';
import { startInnodbServers, stopServers } from '../support/innodb-servers.ts';
import { innodbStatements } from './innodb-statements.ts';
import { expectRight, recordClients } from './random-statements.ts';

const levels = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];
const levelsOf = { mariadb: [...levels, 'snapshot isolation'], mysql: levels };

const servers = await startInnodbServers();

afterAll(() => stopServers(servers));

describe.each(servers)('$name', ({ engine, server }) => {
  beforeAll(() => loadParser());

  describe.skipIf(server === undefined).each(Object.entries(innodbStatements))('statements %s', (_name, workload) => {
    test.each(levelsOf[engine])('%s', async (level) => {
      const connect = async (i: number) => {
        const client = await mysql.createConnection({
          host: '127.0.0.1',
          port: server?.port ?? 0,
          user: 'root',
          database: 'test',
          // Some are told how many rows have changed, others how many were found.
          ...(i % 3 === 2 ? { flags: ['-FOUND_ROWS'] } : {}),
        });
        const isSnapshot = level === 'snapshot isolation';
        await client.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isSnapshot ? 'repeatable read' : level}`);
        if (isSnapshot) await client.query('SET SESSION innodb_snapshot_isolation = ON');
        await client.query('SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1');
        return { run: (sql: string) => client.query(sql), end: () => client.end() };
      };
      expectRight(await recordClients(workload, connect, (recording) => hookMysql2(mysql2, recording)), engine, level);
    });
  });
});
