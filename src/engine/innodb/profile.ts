/** InnoDB as its sessions see it. */
import type { AccessChoice, IsolationName, QueryStatement } from '../../sql/index.ts';
import { SqlError, type StatementView, type StorageTransaction, type Waiting } from '../../sql/model/index.ts';
import type {
  BegunStatement,
  BegunTransaction,
  DependsOnWay,
  Engine,
  EngineOptions,
  SnapshotOf,
} from '../engine-profile.ts';
import { isolationNames } from '../isolation-name.ts';
import { LockingProfile } from '../locking-profile.ts';
import { lockingScans } from './locking-scans.ts';
import { pausingBeforeWrites } from './pauses.ts';
import { innodbStorage, type InnodbStorage } from './storage.ts';

export const innodbEngine: Engine = {
  levels: isolationNames,
  histories: {
    'read uncommitted': 'read-uncommitted',
    'read committed': 'read-committed',
    // A plain SELECT after a locking one, or after INSERT ... SELECT, reads the older snapshot.
    'repeatable read': 'read-uncommitted',
    serializable: 'serializable',
  },
  defaultIsolation: 'repeatable read',
  // MySQL 8.0 manual, 15.7.2.3 "Consistent Nonlocking Reads": those alone read a snapshot.
  snapshotOf: (isolation, isPlainRead) => (isPlainRead ? consistentReads[isolation] : 'none'),
  undoneBy: (error) => (hasRolledBack(error) ? 'transaction' : 'statement'),
  open: (isolation, options) => new InnodbProfile(isolation, options),
};

const consistentReads: Readonly<Record<IsolationName, SnapshotOf>> = {
  'read uncommitted': 'none',
  'read committed': 'statement',
  'repeatable read': 'transaction',
  // They lock.
  serializable: 'none',
};

/** A deadlock's victim, and one that finds a row changed since its snapshot (1020), are rolled back whole. */
function hasRolledBack(error: unknown): boolean {
  if (!(error instanceof SqlError)) return false;
  return error.code === '40001' || error.code === '40P01' || error.detail.mysqlNumber === 1020;
}

class InnodbProfile extends LockingProfile<InnodbStorage> {
  readonly snapshotOf = innodbEngine.snapshotOf;
  readonly undoneBy = innodbEngine.undoneBy;
  readonly storage: InnodbStorage;

  constructor(isolation: IsolationName, options: EngineOptions) {
    super('mysql', isolation, options);
    this.storage = innodbStorage({
      waits: this.waits,
      observer: this.recorder,
      footprints: options.footprints,
      anyPage: options.anyVictim,
      ...(options.pageBegins === undefined ? {} : { pageBegins: options.pageBegins }),
      onPageBegin: (record) => {
        options.takenForGranted?.add(noPageBegins);
        options.onPageBegin?.(record);
      },
    });
  }

  /** At SERIALIZABLE a SELECT that is a transaction of its own locks what its locking clauses name, and no more. */
  protected beginStorage(begun: BegunTransaction): StorageTransaction {
    const { session, isolation, isOneSelect, setting } = begun;
    return this.storage.begin(session, {
      ...begun,
      isolation: isOneSelect && isolation === 'serializable' ? 'repeatable read' : isolation,
      checksSnapshot: setting('innodb_snapshot_isolation') === '1',
    });
  }

  // A generator because statements of other engines stop here.
  // oxlint-disable-next-line require-yield
  *statement(transaction: StorageTransaction, { isolation, query }: BegunStatement): Waiting<StatementView> {
    const { pauses } = this;
    const view = transaction.statement();
    const reading = pauses && isolation === 'read uncommitted' ? pausingBeforeWrites(view) : view;
    return query === null ? reading : lockingScans(reading, query, { isolation, pauses });
  }

  /** It locks what it passes on the way; subqueries lock as `locking-scans.ts` says. */
  dependsOnWay({ locks }: AccessChoice, statement: QueryStatement, isolation: IsolationName): DependsOnWay {
    const { isReadOnly, command, locksReads = false, locksInScans = false } = statement;
    const locksSubqueries = !isReadOnly && command !== 'SELECT' && isolation === 'repeatable read';
    const locksAll = isolation === 'serializable' || locksReads || locksSubqueries;
    return locksAll || locks || locksInScans ? 'locks' : 'order';
  }

  lockSequence(): void {}
}

/** A search begins at the end of the page before, where its first row begins a page, and locks the gap there (`row_search_mvcc`). */
const noPageBegins = 'no page of an InnoDB index begins with a locked row before which another session inserts';
