/** The drivers by which `moirai workload` sends its statements: a value for each server. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { InputError } from '../../base/index.ts';
import type { hookMysql2, hookPg, Recording, WorkloadClient } from '../../capture/index.ts';
import type { Dialect } from '../../sql/model/index.ts';

export interface OpenClient extends WorkloadClient {
  readonly close: () => Promise<unknown>;
}

export interface WorkloadDriver {
  readonly open: (url: string) => Promise<OpenClient>;
  /** What begins a transaction of this level. */
  readonly begin: (level: string) => readonly string[];
  /** Sets the level of all transactions of the session. */
  readonly setLevel: (level: string) => string;
  /** Does the server need what `Workload.tend` does? */
  readonly needsTending: boolean;
  /** Records what all clients of the driver do. @returns ends it */
  readonly hook: (recording: Recording) => Promise<() => void>;
}

/** Drivers are not dependencies: they are found beside the user's work or beside moirai. @throws InputError `workload/driver` */
export function loadDriver(dialect: Dialect): WorkloadDriver {
  const requires = [join(process.cwd(), 'package.json'), import.meta.url].map((from) => createRequire(from));
  const { name, load } = drivers[dialect];
  for (const require of requires) {
    try {
      return load(require);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new InputError('workload/driver', `the driver ${name} is not installed: npm install ${name}`);
}

interface DriverPackage {
  readonly name: string;
  readonly load: (require: NodeJS.Require) => WorkloadDriver;
}

const drivers: Readonly<Record<Dialect, DriverPackage>> = {
  postgres: { name: 'pg', load: (require) => postgresDriver(require('pg') as PgModule) },
  mysql: {
    name: 'mysql2',
    load: (require) => mysqlDriver(require('mysql2/promise') as MysqlModule, require('mysql2') as MysqlCore),
  },
};

type PgModule = Parameters<typeof hookPg>[0] & {
  readonly Client: new (
    options: object,
  ) => {
    readonly connect: () => Promise<unknown>;
    readonly query: (config: object) => Promise<{ readonly rows: Record<string, unknown>[] }>;
    readonly end: () => Promise<unknown>;
    readonly on: (event: 'error', listener: () => void) => unknown;
  };
};

function postgresDriver(pg: PgModule): WorkloadDriver {
  return {
    open: (url) => openPostgres(pg, url),
    begin: (level) => [`BEGIN ISOLATION LEVEL ${level}`],
    setLevel: (level) => `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL ${level}`,
    needsTending: true,
    hook: async (recording) => (await import('../../capture/index.ts')).hookPg(pg, recording),
  };
}

async function openPostgres({ Client }: PgModule, url: string): Promise<OpenClient> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  // As it is now: of the administrator, before anything is recorded.
  const query = client.query.bind(client);
  const texts = new Map<string, string>();
  const textOf = (sql: string): string => {
    let number = 0;
    const text = texts.get(sql) ?? sql.replaceAll('?', () => `$${(number += 1)}`);
    texts.set(sql, text);
    return text;
  };
  return {
    query: async (sql, ...values) => (await query({ text: textOf(sql), values: [...values] })).rows,
    close: () => client.end(),
  };
}

type MysqlCore = Parameters<typeof hookMysql2>[0];

interface MysqlModule {
  readonly createConnection: (options: object) => Promise<{
    readonly query: (sql: string, values: readonly unknown[]) => Promise<[unknown, unknown]>;
    readonly end: () => Promise<unknown>;
  }>;
}

/** @param core the module that `promised` wraps */
function mysqlDriver(promised: MysqlModule, core: MysqlCore): WorkloadDriver {
  return {
    open: (url) => openMysql(promised, url),
    begin: (level) => [`SET TRANSACTION ISOLATION LEVEL ${level}`, 'BEGIN'],
    setLevel: (level) => `SET SESSION TRANSACTION ISOLATION LEVEL ${level}`,
    needsTending: false,
    hook: async (recording) => (await import('../../capture/index.ts')).hookMysql2(core, recording),
  };
}

async function openMysql({ createConnection }: MysqlModule, url: string): Promise<OpenClient> {
  const client = await createConnection({ uri: url.replace(/^mariadb:/, 'mysql:'), supportBigNumbers: true });
  return {
    query: async (sql, ...values) => {
      const [rows] = await client.query(sql, values);
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    },
    close: () => client.end(),
  };
}
