/** What the live campaign runs: server, level, workload, clients; and what is claimed of it. */
import { workloadNames } from '../src/capture/index.ts';
import { startMariadb } from '../test/support/mariadb-server.ts';
import { mysqld, startMysql } from '../test/support/mysql-server.ts';
import { brokenPostgresOfNpm, newestPostgresOfNpm, startPostgresOfNpm } from '../test/support/postgres-from-npm.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { TestServer } from '../test/support/server-process.ts';

export interface LiveServer {
  readonly kind: string;
  readonly engine: 'postgres' | 'mariadb' | 'mysql';
  readonly levels: readonly string[];
  readonly start: () => Promise<TestServer>;
}

const postgresLevels = ['read committed', 'repeatable read', 'serializable'];

const debian: LiveServer = { kind: 'postgres', engine: 'postgres', levels: postgresLevels, start: startPostgres };
const newest: LiveServer = {
  ...debian,
  kind: 'postgres-npm',
  start: () => startPostgresOfNpm(newestPostgresOfNpm),
};
const broken: LiveServer = {
  ...debian,
  kind: 'postgres-12.10',
  start: () => startPostgresOfNpm(brokenPostgresOfNpm),
};
const mariadb: LiveServer = {
  kind: 'mariadb',
  engine: 'mariadb',
  levels: ['read uncommitted', ...postgresLevels],
  start: startMariadb,
};
const mysql: LiveServer[] =
  mysqld === undefined ? [] : [{ ...mariadb, kind: 'mysql', engine: 'mysql', start: startMysql(mysqld) }];

export interface LiveCell {
  readonly name: string;
  /** Cells may share one. */
  readonly trace: string;
  readonly server: LiveServer;
  readonly level: string;
  readonly workload: string;
  readonly clients: number;
  /** How large its tables are. */
  readonly scale: number;
  /** The level that is verified. */
  readonly claim: string;
  readonly expected: 'satisfied' | 'violated';
}

type Run = Pick<LiveCell, 'server' | 'level' | 'workload' | 'clients' | 'scale'>;

/** Few clients first, then many: every level of every server is seen early. Wrong claims come last. */
export function liveCells(clientCounts: readonly number[]): LiveCell[] {
  const runs = clientCounts.flatMap((clients) =>
    [debian, newest, mariadb, ...mysql].flatMap((server) =>
      server.levels.flatMap((level) =>
        workloadNames.map((workload): Run => ({ server, level, workload, clients, scale: 1 })),
      ),
    ),
  );
  return [...runs.map((run) => cellOf(run, run.level, 'satisfied')), ...wrongClaims(clientCounts[0] ?? 8)];
}

/** What has to be found: levels that a server does not have, and one that it fails to keep. */
function wrongClaims(clients: number): LiveCell[] {
  const wrong = (server: LiveServer, level: string, workload: string, claim: string, scale = 1): LiveCell =>
    cellOf({ server, level, workload, clients, scale }, claim, 'violated');
  return [
    wrong(mariadb, 'repeatable read', 'list-append', 'snapshot isolation'),
    wrong(mariadb, 'repeatable read', 'smallbank', 'snapshot isolation'),
    wrong(debian, 'repeatable read', 'list-append', 'serializable'),
    // Rare at scale 1: it takes three transactions of one customer at once.
    wrong(debian, 'repeatable read', 'smallbank', 'serializable', 0.01),
    wrong(debian, 'repeatable read', 'tpcc', 'serializable'),
    wrong(debian, 'repeatable read', 'absent-rows', 'serializable'),
    wrong(broken, 'serializable', 'absent-rows', 'serializable'),
  ];
}

function cellOf(run: Run, claim: string, expected: LiveCell['expected']): LiveCell {
  const parts = [run.server.kind, run.level.replaceAll(' ', '-'), run.workload, run.clients];
  const trace = [...parts, ...(run.scale === 1 ? [] : [run.scale])].join('-');
  const name = expected === 'satisfied' ? trace : `${trace}-is-not-${claim.replaceAll(' ', '-')}`;
  return { ...run, name, trace, claim, expected };
}
