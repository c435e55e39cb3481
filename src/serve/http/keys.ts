/** A key-value table for clients of the HTTP interface that know no SQL: made when it is first needed, in a transaction of its own. */
import type { PreparedStatement, StatementResult } from '../../sql/index.ts';
import { type SqlValue, parseText } from '../../sql/model/index.ts';
import type { SqlDatabase, Session } from '../../database/index.ts';
import { jsonRows } from './values.ts';

const words = {
  postgres: {
    create: 'create table if not exists moirai_keys (key text primary key, value jsonb)',
    select: 'select value from moirai_keys where key = $1',
    put: 'insert into moirai_keys values ($1, $2) on conflict (key) do update set value = excluded.value',
  },
  mysql: {
    create: 'create table if not exists moirai_keys (`key` varchar(255) primary key, value json)',
    select: 'select value from moirai_keys where `key` = ?',
    put: 'insert into moirai_keys values (?, ?) on duplicate key update value = values(value)',
  },
} as const;

/** `null` where there is none. @throws SqlError */
export async function getKey(database: SqlDatabase, session: Session, key: string): Promise<unknown> {
  await makeTable(database);
  const { rows, columns } = await execute(session, words[database.dialect].select, [key]);
  return { key, value: jsonRows(columns ?? [], rows, database.dialect)[0]?.[0] ?? null };
}

/** @param value JSON @throws SqlError */
export async function putKey(database: SqlDatabase, session: Session, key: string, value: unknown): Promise<unknown> {
  await makeTable(database);
  await execute(session, words[database.dialect].put, [key, JSON.stringify(value)]);
  return { key, value };
}

/** Not by the session itself: in MySQL DDL ends the open transaction. */
async function makeTable(database: SqlDatabase): Promise<void> {
  if (database.catalog.find(['moirai_keys'], ['public']) !== undefined) return;
  const session = database.connect({ user: 'http', database: 'http', parameters: new Map(), onParameter: () => {} });
  try {
    await execute(session, words[database.dialect].create, []);
  } finally {
    session.close();
  }
}

async function execute(session: Session, sql: string, values: readonly string[]): Promise<StatementResult> {
  const prepared = session.prepare(sql);
  return session.execute(prepared, parameters(prepared, values));
}

function parameters({ parameterTypes }: PreparedStatement, values: readonly string[]): SqlValue[] {
  return parameterTypes.map((type, i) => parseText(values[i] ?? '', type));
}
