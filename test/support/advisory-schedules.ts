/** Random schedules of statements that take locks by key, and rows, for two servers at once: who waits, what comes of each statement. */
import { createConnection, type Connection } from 'mysql2/promise';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type Chooser, seeded } from '../../src/base/index.ts';
import { connected, openDatabase } from '../../src/database/sql-session.test-support.ts';
import { formatText, type SqlType } from '../../src/sql/model/index.ts';

export interface AdvisoryStep {
  readonly session: number;
  readonly sql: string;
}

/** Sessions of one server that run statements. `settle` says what has ended since, by session. */
export interface StatementFollower {
  start(session: number, sql: string): void;
  settle(): Promise<ReadonlyMap<number, string>>;
  /** Ends what is left open or waits. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

const sessionsMax = 3;

const schema = ['drop table if exists r', 'create table r (id int primary key, n int)'];
const content = ['delete from r', 'insert into r values (1, 0), (2, 0)'];

const modes = ['', '_shared'] as const;

const statements = {
  postgres: (key: number, chooser: Chooser) => {
    const mode = modes[chooser.choose(2)] ?? '';
    const owner = chooser.choose(2) === 0 ? '' : '_xact';
    return [
      `select pg_advisory${owner}_lock${mode}(${key})`,
      `select pg_advisory${owner}_lock${mode}(${key})`,
      `select pg_advisory${owner}_lock${mode}(${key})`,
      `select pg_try_advisory${owner}_lock${mode}(${key})`,
      `select pg_advisory_unlock${mode}(${key})`,
      `select pg_advisory_unlock${mode}(${key})`,
      `select pg_advisory_unlock_all()`,
      `select id, pg_advisory${owner}_lock${mode}(id) from r order by id`,
      `update r set n = n + 1 where id = ${key % 2} + 1`,
      `update r set n = n + 1 where id = ${key % 2} + 1 and pg_advisory${owner}_lock${mode}(id) is not null`,
      'begin',
      'savepoint s',
      'rollback to s',
      'commit',
      'rollback',
    ];
  },
  mysql: (key: number) => [
    `select get_lock('k${key}', 100)`,
    `select get_lock('k${key}', 100)`,
    `select get_lock('k${key}', 100)`,
    `select get_lock('k${key}', 0)`,
    `select release_lock('k${key}')`,
    `select release_lock('k${key}')`,
    'select release_all_locks()',
    `select is_free_lock('k${key}'), is_used_lock('k${key}') is null`,
    `select id, get_lock(concat('k', id), 100) from r order by id`,
    `update r set n = n + 1 where id = ${key % 2} + 1`,
    'begin',
    'commit',
    'rollback',
  ],
} as const;

export function randomSteps(dialect: 'postgres' | 'mysql', seed: number): AdvisoryStep[] {
  const chooser = seeded(seed);
  return Array.from({ length: 5 + chooser.choose(9) }, () => {
    const list = statements[dialect](1 + chooser.choose(2), chooser);
    return { session: chooser.choose(sessionsMax), sql: list[chooser.choose(list.length)] ?? '' };
  });
}

/** One line a step: what ended by it. A session that waits is left alone. After a deadlock among MariaDB's, whose victim is either, nothing is compared. */
export async function followSteps(steps: readonly AdvisoryStep[], follower: StatementFollower): Promise<string[]> {
  const waiting = new Set<number>();
  const lines: string[] = [];
  for (const { session, sql } of steps) {
    if (waiting.has(session)) continue;
    waiting.add(session);
    follower.start(session, sql);
    const ended = [...(await follower.settle())].toSorted(([a], [b]) => a - b);
    for (const [id] of ended) waiting.delete(id);
    if (ended.some(([, what]) => what === 'error 1213')) {
      lines.push(`${session} ${sql} -> deadlock`);
      break;
    }
    lines.push(`${session} ${sql} -> ${ended.map(([id, what]) => `${id} ${what}`).join('; ')}`);
  }
  await follower.reset();
  return lines;
}

abstract class Follower implements StatementFollower {
  protected readonly running = new Set<number>();
  #ended = new Map<number, string>();

  start(session: number, sql: string): void {
    this.running.add(session);
    void this.#run(session, sql);
  }

  async #run(session: number, sql: string): Promise<void> {
    const what = await this.outcome(session, sql);
    this.running.delete(session);
    this.#ended.set(session, what);
  }

  async settle(): Promise<ReadonlyMap<number, string>> {
    for (let calm = 0; this.running.size > 0 && calm < this.calmPolls; ) {
      const before = this.#ended.size;
      await this.pause();
      const isStill = (await this.waiting()) === this.running.size && before === this.#ended.size;
      calm = isStill ? calm + 1 : 0;
    }
    const ended = this.#ended;
    this.#ended = new Map();
    return ended;
  }

  async reset(): Promise<void> {
    while (this.running.size > 0) {
      for (const session of this.running) await this.cancel(session);
      await this.settle();
    }
    for (let session = 0; session < sessionsMax; session++) await this.release(session);
    this.#ended = new Map();
  }

  protected abstract readonly calmPolls: number;
  protected abstract pause(): Promise<void>;
  protected abstract outcome(session: number, sql: string): Promise<string>;
  /** How many of the sessions wait. */
  protected abstract waiting(): Promise<number>;
  protected abstract cancel(session: number): Promise<void>;
  protected abstract release(session: number): Promise<void>;
  abstract close(): Promise<void>;
}

function rowsText(rows: readonly (readonly unknown[])[]): string {
  return rows
    .map((row) => row.map((value) => (value === null ? 'null' : `${value as string | number}`)).join(','))
    .join(' ');
}

const releases = {
  postgres: ['rollback', 'select pg_advisory_unlock_all()'],
  mysql: ['rollback', 'select release_all_locks()'],
} as const;

export async function moiraiFollower(dialect: 'postgres' | 'mysql'): Promise<StatementFollower> {
  const database = await openDatabase({ engine: dialect });
  const sessions = Array.from({ length: sessionsMax }, () => connected(database));
  for (const sql of [...schema, ...content]) await sessions[0]?.run(sql);

  class MoiraiFollower extends Follower {
    protected readonly calmPolls = 2;

    protected async pause(): Promise<void> {
      for (let turn = 0; turn < 6; turn++) await new Promise((resolve) => setImmediate(resolve));
    }

    protected async outcome(session: number, sql: string): Promise<string> {
      try {
        const {
          columns,
          rows: found,
          notices,
        } = (await sessions[session]?.run(sql)) ?? { columns: null, rows: [], notices: [] };
        const text = (row: (typeof found)[number]): (string | null)[] =>
          row.map((value, i) => (value === null ? null : formatText(value, columns?.[i]?.type as SqlType, dialect)));
        return columns === null ? 'ok' : rowsText(found.map(text)) + notices.map(({ code }) => ` ${code}`).join('');
      } catch (error) {
        const { code, detail } = error as { code: string; detail: { mysqlNumber?: number } };
        return dialect === 'mysql' && detail.mysqlNumber === 3058
          ? 'error 1213'
          : `error ${detail.mysqlNumber ?? code}`;
      }
    }

    protected waiting(): Promise<number> {
      return Promise.resolve(database.scheduler.waiting().filter(({ wait }) => wait?.isReady() === false).length);
    }

    protected cancel(session: number): Promise<void> {
      sessions[session]?.session.cancel();
      return Promise.resolve();
    }

    protected async release(session: number): Promise<void> {
      for (const sql of releases[dialect]) await sessions[session]?.run(sql);
      if (session === sessionsMax - 1) for (const sql of content) await sessions[0]?.run(sql);
    }

    close(): Promise<void> {
      database.close();
      return Promise.resolve();
    }
  }
  return new MoiraiFollower();
}

export async function realPostgres(port: number): Promise<StatementFollower> {
  const connect = async (): Promise<Client> => {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    await client.connect();
    await client.query(`set deadlock_timeout = '4ms'; set client_min_messages = warning`);
    return client;
  };
  const control = await connect();
  const clients = await Promise.all(Array.from({ length: sessionsMax }, connect));
  const noticed = clients.map((): string[] => []);
  for (const [i, client] of clients.entries()) client.on('notice', ({ code }) => void noticed[i]?.push(` ${code}`));
  for (const sql of [...schema, ...content]) await control.query(sql);
  const pids = await Promise.all(
    clients.map(
      async (client) => (await client.query<{ pid: number }>('select pg_backend_pid() pid')).rows[0]?.pid ?? 0,
    ),
  );

  class PostgresFollower extends Follower {
    protected readonly calmPolls = 3;

    protected async pause(): Promise<void> {
      await sleep(3);
    }

    protected async outcome(session: number, sql: string): Promise<string> {
      const client = clients[session] as Client;
      const notices = noticed[session] ?? [];
      notices.length = 0;
      try {
        const { command, rows: found } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
        if (command !== 'SELECT') return 'ok';
        return (
          rowsText(found.map((row) => row.map((value) => (typeof value === 'boolean' ? (value ? 't' : 'f') : value)))) +
          notices.join('')
        );
      } catch (error) {
        return `error ${(error as { readonly code: string }).code}`;
      }
    }

    protected async waiting(): Promise<number> {
      const { rows: found } = await control.query<{ n: number }>(
        'select count(distinct pid)::int n from pg_locks where not granted',
      );
      return found[0]?.n ?? 0;
    }

    protected async cancel(session: number): Promise<void> {
      await control.query(`select pg_cancel_backend(${pids[session]})`);
    }

    protected async release(session: number): Promise<void> {
      for (const sql of releases.postgres) await clients[session]?.query(sql);
      if (session === sessionsMax - 1) for (const sql of content) await control.query(sql);
    }

    async close(): Promise<void> {
      for (const client of [control, ...clients]) await client.end();
    }
  }
  return new PostgresFollower();
}

export async function realMariadb(port: number): Promise<StatementFollower> {
  const connect = (): Promise<Connection> =>
    createConnection({ host: '127.0.0.1', port, user: 'root', database: 'test', rowsAsArray: true });
  const control = await connect();
  const connections = await Promise.all(Array.from({ length: sessionsMax }, connect));
  for (const sql of [...schema, ...content]) await control.query(sql);

  class MariadbFollower extends Follower {
    protected readonly calmPolls = 3;

    protected async pause(): Promise<void> {
      await sleep(3);
    }

    protected async outcome(session: number, sql: string): Promise<string> {
      try {
        const [found] = await (connections[session] as Connection).query(sql);
        return Array.isArray(found) ? rowsText(found as unknown[][]) : 'ok';
      } catch (error) {
        return `error ${(error as { readonly errno: number }).errno}`;
      }
    }

    protected async waiting(): Promise<number> {
      const [[users], [status]] = (await Promise.all(
        [
          `select count(*) from information_schema.processlist where state = 'User lock'`,
          `show global status like 'innodb_row_lock_current_waits'`,
        ].map(async (sql) => (await control.query(sql))[0]),
      )) as unknown as [[[number]], [[string, string]]];
      return users[0] + Number(status[1]);
    }

    protected async cancel(session: number): Promise<void> {
      await control.query(`kill query ${connections[session]?.threadId}`);
    }

    protected async release(session: number): Promise<void> {
      for (const sql of releases.mysql) await connections[session]?.query(sql);
      if (session === sessionsMax - 1) for (const sql of content) await control.query(sql);
    }

    async close(): Promise<void> {
      for (const connection of [control, ...connections]) await connection.end();
    }
  }
  return new MariadbFollower();
}
