/** One measurement of a served database's memory, in a process of its own: `serve-memory.ts 'million postgres'`. Prints JSON. */
import { Socket } from 'node:net';
import mysql from 'mysql2';
import pg from 'pg';
import { listen, startConversation } from '#moirai/serve';
import { openSqlDatabase, parseProfile, settleWithin } from '#moirai/database';

const [what = '', engine = ''] = (process.argv[2] ?? '').split(' ');
const database = await openSqlDatabase({
  profile: parseProfile({ engine }),
  settle: settleWithin(1),
  computeMsMax: 60_000,
});
const listener = await listen(startConversation(database));

const { host, port } = listener;

function heapMb(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

async function client(): Promise<pg.Client> {
  const made = new pg.Client({ host, port, user: 'memory' });
  made.on('error', () => undefined);
  await made.connect();
  return made;
}

/** Counts rows without keeping them. */
async function million(): Promise<number> {
  let rows = 0;
  if (engine === 'postgres') {
    const own = await client();
    const query = new pg.Query('select i, i * 2 as double from generate_series(1, 1000000) i');
    own.query(query);
    query.on('row', (_row, result) => {
      rows += 1;
      if (result !== undefined) result.rows.length = 0;
    });
    await new Promise((resolve, reject) => query.on('end', resolve).on('error', reject));
    await own.end();
    return rows;
  }
  const own = mysql.createConnection({ host, port, user: 'memory' });
  await own.promise().query('create table t (id int primary key)');
  await own.promise().query(`insert into t values ${Array.from({ length: 1_000 }, (_, i) => `(${i})`).join()}`);
  const query = own.query('select a.id, b.id as other from t a, t b');
  query.on('result', () => void (rows += 1));
  await new Promise((resolve, reject) => query.on('end', resolve).on('error', reject));
  own.end();
  return rows;
}

/** Asks for a large result and reads nothing of it. */
async function stalled(): Promise<Record<string, number>> {
  const beforeMb = heapMb();
  const socket = new Socket();
  const slow = new pg.Client({ host, port, user: 'slow', stream: () => socket });
  slow.on('error', () => undefined);
  await slow.connect();
  socket.pause();
  slow.query(`select i, repeat('x', 1000) from generate_series(1, 200000) i`).catch(() => undefined);
  const other = await client();
  let [others, peakMb] = [0, 0];
  for (; others < 100; others += 1) await other.query('select 1');
  peakMb = heapMb() + process.memoryUsage().external / 2 ** 20;
  socket.destroy();
  await other.end();
  return { others, peakMb, beforeMb };
}

async function endless(): Promise<Record<string, number>> {
  const own = await client();
  const error: unknown = await own.query('select * from generate_series(1, 1000000000) i').catch((each) => each);
  const isRefused = (error as { code?: string }).code === '53200' ? 1 : 0;
  const { rows } = await own.query('select 1 as one');
  await own.end();
  return { isRefused, isAlive: rows[0].one as number };
}

async function measure(): Promise<Record<string, number>> {
  if (what === 'stalled') return stalled();
  if (what === 'endless') return endless();
  const beforeMb = heapMb();
  const rows = await million();
  return { rows, beforeMb, afterMb: heapMb() };
}

const result = await measure();
await listener.close();
database.close();
process.stdout.write(JSON.stringify(result));
