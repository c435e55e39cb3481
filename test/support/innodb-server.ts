/** A real MariaDB or MySQL for tests that compare with it: private data folder and port, gone afterwards. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { provideData } from './server-data.ts';
import { freePort, isRoot, run, serverFolder, type TestServer, until } from './server-process.ts';

export interface InnodbServer {
  readonly name: string;
  /** The program of the server. */
  readonly program: string;
  /** What makes a data folder: its program, and what it is to be told besides where. */
  readonly creation: readonly [program: string, ...args: string[]];
  readonly settings: readonly string[];
}

const startTimeoutMs = 20_000;
const sharedSettings = [
  '--bind-address=127.0.0.1',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=0',
  '--innodb-buffer-pool-size=64M',
  '--max-connections=200',
  '--character-set-server=utf8mb4',
  '--collation-server=utf8mb4_general_ci',
  '--default-time-zone=+00:00',
];

/** User root without a password, database test, on 127.0.0.1. */
export async function startInnodbServer({ name, program, creation, settings }: InnodbServer): Promise<TestServer> {
  const user = isRoot() ? 'mysql' : undefined;
  const folder = serverFolder(name, user);
  const data = join(folder, 'data');
  const asUser = user === undefined ? [] : [`--user=${user}`];
  const [creator, ...options] = creation;
  provideData(`${name}${creator.replaceAll('/', '-')}`, data, () =>
    run(creator, ['--no-defaults', ...asUser, `--datadir=${data}`, ...options]),
  );
  const port = await freePort();
  const files = [
    `--socket=${join(folder, 's')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--log-error=${join(folder, 'err')}`,
    // Its own: a server that starts removes what others have put into a folder for temporary tables.
    `--tmpdir=${data}`,
  ];
  const all = [`--datadir=${data}`, `--port=${port}`, ...files, ...sharedSettings, ...settings];
  const child = spawn(program, ['--no-defaults', ...asUser, ...all], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(() => greeting(port), startTimeoutMs);
    const client = await mysql.createConnection({ host: '127.0.0.1', port, user: 'root' });
    await client.query('CREATE DATABASE test');
    await client.end();
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

/** The server speaks first: when it does, it takes connections. */
function greeting(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
    socket.setTimeout(2000, () => {
      socket.destroy(new Error('no greeting'));
    });
  });
}
