/** What the live campaign runs: server, level, workload, clients; and the claim that is right for each. */
import { workloadNames } from '../src/capture/index.ts';
import { startMariadb } from '../test/support/mariadb-server.ts';
import { newestPostgresOfNpm, startPostgresOfNpm } from '../test/support/postgres-from-npm.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { TestServer } from '../test/support/server-process.ts';

export interface LiveServer {
  readonly kind: string;
  readonly engine: 'postgres' | 'mariadb';
  readonly levels: readonly string[];
  readonly start: () => Promise<TestServer>;
}

const postgresLevels = ['read committed', 'repeatable read', 'serializable'];

export const liveServers: readonly LiveServer[] = [
  { kind: 'postgres', engine: 'postgres', levels: postgresLevels, start: startPostgres },
  {
    kind: 'postgres-npm',
    engine: 'postgres',
    levels: postgresLevels,
    start: () => startPostgresOfNpm(newestPostgresOfNpm),
  },
  { kind: 'mariadb', engine: 'mariadb', levels: ['read uncommitted', ...postgresLevels], start: startMariadb },
];

export interface LiveCell {
  /** Also the name of its trace. */
  readonly name: string;
  readonly server: LiveServer;
  readonly level: string;
  readonly workload: string;
  readonly clients: number;
}

/** Few clients first, then many: every level of every server is seen early. */
export function liveCells(clientCounts: readonly number[]): LiveCell[] {
  return clientCounts.flatMap((clients) =>
    liveServers.flatMap((server) =>
      server.levels.flatMap((level) =>
        workloadNames.map((workload) => {
          const name = [server.kind, level.replaceAll(' ', '-'), workload, clients].join('-');
          return { name, server, level, workload, clients };
        }),
      ),
    ),
  );
}
