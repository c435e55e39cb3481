import { InputError } from '../base/index.ts';
import { MysqlClient, type ProgramClient, type QueryResult, RefusedStatement } from '../sql-program/index.ts';
import { MysqlTap } from './mysql-tap.ts';
import { scratchPattern, type ServerRules, type Wait } from './server.ts';

const schemaParts = `
SELECT 'table' AS kind, table_name AS a, '' AS b FROM information_schema.tables
  WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'
UNION ALL SELECT 'link', table_name, referenced_table_name FROM information_schema.referential_constraints
  WHERE constraint_schema = DATABASE()
UNION ALL SELECT 'hidden', table_name, '' FROM information_schema.tables
  WHERE table_schema = DATABASE() AND table_type <> 'BASE TABLE'
UNION ALL SELECT 'hidden', trigger_name, '' FROM information_schema.triggers WHERE trigger_schema = DATABASE()
UNION ALL SELECT 'hidden', routine_name, '' FROM information_schema.routines WHERE routine_schema = DATABASE()
UNION ALL SELECT 'hidden', event_name, '' FROM information_schema.events WHERE event_schema = DATABASE()`;

export const mysqlServer: ServerRules = {
  title: 'MySQL or MariaDB',
  tap: MysqlTap,
  client: (stream) => MysqlClient.connect(stream),
  anyDatabase: '',
  version: `SELECT CONCAT(IF(VERSION() LIKE '%MariaDB%', 'MariaDB ', 'MySQL '), SUBSTRING_INDEX(VERSION(), '-', 1)) AS name`,
  hold: (scratch) => `SELECT GET_LOCK('${scratch}', 10) AS held`,
  leftOver: `
SELECT schema_name AS name FROM information_schema.schemata
WHERE schema_name REGEXP '${scratchPattern}' AND IS_FREE_LOCK(schema_name) = 1`,
  create: (database) => `CREATE DATABASE ${database}`,
  empty: (database) => [`DROP DATABASE ${database}`, `CREATE DATABASE ${database}`, `USE ${database}`],
  endConnection: (id) => `KILL ${id}`,
  drop: (database) => `DROP DATABASE IF EXISTS ${database}`,
  tables: `
SELECT CONCAT('\`', table_name, '\`') AS name FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY 1`,
  schemaParts,
  waits: waitsOf,
  holders: holdersOf,
  wrongLogin: new Set(['1045', '1698']),
  noRight: new Set(['1044']),
  grant: (user) => `GRANT ALL ON \`moirai\\_replay\\_%\`.* TO '${user}'`,
};

/** Of row locks the monitor tells, of all others the process list; the tables that say the same are kept for a tenth of a second. */
async function waitsOf(client: ProgramClient, ids: readonly number[]): Promise<ReadonlyMap<number, Wait>> {
  const status = await client.query('SHOW ENGINE INNODB STATUS').catch(refused);
  const processes = await client.query('SHOW PROCESSLIST');
  const waits = [...rowWaits(String(status.rows[0]?.['Status'])), ...otherWaits(processes)];
  return new Map(waits.filter(([id]) => ids.includes(id)).map(([id, lock]) => [id, { lock, holders: [] }]));
}

function refused(error: unknown): never {
  if (!(error instanceof RefusedStatement)) throw error;
  throw new InputError('replay/right', `the server does not tell who waits: ${error.message} (${error.code})`);
}

/** From the monitor's section TRANSACTIONS; before its list is the last deadlock, with the transactions as they were then. */
function rowWaits(status: string): (readonly [number, string])[] {
  return status
    .split('---TRANSACTION')
    .slice(1)
    .filter((text) => /^LOCK WAIT/m.test(text))
    .flatMap((text) => {
      const id = /^(?:MariaDB|MySQL) thread id (\d+)/m.exec(text)?.[1];
      const table = /of table `[^`]*`\.`([^`]+)`/.exec(text)?.[1];
      return id === undefined ? [] : [[Number(id), `a row${table === undefined ? '' : ` of ${table}`}`] as const];
    });
}

function otherWaits({ rows }: QueryResult): (readonly [number, string])[] {
  return rows.flatMap((row) => {
    const what = /^Waiting for (.*) lock|^(User lock)/i.exec(String(row['State']));
    return what === null ? [] : [[Number(row['Id']), `a lock (${what[1] ?? 'named by the program'})`] as const];
  });
}

const transactions = 'information_schema.innodb_trx';
/** MariaDB's, then that of MySQL 8. */
const lockWaits = [
  `SELECT b.trx_mysql_thread_id AS id FROM information_schema.innodb_lock_waits w
   JOIN ${transactions} r ON r.trx_id = w.requesting_trx_id JOIN ${transactions} b ON b.trx_id = w.blocking_trx_id
   WHERE r.trx_mysql_thread_id = `,
  `SELECT b.trx_mysql_thread_id AS id FROM performance_schema.data_lock_waits w
   JOIN ${transactions} r ON r.trx_id = w.requesting_engine_transaction_id
   JOIN ${transactions} b ON b.trx_id = w.blocking_engine_transaction_id
   WHERE r.trx_mysql_thread_id = `,
];

async function holdersOf(client: ProgramClient, id: number): Promise<readonly number[]> {
  for (const query of lockWaits) {
    const found = await client.query(`${query}${id}`).catch((error: unknown) => {
      if (error instanceof RefusedStatement) return null;
      throw error;
    });
    if (found !== null) return found.rows.map((row) => Number(row['id']));
  }
  return [];
}
