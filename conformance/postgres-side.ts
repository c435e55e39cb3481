/** A real PostgreSQL. Who waits is what `pg_isolation_test_session_is_blocked` says, the function of its own isolation tests. */
import pg from 'pg';
import { type Client, postgresClient } from '../test/sql-oracle/answer.ts';
import { RealSide } from './real-side.ts';

const deadlockTimeoutMs = 2;

export interface PostgresSideOptions {
  /** Default 3. */
  readonly sessionsMax?: number;
  /** How tables of a few rows are read: by their indexes, as large ones are (default), or as the planner likes. */
  readonly planner?: 'indexes' | 'default';
}

const byIndexes = ['enable_seqscan=off', 'enable_bitmapscan=off', 'enable_indexonlyscan=off'];

/** @param port of a server that belongs to the caller */
export async function postgresSide(
  port: number,
  { sessionsMax = 3, planner = 'indexes' }: PostgresSideOptions = {},
): Promise<RealSide> {
  const options = [
    ...(planner === 'indexes' ? byIndexes : []),
    `deadlock_timeout=${deadlockTimeoutMs}ms`,
    'client_min_messages=error',
  ];
  const config: pg.ClientConfig = {
    host: '127.0.0.1',
    port,
    user: 'postgres',
    database: 'postgres',
    options: options.map((each) => `-c ${each}`).join(' '),
  };
  const control = new pg.Client(config);
  await control.connect();
  for (const setting of ['max_pred_locks_per_page = 1000', 'autovacuum = off'])
    await control.query(`alter system set ${setting}`);
  await control.query('select pg_reload_conf()');
  const asker = await postgresClient(config);
  const clients = [];
  const pids: number[] = [];
  for (let i = 0; i < sessionsMax; i += 1) {
    const client = afterRollback(await postgresClient(config));
    const answer = await client.ask({ sql: 'select pg_backend_pid()' });
    if (answer.kind !== 'rows') throw new Error('no pg_backend_pid()');
    pids.push(Number((JSON.parse(answer.rows[0] ?? '[]') as string[])[0]));
    clients.push(client);
  }
  return new RealSide({
    name: 'PostgreSQL',
    dialect: 'postgres',
    clients,
    cleaning: ['rollback', 'discard all'],
    deadlockMs: 2 * deadlockTimeoutMs,
    control: {
      ask: (sql) => asker.ask({ sql }),
      empty: async () => {
        await control.query('drop schema public cascade; create schema public');
      },
      truncate: async (tables) => {
        await control.query(`truncate ${tables.join(', ')}`);
      },
      waiting: async (sessions) => {
        const asked = sessions.map((session) => pids[session] ?? 0);
        const { rows } = await control.query<{ pid: number }>({
          name: 'blocked',
          text: 'select pid from unnest($1::int[]) pid where pg_isolation_test_session_is_blocked(pid, $2::int[])',
          values: [asked, pids],
        });
        return new Set(rows.map(({ pid }) => pids.indexOf(pid)));
      },
      recover: async (session) => {
        await control.query('select pg_cancel_backend($1)', [pids[session]]);
      },
      close: async () => {
        await asker.end();
        await control.end();
      },
    },
  });
}

/**
 * A client is told of an error before the server has rolled the transaction back, and released its locks: the answer to an empty query comes
 * after that.
 */
function afterRollback(client: Client): Client {
  return {
    ask: async (statement) => {
      const answer = await client.ask(statement);
      if (answer.kind === 'error') await client.ask({ sql: ';' });
      return answer;
    },
    end: () => client.end(),
  };
}
