/** Traces of the mock database: a workload through a real driver, hooked by the recorder, in this process, so that a seed is a trace. */
import mysql from 'mysql2';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import {
  hookMysql2,
  hookPg,
  loadWorkload,
  Recording,
  runWorkload,
  type WorkloadClient,
  workloadOf,
} from '../../src/capture/index.ts';
import { connectTo } from '../../src/serve/index.ts';
import { openSqlDatabase, parseProfile, type ProfileOptions, type SqlDatabase } from '../../src/database/index.ts';
import { loadParser } from '../../src/sql/index.ts';
import { type Mechanisms, type TraceResult, TraceVerification } from '../../src/verify/index.ts';

export interface MockRun {
  readonly profile: ProfileOptions;
  readonly workload: Parameters<typeof workloadOf>[0];
  readonly seed: number;
  readonly clients: number;
  /** Transactions that are begun, by all clients together. */
  readonly transactions: number;
}

/** The trace's text. Times are numbers of events: what happens first has the smaller one. */
export async function mockTrace({ profile, workload: name, seed, clients, transactions }: MockRun): Promise<string> {
  await loadParser();
  let [text, now, asked] = ['', 0, 0];
  const database = await openSqlDatabase({ profile: parseProfile(profile), seed });
  const open = profile.engine === 'mysql' || profile.dialect === 'mysql' ? openMysql : openPostgres;
  const recording = new Recording({
    write: (line) => void (text += line),
    now: () => (now += 1),
    warn: (message) => {
      throw new Error(message);
    },
  });
  const workload = workloadOf(name, 0.99);
  const admin = await open(database);
  await loadWorkload(workload, admin);
  await admin.query('/* moirai start */');
  await admin.end();
  const unhook = open === openMysql ? hookMysql2(mysql, recording) : hookPg(pg as never, recording);
  try {
    const opened = await Promise.all(Array.from({ length: clients }, () => open(database)));
    for (const { name: table } of workload.tables) await opened[0]?.query(`SELECT * FROM ${table}`);
    await runWorkload({
      workload,
      clients: opened,
      begin: ['BEGIN'],
      seed,
      isOver: () => (asked += 1) > transactions,
      isConflict,
    });
    for (const client of opened) await client.end();
  } finally {
    unhook();
    recording.end();
    database.close();
  }
  return text;
}

function isConflict(error: unknown): boolean {
  const { code = '', errno = 0 } = error as { code?: string; errno?: number };
  return ['40001', '40P01'].includes(code) || [1213, 1205].includes(errno);
}

export function verifyText(text: string, mechanisms: Mechanisms): TraceResult {
  const verification = new TraceVerification({ mechanisms });
  verification.push(new TextEncoder().encode(text));
  return verification.finish();
}

interface MockClient extends WorkloadClient {
  readonly end: () => Promise<void>;
}

async function openPostgres(database: SqlDatabase): Promise<MockClient> {
  const client = new pg.Client({ user: 'test', stream: () => connectTo(database) });
  await client.connect();
  const query = client.query.bind(client) as (config: object) => Promise<pg.QueryResult<Record<string, unknown>>>;
  const numbered = (sql: string): string => {
    let number = 0;
    return sql.replaceAll('?', () => `$${(number += 1)}`);
  };
  return {
    query: async (sql, ...values) => (await query({ text: numbered(sql), values })).rows,
    end: () => client.end(),
  };
}

async function openMysql(database: SqlDatabase): Promise<MockClient> {
  const client = await createConnection({ user: 'test', database: 'test', stream: connectTo(database) } as object);
  return {
    query: async (sql, ...values) => {
      const [rows] = await client.query(sql, [...values]);
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    },
    end: () => client.end(),
  };
}
