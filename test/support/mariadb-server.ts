/** A real MariaDB for tests that compare with it: private data folder and port, gone afterwards. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { findProgram, freePort, isRoot, MissingServer, run, serverFolder, shared, until } from './server-process.ts';
import type { TestServer } from './server-process.ts';

/** User root without a password, database test, on 127.0.0.1. @throws MissingServer */
export const startMariadb: () => Promise<TestServer> = shared(start);

const startTimeoutMs = 20_000;
const settings = [
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=0',
  '--innodb-buffer-pool-size=64M',
  '--max-connections=200',
  '--character-set-server=utf8mb4',
  '--collation-server=utf8mb4_general_ci',
  '--default-time-zone=+00:00',
];

async function start(): Promise<TestServer> {
  const server = findProgram(['mariadbd', '/usr/sbin/mariadbd']);
  const install = findProgram(['mariadb-install-db']) ?? 'mariadb-install-db';
  if (server === undefined) {
    throw new MissingServer('no MariaDB server is installed; on Debian: apt-get install mariadb-server');
  }
  const user = isRoot() ? 'mysql' : undefined;
  const folder = serverFolder('mariadb', user);
  const data = join(folder, 'data');
  const asUser = user === undefined ? [] : [`--user=${user}`];
  const creation = [`--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  run(install, ['--no-defaults', ...asUser, ...creation]);
  const port = await freePort();
  const files = [
    `--socket=${join(folder, 's')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--log-error=${join(folder, 'err')}`,
    // Its own: a server that starts removes what others have put into a folder for temporary tables.
    `--tmpdir=${data}`,
  ];
  const child = spawn(
    server,
    ['--no-defaults', ...asUser, `--datadir=${data}`, `--port=${port}`, ...files, ...settings],
    {
      stdio: 'ignore',
    },
  );
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
  } catch (error) {
    await stop();
    throw error;
  }
  run('mariadb', ['--no-defaults', '-h127.0.0.1', `-P${port}`, '-uroot', '-e', 'create database test']);
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
