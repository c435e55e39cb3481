/**
 * Which mechanisms an engine promises at which level. The source is Table I of Leopard (ICDE 2023) and Table 5 of its description of
 * isolation levels; where those contradict each other or the engine, the row follows the engine and says why. A mechanism that an engine
 * does not have gives false alarms; one that is left out only misses something, so what is not sure is left out.
 */
import { InputError } from '../base/index.ts';
import { type Certifier, type ConsistentRead, type Mechanisms, noMechanisms } from './mechanisms.ts';

type Levels = Readonly<Record<string, Mechanisms>>;

function mechanisms(given: Partial<Mechanisms>): Mechanisms {
  return { ...noMechanisms, ...given };
}

const writesLock = { mutualExclusion: 'writes', lockingReads: 'latest' } as const;
const statementReads = mechanisms({ consistentRead: 'statement', ...writesLock });
/** Reads with a lock look for rows in the statement's snapshot, wait for them, and look at them again (`EvalPlanQual`). */
const postgresReadCommitted: Mechanisms = { ...statementReads, lockingReads: 'followed' };
const snapshotIsolation = mechanisms({
  consistentRead: 'first-statement',
  mutualExclusion: 'writes',
  firstUpdaterWins: true,
});
/** Strict two-phase locking. The table has no consistent read here, but what a lock lets one read is the last committed version. */
const twoPhaseLocking = mechanisms({
  consistentRead: 'row',
  lockingReads: 'latest',
  mutualExclusion: 'reads-and-writes',
  certifier: 'cycle',
});

const postgres: Levels = {
  'read committed': postgresReadCommitted,
  'repeatable read': snapshotIsolation,
  serializable: { ...snapshotIsolation, certifier: 'ssi' },
};

/** Repeatable read has no first updater wins: writes go to the latest version, whatever the snapshot. Serializable: text, not table. */
function innodb(sameWrites: Mechanisms['sameWrites']): Levels {
  const locks = { savepointLocks: 'kept', sharedLocks: 'columns', sameWrites } as const;
  const writes = { ...writesLock, ...locks };
  return {
    'read uncommitted': mechanisms({ consistentRead: 'uncommitted', ...writes }),
    'read committed': { ...statementReads, ...writes },
    'repeatable read': mechanisms({ consistentRead: 'first-read', ...writes, predicateLocks: true }),
    serializable: { ...twoPhaseLocking, ...locks, predicateLocks: true },
  };
}
const mariadb = innodb('left-out');

/** "Serializable" is snapshot isolation. */
const oracle: Levels = { 'read committed': statementReads, serializable: snapshotIsolation };

export const engines: Readonly<Record<string, Levels>> = {
  postgres,
  /** Its serializable runs as repeatable read. */
  opengauss: {
    'read committed': postgresReadCommitted,
    'repeatable read': snapshotIsolation,
    serializable: snapshotIsolation,
  },
  /** Serializable is by locks of intents, not by SSI as the paper's table has it; reads may be at any time that the clocks allow. */
  yugabytedb: {
    'read committed': postgresReadCommitted,
    'repeatable read': snapshotIsolation,
    serializable: mechanisms({ consistentRead: 'transaction', mutualExclusion: 'writes', certifier: 'cycle' }),
  },
  mysql: innodb('either'),
  /** Snapshot isolation is its repeatable read with `innodb_snapshot_isolation=ON`: writes to what changed since the snapshot fail. */
  mariadb: {
    ...mariadb,
    'snapshot isolation': {
      ...mariadb['repeatable read'],
      predicateLocks: false,
      firstUpdaterWins: true,
    },
  },
  /** The snapshot is of BEGIN, so traces should have it. */
  tidb: {
    'read committed': statementReads,
    'repeatable read': mechanisms({ consistentRead: 'begin', ...writesLock }),
    optimistic: mechanisms({ consistentRead: 'begin', certifier: 'percolator' }),
  },
  /** Timestamps lie anywhere in the transaction: they are pushed. Writes leave intents, not locks held against later readers. */
  cockroachdb: {
    'read committed': mechanisms({ consistentRead: 'row', lockingReads: 'latest', install: 'transaction' }),
    serializable: mechanisms({
      consistentRead: 'transaction',
      install: 'transaction',
      certifier: 'timestamp-order',
    }),
  },
  oracle,
  'sap-hana': oracle,
  nuodb: oracle,
  /** Repeatable read and serializable are both snapshot isolation. */
  oceanbase: { ...oracle, 'repeatable read': snapshotIsolation },
  /** Read committed locks a row for as long as it is read: no snapshot of a statement. Snapshot aborts on conflicts; the table forgets it. */
  sqlserver: {
    'read uncommitted': mechanisms(writesLock),
    'read committed': mechanisms({ consistentRead: 'row', ...writesLock }),
    'read committed snapshot': statementReads,
    'repeatable read': { ...twoPhaseLocking, certifier: null },
    snapshot: snapshotIsolation,
    serializable: { ...twoPhaseLocking, predicateLocks: true },
  },
  /** One writer at a time, from its first write on; readers have a snapshot, which with a rollback journal no writer can overwrite anyway. */
  sqlite: {
    serializable: mechanisms({
      consistentRead: 'first-statement',
      mutualExclusion: 'writes',
      lockedUnit: 'database',
      certifier: 'cycle',
    }),
  },
  /** With SetSnapshot at the beginning. Optimistic: table (certifier at commit), not text (locks). */
  rocksdb: {
    pessimistic: { ...snapshotIsolation, consistentRead: 'begin' },
    optimistic: mechanisms({ consistentRead: 'begin', certifier: 'percolator' }),
  },
  /** The read version is fetched by the first read. */
  foundationdb: { serializable: mechanisms({ consistentRead: 'first-read', certifier: 'optimistic' }) },
  /** Transactions that write read under locks, others at one timestamp: common to both is one moment. Writes are buffered until commit. */
  spanner: { serializable: mechanisms({ consistentRead: 'transaction', certifier: 'cycle' }) },
  /** Rows of one statement may be of different partitions and moments. */
  singlestore: { 'read committed': mechanisms({ consistentRead: 'row', ...writesLock }) },
};

const engineAliases: Readonly<Record<string, string>> = {
  postgresql: 'postgres',
  innodb: 'mysql',
  aurora: 'mysql',
  polardb: 'mysql',
  cockroach: 'cockroachdb',
  yugabyte: 'yugabytedb',
};

/** @throws InputError `option/engine`, `option/isolation`; without a level, the engine must have one only */
export function mechanismsOf(engine: string, isolation: string | undefined): Mechanisms {
  const name = engine.toLowerCase();
  const levels = engines[engineAliases[name] ?? name];
  if (levels === undefined)
    throw new InputError('option/engine', `"${engine}" is no engine that is known: ${Object.keys(engines).join(', ')}`);
  const names = Object.keys(levels);
  const asked = isolation?.toLowerCase().replaceAll(/[\s_-]+/g, ' ') ?? (names.length === 1 ? names[0] : undefined);
  const found = asked === undefined ? undefined : levels[asked];
  if (found !== undefined) return found;
  const problem = isolation === undefined ? '--isolation is needed' : `"${isolation}" is no level`;
  throw new InputError('option/isolation', `${problem} for ${engine}: it has ${names.join(', ')}`);
}

/** Which mechanisms are checked: an engine's at one of its levels, or those of a list. */
export interface MechanismsOptions {
  /** `postgres`, `mysql`, `tidb`, `cockroachdb`, `oracle`, `sqlserver`, `sqlite` and others; an unknown name is an error that lists them all. */
  readonly engine?: string | undefined;
  /** A level of the engine by its own name, such as `repeatable read`. Only of an engine with one level it may be left out. */
  readonly isolation?: string | undefined;
  /** In place of an engine: `cr=first-statement,me,fuw,sc=ssi`, as in docs/verify.md. */
  readonly mechanisms?: string | undefined;
}

/** @throws InputError `option/usage` unless it is either an engine or a list, and as `mechanismsOf` and `parseMechanisms` */
export function mechanismsFor({ engine, isolation, mechanisms: list }: MechanismsOptions): Mechanisms {
  if (list !== undefined) {
    if (engine === undefined && isolation === undefined) return parseMechanisms(list);
    throw new InputError('option/usage', '--mechanisms takes the place of --engine and --isolation');
  }
  if (engine === undefined)
    throw new InputError('option/usage', 'verify needs --engine and --isolation, or --mechanisms');
  return mechanismsOf(engine, isolation);
}

const snapshots: Readonly<Record<string, ConsistentRead>> = {
  uncommitted: 'uncommitted',
  row: 'row',
  statement: 'statement',
  begin: 'begin',
  'first-statement': 'first-statement',
  'first-read': 'first-read',
  transaction: 'transaction',
};
const certifiers: readonly Certifier[] = ['cycle', 'ssi', 'timestamp-order', 'optimistic', 'percolator'];

/**
 * Mechanisms chosen by hand: `cr=first-statement,me,fuw,sc=ssi`; `me=reads` locks reads too, `install=transaction` and
 * `locking-reads=latest|followed` as in `Mechanisms`; `predicates` locks what conditions have scanned. What is not named is not checked.
 * @throws InputError `option/mechanisms`
 */
export function parseMechanisms(text: string): Mechanisms {
  const changes = text.split(',').map((part) => {
    const [name = '', value = ''] = part.trim().toLowerCase().split('=');
    const change = changeBy(name, value);
    if (change !== null) return change;
    throw new InputError(
      'option/mechanisms',
      `"${part.trim()}" is no mechanism: cr=${Object.keys(snapshots).join('|')}, me, me=reads, fuw, sc=${certifiers.join('|')}, ` +
        'install=transaction, locking-reads=latest|followed, locks=database, savepoints=kept, shared=columns, same-writes=left-out|either, predicates',
    );
  });
  return Object.assign({}, noMechanisms, ...changes) as Mechanisms;
}

function changeBy(name: string, value: string): Partial<Mechanisms> | null {
  const consistentRead = snapshots[value];
  const certifier = certifiers.find((known) => known === value);
  switch (name) {
    case 'cr':
      return consistentRead === undefined ? null : { consistentRead };
    case 'me':
      if (value === 'reads') return { mutualExclusion: 'reads-and-writes' };
      return value === '' || value === 'writes' ? { mutualExclusion: 'writes' } : null;
    case 'fuw':
      return value === '' ? { firstUpdaterWins: true } : null;
    case 'sc':
      return certifier === undefined ? null : { certifier };
    case 'predicates':
      return value === '' ? { predicateLocks: true } : null;
    case 'install':
      return value === 'transaction' || value === 'commit' ? { install: value } : null;
    case 'locking-reads':
      return value === 'latest' || value === 'followed' ? { lockingReads: value } : null;
    case 'savepoints':
      return value === 'kept' || value === 'released' ? { savepointLocks: value } : null;
    case 'shared':
      return value === 'columns' || value === 'rows' ? { sharedLocks: value } : null;
    case 'same-writes':
      return value === 'left-out' || value === 'either' || value === 'written' ? { sameWrites: value } : null;
    case 'locks':
      return value === 'database' || value === 'row' ? { lockedUnit: value } : null;
    default:
      return null;
  }
}
