/** SQL schedules, step by step, on moirai and on a real PostgreSQL: what each statement came to and who waits. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { Client, type QueryResult, types } from 'pg';
import { splitStatements } from '../../src/sql/index.ts';
import type { SqlError } from '../../src/sql/model/index.ts';
import { connected, openDatabase, type TestSession } from '../../src/database/sql-session.test-support.ts';

/** `[session, statement]`, in order. A session whose statement still waits loses its turn. */
export type Step = readonly [session: number, sql: string];

export interface StepServer {
  /** Runs a schedule over a new schema; `final` is read by a session of its own when all is over. */
  readonly follow: (setup: string, steps: readonly Step[], final: string) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

interface Sessions {
  readonly run: (session: number, sql: string) => Promise<string>;
  /** When no statement under way will answer before another is sent. */
  readonly settle: (underWay: ReadonlySet<number>) => Promise<void>;
}

const sessionsMax = 4;

types.setTypeParser(20, Number);

async function followed(sessions: Sessions, steps: readonly Step[]): Promise<string[]> {
  const lines: string[] = [];
  const underWay = new Set<number>();
  const answers: [number, string][] = [];
  const note = (from: number | null): void => {
    for (const [session, answer] of answers.toSorted(([a], [b]) => a - b))
      if (session !== from) lines.push(`  ${session} after waiting: ${answer}`);
    answers.length = 0;
  };
  for (const [session, sql] of steps) {
    if (underWay.has(session)) continue;
    underWay.add(session);
    void (async () => {
      const answer = await sessions.run(session, sql);
      underWay.delete(session);
      answers.push([session, answer]);
    })();
    await sessions.settle(underWay);
    const own = answers.find(([each]) => each === session);
    lines.push(`${session} ${sql}: ${own === undefined ? 'waits' : own[1]}`);
    note(session);
  }
  return lines;
}

const whole = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

function shown(command: string, rows: readonly (readonly unknown[])[], rowCount: number): string {
  const list = rows.map(
    (row) => `(${row.map((value) => (typeof value === 'string' ? value : JSON.stringify(value, whole))).join(',')})`,
  );
  return command === 'SELECT' ? `[${list.join(' ')}]` : `${command.split(' ')[0]} ${rowCount}`;
}

/** Deadlocks and refused serializations are told in words that name processes. */
function failed(code: string | undefined, message: string, detail: string | undefined): string {
  if (code === '40P01' || code === '40001') return code;
  return `${code} ${message}${detail === undefined ? '' : ` (${detail})`}`;
}

/** The in-process sessions of the PostgreSQL profile. */
export function moiraiSteps(): StepServer {
  return {
    async follow(setup, steps, final) {
      const database = await openDatabase({ engine: 'postgres' }, { settle: null });
      const own = connected(database);
      for (const sql of splitStatements(setup, 'postgres')) await own.run(sql);
      const sessions: TestSession[] = Array.from({ length: sessionsMax }, () => connected(database));
      const lines = await followed(
        {
          run: async (session, sql) => {
            try {
              const { command, rows, rowCount, columns } = await (sessions[session] as TestSession).run(sql);
              return shown(columns === null ? command : 'SELECT', rows, countOf(command, rowCount));
            } catch (error) {
              const { code, message, detail } = error as Partial<SqlError> & Error;
              return failed(code, message, detail?.detail);
            }
          },
          settle: async () => {
            for (let i = 0; i < 5; i++) await turn();
          },
        },
        steps,
      );
      for (const each of sessions) each.session.rollback();
      for (let i = 0; i < 5; i++) await turn();
      lines.push(`finally ${shown('SELECT', await own.rows(final), 0)}`);
      database.close();
      return lines;
    },
    close: () => Promise.resolve(),
  };
}

function countOf(command: string, count: number): number {
  return ['INSERT', 'UPDATE', 'DELETE'].includes(command) ? count : 0;
}

export async function postgresSteps(port: number): Promise<StepServer> {
  const connect = async (): Promise<Client> => {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`set enable_seqscan = off; set enable_bitmapscan = off; set deadlock_timeout = '10ms'`);
    return client;
  };
  const control = await connect();
  const clients: Client[] = [];
  for (let i = 0; i < sessionsMax; i++) clients.push(await connect());
  const pids = clients.map((client) => (client as unknown as { readonly processID: number }).processID);
  const isBlocked = async (session: number): Promise<boolean> => {
    const { rows } = await control.query<{ b: boolean }>('select cardinality(pg_blocking_pids($1)) > 0 b', [
      pids[session],
    ]);
    return rows[0]?.b === true;
  };
  return {
    async follow(setup, steps, final) {
      await control.query('drop schema public cascade; create schema public');
      await control.query(setup);
      const lines = await followed(
        {
          run: async (session, sql) => {
            try {
              const result = await (clients[session] as Client).query({ text: sql, rowMode: 'array' });
              const { command, rows, rowCount, fields } = result as QueryResult<unknown[]>;
              return shown(fields.length === 0 ? command : 'SELECT', rows, countOf(command, rowCount ?? 0));
            } catch (error) {
              const { code, message, detail } = error as { code: string; message: string; detail?: string };
              return failed(code, message, detail);
            }
          },
          settle: async (underWay) => {
            for (let calm = 0; underWay.size > 0 && calm < 2; ) {
              const blocked = await Promise.all([...underWay].map(isBlocked));
              calm = blocked.every(Boolean) ? calm + 1 : 0;
              if (calm < 2) await sleep(calm === 0 ? 1 : 25);
            }
          },
        },
        steps,
      );
      for (const client of clients) {
        await client.query('rollback');
        await client.query('discard all');
        await client.query(`set enable_seqscan = off; set enable_bitmapscan = off; set deadlock_timeout = '10ms'`);
      }
      const { rows } = await control.query({ text: final, rowMode: 'array' });
      lines.push(`finally ${shown('SELECT', rows as unknown[][], 0)}`);
      return lines;
    },
    async close() {
      for (const client of [control, ...clients]) await client.end();
    },
  };
}
