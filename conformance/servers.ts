/** Private servers and their sides, by dialect. */
import { existsSync } from 'node:fs';
import { InputError } from '../src/base/index.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import { startMariadb } from '../test/support/mariadb-server.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { CommandOptions } from './command.ts';
import { mariadbSide } from './mariadb-side.ts';
import { postgresSide } from './postgres-side.ts';
import type { Side } from './schedule.ts';

const servers = {
  postgres: { start: startPostgres, open: postgresSide },
  mysql: { start: startMariadb, open: mariadbSide },
} as const;

/** Files in memory, where a machine has such a folder: a schedule makes its tables anew, and servers wait for the disk each time. */
const memoryFolder = '/dev/shm';

/** Starts a server for `work`, and stops it. */
export async function withServer<T>(dialect: Dialect, work: (real: Side) => Promise<T>): Promise<T> {
  const { start, open } = servers[dialect];
  if (process.env['TMPDIR'] === undefined && existsSync(memoryFolder)) process.env['TMPDIR'] = memoryFolder;
  const server = await start();
  try {
    const real = await open(server.port);
    const result = await work(real);
    await real.close();
    return result;
  } finally {
    await server.stop();
  }
}

/** `--engine`, or both. */
export function dialectsOf({ flags }: CommandOptions): readonly Dialect[] {
  const engine = flags.get('engine');
  if (engine === undefined) return ['postgres', 'mysql'];
  if (engine !== 'postgres' && engine !== 'mysql')
    throw new InputError('conformance/engine', `--engine is postgres or mysql, not ${engine}`);
  return [engine];
}
