/** InnoDB as its sessions see it. */
import type { AccessChoice, IsolationName, QueryStatement } from '../../sql/index.ts';
import {
  SqlError,
  type Storage,
  type StatementView,
  type StorageTransaction,
  type Waiting,
} from '../../sql/model/index.ts';
import { AdvisoryLocks } from '../advisory-locks.ts';
import type {
  BegunStatement,
  BegunTransaction,
  DependsOnWay,
  Engine,
  EngineOptions,
  EngineProfile,
  SnapshotOf,
} from '../engine-profile.ts';
import { HistoryRecorder } from '../history/history-recorder.ts';
import { isolationNamed, isolationNames } from '../isolation-name.ts';
import { WeighedWaits } from '../weighed-waits.ts';
import { lockingScans } from './locking-scans.ts';
import { pausingBeforeWrites } from './pauses.ts';
import { innodbStorage } from './storage.ts';

export const innodbEngine: Engine = {
  levels: isolationNames,
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

class InnodbProfile implements EngineProfile {
  readonly snapshotOf = innodbEngine.snapshotOf;
  readonly undoneBy = innodbEngine.undoneBy;
  readonly storage: Storage;
  readonly advisoryLocks: AdvisoryLocks;
  readonly recorder: HistoryRecorder;
  readonly pauses: boolean;
  readonly #options: EngineOptions;
  #isolation: IsolationName;

  constructor(isolation: IsolationName, options: EngineOptions) {
    const { footprints, transactionOf, pauses, anyVictim, takenForGranted } = options;
    this.#isolation = isolation;
    this.#options = options;
    this.pauses = pauses;
    this.recorder = new HistoryRecorder('mysql', options.tableById, options.operationsMax);
    const waits = new WeighedWaits();
    this.advisoryLocks = new AdvisoryLocks({
      footprints,
      transactionOf,
      deadlockVictim: pauses ? 'any' : 'last',
      waits,
    });
    this.storage = innodbStorage({
      waits,
      observer: this.recorder,
      footprints,
      anyPage: anyVictim,
      onPageBegin: () => takenForGranted?.add(noPageBegins),
    });
  }

  isolation(ofSession: string | undefined): IsolationName {
    return ofSession === undefined ? this.#isolation : isolationNamed(ofSession);
  }

  setLevel(level: string): void {
    this.#isolation = isolationNamed(level);
  }

  /** At SERIALIZABLE a plain SELECT that is a transaction of its own reads without locks. */
  begin(begun: BegunTransaction): StorageTransaction {
    const { session, isolation, isOneRead, setting } = begun;
    const transaction = this.storage.begin(session, {
      ...begun,
      isolation: isOneRead && isolation === 'serializable' ? 'repeatable read' : isolation,
      checksSnapshot: setting('innodb_snapshot_isolation') === '1',
    });
    this.recorder.begun(transaction.id, session);
    return transaction;
  }

  ended(): void {}

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
    const { isReadOnly, command, writesJoin = false } = statement;
    const locksSubqueries = !isReadOnly && command !== 'SELECT' && isolation === 'repeatable read';
    return isolation === 'serializable' || locks || writesJoin || locksSubqueries ? 'locks' : 'order';
  }

  keepsSnapshot(): void {
    this.#options.footprints?.current.touch('snapshot', 'left');
  }

  lockSequence(): void {}

  decideBy(): void {}
}

/** A search begins at the end of the page before, where its first row begins a page, and locks the gap there (`row_search_mvcc`). */
const noPageBegins = 'no page of an InnoDB index begins with a locked row before which another session inserts';
