/** PostgreSQL as its sessions see it. */
import type { AccessChoice, IsolationName, QueryStatement } from '../../sql/index.ts';
import type { StatementView, StorageTransaction, Waiting } from '../../sql/model/index.ts';
import type { BegunStatement, BegunTransaction, DependsOnWay, Engine, EngineOptions } from '../engine-profile.ts';
import { LockingProfile } from '../locking-profile.ts';
import { pausing } from './pauses.ts';
import { lockSequence } from './sequence-locks.ts';
import { postgresStorage, type PostgresStorage } from './storage.ts';

export const postgresEngine: Engine = {
  // READ UNCOMMITTED is READ COMMITTED.
  levels: ['read committed', 'repeatable read', 'serializable'],
  histories: {
    'read uncommitted': 'read-committed',
    'read committed': 'read-committed',
    'repeatable read': 'snapshot-isolation',
    serializable: 'serializable',
  },
  defaultIsolation: 'read committed',
  // PostgreSQL manual, 13.2 "Transaction Isolation".
  snapshotOf: (isolation) =>
    isolation === 'read committed' || isolation === 'read uncommitted' ? 'statement' : 'transaction',
  undoneBy: () => 'all until rollback',
  open: (isolation, options) => new PostgresProfile(isolation, options),
};

class PostgresProfile extends LockingProfile<PostgresStorage> {
  readonly snapshotOf = postgresEngine.snapshotOf;
  readonly undoneBy = postgresEngine.undoneBy;
  readonly storage: PostgresStorage;

  constructor(isolation: IsolationName, options: EngineOptions) {
    super('postgres', isolation, options);
    const { footprints, anyVictim, predicateReads, scanOrder } = options;
    this.storage = postgresStorage({
      observer: this.recorder,
      footprints,
      predicateReads,
      scanOrder,
      deadlockVictim: anyVictim ? 'any' : 'last',
      heavyweight: this.advisoryLocks.locks,
    });
  }

  protected beginStorage(begun: BegunTransaction): StorageTransaction {
    if (begun.isolation === 'serializable' && !begun.isSetUp) this.options.takenForGranted?.add(refusesAsOften);
    return this.storage.begin(begun.session, begun);
  }

  *statement(transaction: StorageTransaction, begun: BegunStatement): Waiting<StatementView> {
    const view = transaction.statement();
    return this.pauses ? yield* pausing(view, begun) : view;
  }

  /** Below SERIALIZABLE it locks rows, whatever the way to them. With a snapshot for the transaction a row that has changed is an error. */
  dependsOnWay(
    { isForRecheck = false }: AccessChoice,
    _statement: QueryStatement,
    isolation: IsolationName,
  ): DependsOnWay {
    if (isForRecheck) return isolation === 'serializable' || isolation === 'repeatable read' ? 'nothing' : 'locks';
    return isolation === 'serializable' ? 'locks' : 'order';
  }

  lockSequence(sequence: number, transaction: StorageTransaction): void {
    lockSequence(sequence, transaction, () => this.keepsSnapshot());
  }
}

/** PostgreSQL manual, "Serializable Isolation Level": predicate locks on pages, joined where there are many. */
const refusesAsOften =
  'PostgreSQL at serializable answers 40001 no more often than moirai, although it locks whole pages';
