/** `npm run conformance -- suites`: clients' own test suites, unchanged, on a real server and on `moirai serve`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { InputError } from '../src/base/index.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import { startMariadb } from '../test/support/mariadb-server.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { CommandOptions } from './command.ts';
import { checkedOut } from './suite-checkout.ts';
import { type ClientSuite, suites } from './suite-list.ts';
import { comparedResults } from './suite-results.ts';
import type { SuiteResults } from './suite-runs.ts';

/** @throws where a suite cannot be fetched or built */
export async function clientSuites({ flags, print }: CommandOptions): Promise<boolean> {
  const wanted = flags.get('suite');
  const names = wanted === undefined ? Object.keys(suites) : [wanted];
  let isFine = true;
  for (const name of names) {
    const suite = suites[name];
    if (suite === undefined)
      throw new InputError('conformance/suite', `--suite is one of ${Object.keys(suites).join(', ')}, not ${name}`);
    const folder = checkedOut(suite.checkout, flags.get('from'));
    const theirs = await resultsOfReal(suite, folder);
    const ours = await resultsOfMoirai(suite, folder);
    const { lines, unknown } = comparedResults(suite.known, { theirs, ours });
    print([`${name}: ${lines[0]}`, ...lines.slice(1)].join('\n'));
    isFine &&= unknown === 0;
  }
  return isFine;
}

async function resultsOfReal({ dialect, setUp, run }: ClientSuite, folder: string): Promise<SuiteResults> {
  const { start, execute } = servers[dialect];
  const server = await start();
  try {
    await execute(server.port, setUp);
    return await run(folder, server.port, 'server');
  } finally {
    await server.stop();
  }
}

const servers = {
  postgres: {
    start: startPostgres,
    execute: async (port: number, statements: readonly string[]): Promise<void> => {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
      await client.connect();
      for (const sql of statements) await client.query(sql);
      await client.end();
    },
  },
  mysql: {
    start: startMariadb,
    execute: async (port: number, statements: readonly string[]): Promise<void> => {
      const connection = await mysql.createConnection({ host: '127.0.0.1', port, user: 'root' });
      for (const sql of statements) await connection.query(sql);
      await connection.end();
    },
  },
} as const satisfies Record<Dialect, unknown>;

/** It takes any user and any database. */
async function resultsOfMoirai({ dialect, run }: ClientSuite, folder: string): Promise<SuiteResults> {
  const args = ['dist/cli/main.js', 'serve', '--engine', dialect, '--port', '0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    return await run(folder, await portOf(child), 'moirai');
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

async function portOf({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error('standard output is a pipe');
  for await (const line of createInterface({ input: stdout })) {
    const port = /DATABASE_URL=.*:(\d+)\//.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error('moirai serve did not start: npm run build makes what it starts from');
}
