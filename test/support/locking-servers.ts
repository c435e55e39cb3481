/** Real servers that follow schedules step by step, and say who waits. */
import { createConnection, type Connection } from 'mysql2/promise';
import { Client, types, type QueryResult } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Level } from '../../src/engine/engine.test-support.ts';
import {
  formatOperation,
  formatValues,
  formatWhere,
  type Follower,
  type Operation,
  type Outcome,
  type Schedule,
} from '../../src/engine/schedule.test-support.ts';

/** Statements under way and what they came to. */
abstract class ServerFollower implements Follower {
  readonly #running = new Set<number>();
  readonly #over = new Map<number, Outcome>();
  readonly #isInTransaction = new Set<number>();

  async start(session: number, operation: Operation, level: Level): Promise<void> {
    if (!this.#isInTransaction.has(session)) {
      if (operation.kind === 'commit' || operation.kind === 'rollback') {
        this.#over.set(session, 'ok');
        return;
      }
      await this.begin(session, level);
      this.#isInTransaction.add(session);
    }
    this.#running.add(session);
    void this.#run(session, operation);
  }

  async #run(session: number, operation: Operation): Promise<void> {
    const outcome = await this.outcome(session, operation);
    this.#running.delete(session);
    const isOver = operation.kind === 'commit' || operation.kind === 'rollback' || outcome === 'error 1213';
    if (isOver) this.#isInTransaction.delete(session);
    this.#over.set(session, outcome);
  }

  async settle(): Promise<ReadonlyMap<number, Outcome>> {
    for (let calm = 0; this.#running.size > 0 && calm < this.calmPolls; ) {
      const before = this.#over.size;
      if (calm > 0 || this.#over.size === 0) await sleep(this.pollMs);
      const waiting = this.#running.size === 0 ? 0 : await this.waiting();
      calm = waiting === this.#running.size && before === this.#over.size ? calm + 1 : 0;
    }
    const over = new Map(this.#over);
    this.#over.clear();
    return over;
  }

  protected abstract readonly calmPolls: number;
  protected abstract readonly pollMs: number;
  protected abstract begin(session: number, level: Level): Promise<void>;
  protected abstract outcome(session: number, operation: Operation): Promise<Outcome>;
  /** How many of the sessions wait for a lock. */
  protected abstract waiting(): Promise<number>;
  abstract prepare(schedule: Schedule): Promise<void>;
  abstract close(): Promise<void>;
}

export type RealServer = ServerFollower;

const sessionsMax = 3;

export async function postgresFollower(port: number): Promise<RealServer> {
  const connect = async (): Promise<Client> => {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    await client.connect();
    return client;
  };
  types.setTypeParser(20, Number);
  const control = await connect();
  await control.query('alter system set max_pred_locks_per_page = 1000');
  await control.query('select pg_reload_conf()');
  const clients: Client[] = [];
  for (let i = 0; i < sessionsMax; i++) {
    const client = await connect();
    await client.query(
      `set deadlock_timeout = '4ms'; set enable_bitmapscan = off; set enable_indexonlyscan = off; set application_name = 'follower'`,
    );
    clients.push(client);
  }
  return new PostgresFollower(control, clients);
}

class PostgresFollower extends ServerFollower {
  protected readonly calmPolls = 3;
  protected readonly pollMs = 5;
  readonly #control: Client;
  readonly #clients: readonly Client[];

  constructor(control: Client, clients: readonly Client[]) {
    super();
    this.#control = control;
    this.#clients = clients;
  }

  async prepare({ rows }: Schedule): Promise<void> {
    const values = rows.map((row) => `(${row.map((value) => value ?? 'null').join(', ')})`);
    await this.#control.query(
      `drop table if exists t; create table t (id int, u int, v int) with (autovacuum_enabled = off);
       alter table t add primary key (id); create unique index t_u on t (u); create index t_v on t (v);
       ${values.length === 0 ? '' : `insert into t values ${values.join(', ')}`}`,
    );
  }

  async close(): Promise<void> {
    for (const client of [this.#control, ...this.#clients]) await client.end();
  }

  protected async begin(session: number, level: Level): Promise<void> {
    await this.#client(session).query(`begin isolation level ${level}`);
  }

  protected async outcome(session: number, operation: Operation): Promise<Outcome> {
    const usesIndex = 'where' in operation && operation.where.kind !== 'all';
    const planner =
      'where' in operation
        ? `set enable_seqscan = ${usesIndex ? 'off' : 'on'}; set enable_indexscan = ${usesIndex ? 'on' : 'off'}; `
        : '';
    try {
      const results = await this.#client(session).query({
        text: planner + formatOperation(operation),
        rowMode: 'array',
      });
      const list: unknown = results;
      const last = (Array.isArray(list) ? list.at(-1) : list) as QueryResult<(number | null)[]>;
      if (last.command === 'SELECT') return formatValues(last.rows);
      return last.command === 'INSERT' || last.command === 'UPDATE' || last.command === 'DELETE'
        ? `count ${last.rowCount}`
        : 'ok';
    } catch (error) {
      return `error ${(error as { readonly code: string }).code}`;
    }
  }

  protected async waiting(): Promise<number> {
    const { rows } = await this.#control.query<{ n: number }>(
      `select count(distinct pid)::int n from pg_locks where not granted`,
    );
    return rows[0]?.n ?? 0;
  }

  #client(session: number): Client {
    const client = this.#clients[session];
    if (client === undefined) throw new Error(`at most ${sessionsMax} sessions`);
    return client;
  }
}

export async function mariadbFollower(port: number): Promise<RealServer> {
  const connect = (): Promise<Connection> =>
    createConnection({
      host: '127.0.0.1',
      port,
      user: 'root',
      database: 'test',
      rowsAsArray: true,
      multipleStatements: true,
    });
  const connections: Connection[] = [];
  for (let i = 0; i < sessionsMax + 2; i++) connections.push(await connect());
  return new MariadbFollower(connections);
}

class MariadbFollower extends ServerFollower {
  protected readonly calmPolls = 3;
  protected readonly pollMs = 3;
  readonly #connections: readonly Connection[];
  /** Asks questions; holds a read view so that nothing is purged meanwhile, for that happens at a time of its own. */
  readonly #control: Connection;
  readonly #holder: Connection;

  constructor(connections: readonly Connection[]) {
    super();
    this.#connections = connections;
    [this.#control, this.#holder] = connections.slice(sessionsMax) as [Connection, Connection];
  }

  async prepare({ rows }: Schedule): Promise<void> {
    const values = rows.map((row) => `(${row.map((value) => value ?? 'null').join(', ')})`);
    await this.#holder.query('rollback');
    await this.#control.query(
      `create or replace table t (id int primary key, u int, v int, unique key t_u (u), key t_v (v)) engine = innodb`,
    );
    if (values.length > 0) await this.#control.query(`insert into t values ${values.join(', ')}`);
    await this.#holder.query('start transaction with consistent snapshot');
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) await connection.end();
  }

  protected async begin(session: number, level: Level): Promise<void> {
    await this.#connection(session).query(`set transaction isolation level ${level}; start transaction`);
  }

  protected async outcome(session: number, operation: Operation): Promise<Outcome> {
    try {
      const [result] = await this.#connection(session).query(mariadbText(operation));
      if (Array.isArray(result)) return formatValues(result as (number | null)[][]);
      const isWrite = operation.kind === 'insert' || operation.kind === 'update' || operation.kind === 'delete';
      return isWrite ? `count ${result.affectedRows}` : 'ok';
    } catch (error) {
      return `error ${(error as { readonly errno: number }).errno}`;
    }
  }

  protected async waiting(): Promise<number> {
    const [rows] = await this.#control.query(`show global status like 'innodb_row_lock_current_waits'`);
    return Number((rows as unknown as string[][])[0]?.[1]);
  }

  #connection(session: number): Connection {
    const connection = this.#connections[session];
    if (connection === undefined || session >= sessionsMax) throw new Error(`at most ${sessionsMax} sessions`);
    return connection;
  }
}

/** With the index that the path says. */
function mariadbText(operation: Operation): string {
  if (!('where' in operation)) return formatOperation(operation);
  const { where } = operation;
  const column = where.kind === 'all' ? 'id' : where.column;
  const from = `t force index (${column === 'id' ? 'primary' : `t_${column}`})`;
  const text = formatOperation(operation).replace(/\bt\b/, operation.kind === 'delete' ? 't' : from);
  if (operation.kind !== 'select' || operation.lock === null) return text;
  const { strength, ifLocked } = operation.lock;
  const suffix = { wait: '', error: ' nowait', skip: ' skip locked' }[ifLocked];
  const locking = strength === 'share' || strength === 'key share' ? 'lock in share mode' : 'for update';
  return `select * from ${from}${formatWhere(operation)} ${locking}${suffix}`;
}
