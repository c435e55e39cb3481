/** Clients that lie, stall or vanish before they have logged in, over real sockets: the others are served. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../database/sql-session.test-support.ts';
import { type ServedDatabase, serveDatabase, type ServeDatabaseOptions } from './serve-database.ts';

type Engine = 'postgres' | 'mysql';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function serve(engine: Engine, options: ServeDatabaseOptions = {}): Promise<ServedDatabase> {
  const database = await openDatabase({ engine });
  const served = await serveDatabase(database, options);
  endings.push(
    () => database.close(),
    () => served.close(),
  );
  return served;
}

async function opened({ port }: ServedDatabase): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  endings.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** A driver that logs in and asks one thing. @returns its answer, or the code of its error */
const ask: Readonly<Record<Engine, (url: string) => Promise<unknown>>> = {
  postgres: async (url) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query('select 1 as one')).rows[0].one;
    } catch (error) {
      return (error as { code?: unknown }).code;
    } finally {
      await client.end().catch(() => undefined);
    }
  },
  mysql: async (url) => {
    try {
      const client = await mysql.createConnection(url);
      const [rows] = await client.query('select 1 as one');
      await client.end();
      return (rows as { one: number }[])[0]?.one;
    } catch (error) {
      return (error as { errno?: unknown }).errno;
    }
  },
};

/** @returns what asks it */
const loggedIn: Readonly<Record<Engine, (url: string) => Promise<(sql: string) => Promise<unknown>>>> = {
  postgres: async (url) => {
    const client = new pg.Client({ connectionString: url });
    endings.push(() => client.end());
    await client.connect();
    return (sql) => client.query(sql);
  },
  mysql: async (url) => {
    const client = await mysql.createConnection(url);
    endings.push(() => client.end());
    return (sql) => client.query(sql);
  },
};

const tooMany = { postgres: '53300', mysql: 1040 } as const;

describe.each<Engine>(['postgres', 'mysql'])('%s', (engine) => {
  test('silent connections are cut off, and those that come after them are served', async () => {
    const served = await serve(engine, { connectionsMax: 3, loginMs: 200 });
    const silent = await Promise.all([opened(served), opened(served), opened(served)]);
    const cutOff = silent.map((socket) => once(socket.resume(), 'close'));
    await Promise.all(cutOff);
    await expect.poll(() => ask[engine](served.url), { timeout: 20_000 }).toBe(1);
  });

  test('who has logged in stays, however long it says nothing', async () => {
    const served = await serve(engine, { loginMs: 2_000 });
    const quiet = await loggedIn[engine](served.url);
    const silent = await opened(served);
    await once(silent.resume(), 'close');
    await expect(quiet('select 1')).resolves.toBeDefined();
  });

  test('one address has so many places, and another has its own', async () => {
    const served = await serve(engine, { connectionsPerAddressMax: 1, host: '::' });
    await opened(served);
    expect(await ask[engine](served.url.replace('[::]', '127.0.0.1'))).toBe(tooMany[engine]);
    expect(await ask[engine](served.url.replace('[::]', '[::1]'))).toBe(1);
  });

  test('vanished clients are noticed: the kernel asks whether they are there', async () => {
    const served = await serve(engine);
    const socket = await opened(served);
    expect(keepAliveTimers(served.port)).toBe(1);
    socket.destroy();
  });
});

test('PostgreSQL: an answer to the password request has at most 65,535 bytes', async () => {
  const served = await serve('postgres', { password: 'secret' });
  const socket = await opened(served);
  const startup = Buffer.from('\0\0\0\0\0\x03\0\0user\0ann\0\0', 'latin1');
  startup.writeInt32BE(startup.length);
  socket.write(startup);
  await once(socket, 'data');
  const answer = Buffer.from('p\0\0\0\0', 'latin1');
  answer.writeInt32BE(65_536, 1);
  const heard = text(socket);
  socket.write(answer);
  expect(await heard).toMatch(/FATAL.*54000.*over the limit loginBytesMax = 65535/);
});

test('MySQL: an answer to the greeting has at most 65,536 bytes; afterwards a packet has 16 MiB', async () => {
  const served = await serve('mysql', { password: 'secret' });
  const socket = await opened(served);
  await once(socket, 'data');
  const heard = text(socket);
  socket.write(Buffer.from([1, 0, 1, 1]));
  expect(await heard).toContain("Got a packet bigger than 'max_allowed_packet' bytes");
  const client = await mysql.createConnection(served.url.replace('root@', 'root:secret@'));
  const [rows] = await client.query(`select length('${'x'.repeat(1_000_000)}') as n`);
  expect(rows).toEqual([{ n: 1_000_000 }]);
  await client.end();
});

/** All that comes until it is closed, without the zeros between. */
async function text(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await once(socket, 'close');
  return Buffer.concat(pieces).toString('latin1').replaceAll('\0', ' ');
}

/** Established connections of the port on which the kernel has set such a timer: field `tr` of Linux's /proc/net/tcp is 02. */
function keepAliveTimers(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return lines.filter((line) => new RegExp(`^ *\\d+: \\w+:${hex} \\w+:\\w+ 01 \\w+:\\w+ 02:`).test(line)).length;
}
