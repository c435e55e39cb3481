/** PostgreSQL as its sessions see it. */
import type { AccessChoice, IsolationName, QueryStatement } from '../../sql/index.ts';
import type { Storage, StatementView, StorageTransaction, Waiting } from '../../sql/model/index.ts';
import { WeighedWaits } from '../weighed-waits.ts';
import { AdvisoryLocks } from '../advisory-locks.ts';
import type {
  BegunStatement,
  BegunTransaction,
  DependsOnWay,
  Engine,
  EngineOptions,
  EngineProfile,
} from '../engine-profile.ts';
import { HistoryRecorder } from '../history/history-recorder.ts';
import { isolationNamed } from '../isolation-name.ts';
import { pausing } from './pauses.ts';
import { lockSequence } from './sequence-locks.ts';
import { postgresStorage } from './storage.ts';

export const postgresEngine: Engine = {
  // READ UNCOMMITTED is READ COMMITTED.
  levels: ['read committed', 'repeatable read', 'serializable'],
  defaultIsolation: 'read committed',
  // PostgreSQL manual, 13.2 "Transaction Isolation".
  snapshotOf: (isolation) =>
    isolation === 'read committed' || isolation === 'read uncommitted' ? 'statement' : 'transaction',
  undoneBy: () => 'all until rollback',
  open: (isolation, options) => new PostgresProfile(isolation, options),
};

class PostgresProfile implements EngineProfile {
  readonly snapshotOf = postgresEngine.snapshotOf;
  readonly undoneBy = postgresEngine.undoneBy;
  readonly storage: Storage;
  readonly advisoryLocks: AdvisoryLocks;
  readonly recorder: HistoryRecorder;
  readonly pauses: boolean;
  readonly #options: EngineOptions;
  #isolation: IsolationName;

  constructor(isolation: IsolationName, options: EngineOptions) {
    const { footprints, transactionOf, pauses, anyVictim, predicateReads, scanOrder } = options;
    this.#isolation = isolation;
    this.#options = options;
    this.pauses = pauses;
    this.recorder = new HistoryRecorder('postgres', options.tableById, options.operationsMax);
    this.advisoryLocks = new AdvisoryLocks({
      footprints,
      transactionOf,
      deadlockVictim: pauses ? 'any' : 'last',
      waits: new WeighedWaits(),
    });
    this.storage = postgresStorage({
      observer: this.recorder,
      footprints,
      predicateReads,
      scanOrder,
      deadlockVictim: anyVictim ? 'any' : 'last',
      heavyweight: this.advisoryLocks.locks,
    });
  }

  isolation(ofSession: string | undefined): IsolationName {
    return ofSession === undefined ? this.#isolation : isolationNamed(ofSession);
  }

  setLevel(level: string): void {
    this.#isolation = isolationNamed(level);
  }

  begin(begun: BegunTransaction): StorageTransaction {
    if (begun.isolation === 'serializable' && !begun.isSetUp) this.#options.takenForGranted?.add(refusesAsOften);
    const transaction = this.storage.begin(begun.session, begun);
    this.recorder.begun(transaction.id, begun.session);
    return transaction;
  }

  ended(): void {}

  *statement(transaction: StorageTransaction, begun: BegunStatement): Waiting<StatementView> {
    const view = transaction.statement();
    return this.pauses ? yield* pausing(view, begun, () => this.keepsSnapshot()) : view;
  }

  /** Below SERIALIZABLE it locks rows, whatever the way to them. */
  dependsOnWay(_choice: AccessChoice, _statement: QueryStatement, isolation: IsolationName): DependsOnWay {
    return isolation === 'serializable' ? 'locks' : 'order';
  }

  keepsSnapshot(): void {
    this.#options.footprints?.current.touch('snapshot', 'left');
  }

  lockSequence(sequence: number, transaction: StorageTransaction): void {
    lockSequence(sequence, transaction, () => this.keepsSnapshot());
  }

  decideBy(): void {}
}

/** PostgreSQL manual, "Serializable Isolation Level": predicate locks on pages, joined where there are many. */
const refusesAsOften =
  'PostgreSQL at serializable answers 40001 no more often than moirai, although it locks whole pages';
