/** MariaDB, and MySQL where there is one, for tests that ask both the same. */
import { startMariadb } from './mariadb-server.ts';
import { mysqld, startMysql } from './mysql-server.ts';
import { startedOrSkipped, type TestServer } from './server-process.ts';

export interface StartedServer {
  readonly name: string;
  /** As `moirai verify` calls it. */
  readonly engine: 'mariadb' | 'mysql';
  /** `undefined`: its tests are skipped. */
  readonly server: TestServer | undefined;
}

/** At the end of the file, also where some of its tests were left out. */
export async function stopServers(servers: readonly StartedServer[]): Promise<void> {
  for (const { server } of servers) await server?.stop();
}

/** They are the caller's to stop. */
export async function startInnodbServers(): Promise<StartedServer[]> {
  const all: StartedServer[] = [{ name: 'MariaDB', engine: 'mariadb', server: await startedOrSkipped(startMariadb) }];
  if (mysqld !== undefined)
    all.push({ name: 'MySQL', engine: 'mysql', server: await startedOrSkipped(startMysql(mysqld)) });
  return all;
}
