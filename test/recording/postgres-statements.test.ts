/** Random statements of many clients on a real PostgreSQL, recorded and verified with the claim that is right: no violation. */
import pg from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { hookPg } from '../../src/capture/index.ts';
import { loadParser } from '../../src/sql/index.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { postgresStatements } from './postgres-statements.ts';
import { expectRight, recordClients } from './random-statements.ts';

const server = await startedOrSkipped(startPostgres);

describe.skipIf(server === undefined)('PostgreSQL', () => {
  beforeAll(() => loadParser());
  afterAll(() => server?.stop());

  describe.each(['read committed', 'repeatable read', 'serializable'])('%s', (level) => {
    test.each(Object.entries(postgresStatements(level)))('statements %s', async (_name, workload) => {
      const connect = async () => {
        const client = new pg.Client({
          host: '127.0.0.1',
          port: server?.port ?? 0,
          user: 'postgres',
          database: 'postgres',
        });
        await client.connect();
        await client.query(`SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL ${level}`);
        await client.query(`SET deadlock_timeout = '10ms'`);
        return { run: (sql: string) => client.query(sql), end: () => client.end() };
      };
      expectRight(
        await recordClients(workload, connect, (recording) => hookPg(pg as never, recording)),
        'postgres',
        level,
      );
    });
  });
});
