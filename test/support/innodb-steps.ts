/**
 * Statements of several sessions, one after the other, through a driver: on the mock and on a real server. A text has cases; a case has a name,
 * the tables, and steps with what they come to:
 *
 *     ## a name
 *     create table t (id int primary key, n int); insert into t values (1, 1)
 *     a begin
 *     a update t set n = 2 where id = 1 -> count 1
 *     b select n from t where id = 1 for update -> waits
 *     a commit -> ok; b rows 2
 *
 * A step that says nothing comes to `ok`: neither rows nor a count nor an error, and no other session wakes.
 */
import { createConnection, type Connection, type ConnectionOptions } from 'mysql2/promise';
import { setTimeout as sleep } from 'node:timers/promises';

export interface StepCase {
  readonly name: string;
  readonly schema: readonly string[];
  readonly steps: readonly { readonly session: string; readonly sql: string; readonly expected: string }[];
}

export function parseStepCases(text: string): StepCase[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [name = '', ...lines] = part.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      const isStep = /^([a-h]) (.*?)(?: -> (.*))?$/;
      const steps = lines.flatMap((line) => {
        const [, session, sql = '', expected = 'ok'] = isStep.exec(line) ?? [];
        return session === undefined ? [] : [{ session, sql, expected }];
      });
      const schema = lines.filter((line) => !isStep.test(line)).flatMap((line) => line.split(/; */));
      return { name, schema, steps };
    });
}

/** Where the steps run: how to connect, and how to wait until whoever has not answered waits for a lock. */
export interface StepTarget {
  readonly connection: ConnectionOptions;
  readonly settle: (control: Connection, waiting: () => number) => Promise<void>;
}

export function mockTarget(stream: () => unknown): StepTarget {
  return {
    connection: { stream, user: 'root', rowsAsArray: true },
    // A statement that has not answered when another has come and gone waits.
    async settle(control, waiting) {
      for (let i = 0; i < 2 && waiting() > 0; i++) await control.query('select 1');
    },
  };
}

export function serverTarget(port: number): StepTarget {
  return {
    connection: { host: '127.0.0.1', port, user: 'root', rowsAsArray: true },
    async settle(control, waiting) {
      for (let calm = 0; calm < 8 && waiting() > 0; ) {
        await sleep(6);
        const [metadata = []] = await rowsOf(control, metadataWaits);
        const [status = []] = await rowsOf(control, 'show engine innodb status');
        const waits = Number(metadata[0]) + lockWaits(status[2] ?? '');
        calm = waits >= waiting() ? calm + 1 : 0;
      }
    },
  };
}

async function rowsOf(control: Connection, sql: string): Promise<string[][]> {
  const [rows] = await control.query(sql);
  return rows as unknown as string[][];
}

const metadataWaits = `select count(*) from information_schema.processlist
  where state in ('Waiting for table metadata lock', 'User lock')`;

/** Transactions that wait for a lock on a row, or for AUTO-INC locks, which the counters of the server leave out. */
function lockWaits(status: string): number {
  const [, ...transactions] = status.split('---TRANSACTION');
  return transactions.filter((text) => /^LOCK WAIT/m.test(text)).length;
}

/** What each step came to. */
export async function runSteps({ schema, steps }: StepCase, target: StepTarget): Promise<string[]> {
  const control = await createConnection(target.connection);
  await control.query('drop database if exists steps');
  await control.query('create database steps');
  await control.query('use steps');
  for (const sql of schema) await control.query(sql);
  const connections = new Map<string, Connection>();
  const waiting = new Set<string>();
  const over: [string, string][] = [];
  const lines: string[] = [];
  const note = async (session: string, connection: Connection, sql: string): Promise<void> => {
    const outcome = await outcomeOf(connection, sql);
    waiting.delete(session);
    over.push([session, outcome]);
  };
  for (const { session, sql } of steps) {
    let connection = connections.get(session);
    if (connection === undefined) {
      connection = await createConnection({ ...target.connection, database: 'steps' });
      connections.set(session, connection);
    }
    waiting.add(session);
    void note(session, connection, sql);
    await target.settle(control, () => waiting.size);
    const news = over.splice(0).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const own = news.find(([id]) => id === session)?.[1] ?? 'waits';
    const others = news.filter(([id]) => id !== session).map(([id, outcome]) => `${id} ${outcome}`);
    lines.push([own, ...others].join('; '));
  }
  for (const connection of [control, ...connections.values()]) connection.destroy();
  return lines;
}

async function outcomeOf(connection: Connection, sql: string): Promise<string> {
  try {
    const [result] = await connection.query(sql);
    if (Array.isArray(result)) return `rows ${result.map((row) => (row as unknown[]).join('/')).join(' ')}`.trim();
    return /^(update|delete|insert|replace)/i.test(sql) ? `count ${result.affectedRows}` : 'ok';
  } catch (error) {
    const { errno } = error as { readonly errno: number };
    return `error ${errno === mariadbCheckFailed ? mysqlCheckFailed : errno}`;
  }
}

const mariadbCheckFailed = 4025;
const mysqlCheckFailed = 3819;
