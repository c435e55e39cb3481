/**
 * The drivers that the OLTP examples use: node-postgres and mysql2, each over the stream that the mock database gives instead of a socket.
 * The statements are those of BenchBase with `?` for parameters; node-postgres wants `$1`, which is all that is changed.
 */
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { SqlConnection } from 'moirai';

export type Row = Readonly<Record<string, unknown>>;

export interface Client {
  readonly query: (sql: string, ...parameters: readonly unknown[]) => Promise<readonly Row[]>;
  /** Rows that an INSERT, UPDATE or DELETE affected. */
  readonly change: (sql: string, ...parameters: readonly unknown[]) => Promise<number>;
  readonly close: () => Promise<void>;
}

export type Dialect = 'postgres' | 'mysql';

export function connectWith(dialect: Dialect, connection: SqlConnection): Promise<Client> {
  return dialect === 'postgres' ? postgresClient(connection) : mysqlClient(connection);
}

async function postgresClient({ connect }: SqlConnection): Promise<Client> {
  const client = new pg.Client({ user: 'postgres', stream: connect });
  await client.connect();
  const run = (sql: string, parameters: readonly unknown[]): Promise<pg.QueryResult> => {
    let number = 0;
    const text = sql.replaceAll('?', () => `$${(number += 1)}`);
    return client.query({ name: nameOf(sql), text, values: [...parameters] });
  };
  return {
    query: async (sql, ...parameters) => (await run(sql, parameters)).rows as Row[],
    change: async (sql, ...parameters) => (await run(sql, parameters)).rowCount ?? 0,
    close: () => client.end(),
  };
}

/** Statements are prepared once in a session, as drivers for servers do. */
const names = new Map<string, string>();

function nameOf(sql: string): string {
  const name = names.get(sql) ?? `s${names.size}`;
  names.set(sql, name);
  return name;
}

async function mysqlClient({ connect }: SqlConnection): Promise<Client> {
  const client = await mysql.createConnection({
    user: 'root',
    stream: connect(),
    supportBigNumbers: true,
    decimalNumbers: true,
  });
  return {
    query: async (sql, ...parameters) => (await client.query(sql, [...parameters]))[0] as Row[],
    change: async (sql, ...parameters) =>
      ((await client.query(sql, [...parameters]))[0] as mysql.ResultSetHeader).affectedRows,
    close: () => client.end(),
  };
}

/** A column of the only row, as a number: drivers give decimals and 64-bit counts as text. */
export function numberOf(row: Row | undefined, column: string): number {
  return Number(row?.[column] ?? row?.[column.toUpperCase()] ?? 0);
}

/** Runs `body` in a transaction; what the database could not serialize (40001, deadlocks) is tried again, as applications do. */
export async function transaction<T>(client: Client, body: () => Promise<T>, attemptsMax = 20): Promise<T | null> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    await client.query('BEGIN');
    try {
      const result = await body();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => []);
      if (!isConflict(error)) throw error;
    }
  }
  return null;
}

/** 40001 serialization failure, 40P01 deadlock, 23505 a key that another session took; MySQL's 1213, 1205, 1062. */
function isConflict(error: unknown): boolean {
  const { code, errno } = error as { code?: string; errno?: number };
  return ['40001', '40P01', '55P03', '23505'].includes(code ?? '') || [1213, 1205, 1062].includes(errno ?? 0);
}
