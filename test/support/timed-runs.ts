/** The classic mistakes on a real server, many times, with pauses that differ from run to run: what the engine's own timing comes to. */
import mysql from 'mysql2/promise';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Chooser, seeded } from '../../src/base/index.ts';
import {
  type Mistake,
  mysqlStatement,
  outcomeOf,
  postgresStatement,
  rowsOf,
  runSession,
  type SessionEnd,
  type Statement,
} from './engine-mistakes.ts';

/** A table of its own on the server, a connection for each session, and one to prepare and to look afterwards. */
export interface Lane {
  readonly control: Statement;
  readonly sessions: readonly Statement[];
  /** Before each run: sets what the server leaves to its administrator. */
  readonly vary: (chooser: Chooser) => Promise<void>;
  readonly close: () => Promise<void>;
}

const sessionsPerLane = 2;

export async function postgresLane(port: number, lane: number, isolation: string): Promise<Lane> {
  const connect = async (): Promise<pg.Client> => {
    const level = isolation.replaceAll(' ', '\\ ');
    const client = new pg.Client({
      host: '127.0.0.1',
      port,
      user: 'postgres',
      database: 'postgres',
      options: `-c search_path=timed${lane} -c default_transaction_isolation=${level}`,
    });
    await client.connect();
    return client;
  };
  const clients = await Promise.all(Array.from({ length: sessionsPerLane + 1 }, connect));
  const [control, ...sessions] = clients as [pg.Client, ...pg.Client[]];
  await control.query("SET default_transaction_isolation = 'read committed'");
  await control.query(`CREATE SCHEMA IF NOT EXISTS timed${lane}`);
  return {
    control: postgresStatement(control),
    sessions: sessions.map(postgresStatement),
    // Who of a deadlock looks first is its victim.
    vary: async (chooser) => {
      for (const session of sessions) await session.query(`SET deadlock_timeout = ${1 + 3 * chooser.choose(5)}`);
    },
    close: async () => {
      for (const client of clients) await client.end();
    },
  };
}

export async function mariadbLane(port: number, lane: number, isolation: string): Promise<Lane> {
  const connect = (): Promise<mysql.Connection> => mysql.createConnection({ host: '127.0.0.1', port, user: 'root' });
  const clients = await Promise.all(Array.from({ length: sessionsPerLane + 1 }, connect));
  const [control, ...sessions] = clients as [mysql.Connection, ...mysql.Connection[]];
  await control.query(`CREATE DATABASE IF NOT EXISTS timed${lane}`);
  for (const client of clients) await client.query(`USE timed${lane}`);
  for (const session of sessions) await session.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`);
  return {
    control: mysqlStatement(control),
    sessions: sessions.map(mysqlStatement),
    vary: async () => {},
    close: async () => {
      for (const client of clients) await client.end();
    },
  };
}

/**
 * Runs the program so many times, shared among the lanes.
 * @returns each outcome as `outcomeOf` puts it, and in how many runs it came
 */
export async function timedOutcomes(
  mistake: Mistake,
  lanes: readonly Lane[],
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let next = 0;
  await Promise.all(
    lanes.map(async (lane) => {
      const control = rowsOf(lane.control);
      await control('DROP TABLE IF EXISTS t');
      await control(mistake.schema[0] as string);
      while (next < runs) {
        const chooser = seeded(seed, next);
        next += 1;
        const outcome = await runOnce(mistake, lane, chooser);
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      }
    }),
  );
  return counts;
}

async function runOnce(mistake: Mistake, lane: Lane, chooser: Chooser): Promise<string> {
  const control = rowsOf(lane.control);
  await control('TRUNCATE TABLE t');
  for (const text of mistake.schema.slice(1)) await control(text);
  await lane.vary(chooser);
  // Some runs are close together, in others one session is long asleep.
  const scaleMs = scalesMs[chooser.choose(scalesMs.length)] as number;
  const ends: Promise<SessionEnd>[] = lane.sessions.map((statement, i) =>
    runSession(mistake, i, async (text) => {
      await pause(chooser.choose(1_000) / 1_000, scaleMs);
      return statement(text);
    }),
  );
  return outcomeOf(mistake, control, await Promise.all(ends));
}

const scalesMs = [0, 0.5, 2, 5];

/** Timers are no finer than a millisecond. */
async function pause(share: number, scaleMs: number): Promise<void> {
  const ms = share * scaleMs;
  if (ms >= 1) await sleep(ms);
  else for (let i = 0; i < ms * 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
