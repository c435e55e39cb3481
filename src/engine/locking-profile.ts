/** What the two engines that lock have in common as their sessions see them. */
import { assert } from '../base/index.ts';
import type { AccessChoice, IsolationName, QueryStatement } from '../sql/index.ts';
import type { Dialect, StatementView, Storage, StorageTransaction, Waiting } from '../sql/model/index.ts';
import { AdvisoryLocks } from './advisory-locks.ts';
import type { BegunStatement, BegunTransaction, DependsOnWay, EngineOptions, EngineProfile } from './engine-profile.ts';
import { HistoryRecorder } from './history/history-recorder.ts';
import { isolationNamed } from './isolation-name.ts';
import { WeighedWaits } from './weighed-waits.ts';

/** A storage that a new one of its kind copies. */
interface CopiedStorage<Self> extends Storage {
  readonly isSettled: boolean;
  copyFrom(other: Self): void;
}

export abstract class LockingProfile<Stored extends CopiedStorage<Stored>> implements EngineProfile {
  abstract readonly snapshotOf: EngineProfile['snapshotOf'];
  abstract readonly undoneBy: EngineProfile['undoneBy'];
  abstract readonly storage: Stored;
  readonly advisoryLocks: AdvisoryLocks;
  readonly recorder: HistoryRecorder;
  readonly pauses: boolean;
  protected readonly options: EngineOptions;
  /** Advisory locks wait here; so may other locks of the engine. */
  protected readonly waits = new WeighedWaits();
  #isolation: IsolationName;

  constructor(dialect: Dialect, isolation: IsolationName, options: EngineOptions) {
    const { footprints, transactionOf, pauses, tableById, operationsMax } = options;
    this.#isolation = isolation;
    this.options = options;
    this.pauses = pauses;
    this.recorder = new HistoryRecorder(dialect, tableById, operationsMax);
    const deadlockVictim = pauses ? 'any' : 'last';
    this.advisoryLocks = new AdvisoryLocks({ footprints, transactionOf, deadlockVictim, waits: this.waits });
  }

  abstract statement(transaction: StorageTransaction, begun: BegunStatement): Waiting<StatementView>;
  abstract dependsOnWay(choice: AccessChoice, statement: QueryStatement, isolation: IsolationName): DependsOnWay;
  abstract lockSequence(sequence: number, transaction: StorageTransaction): void;

  get isCopyable(): boolean {
    return this.storage.isSettled;
  }

  copyFrom(other: EngineProfile): void {
    assert(other.constructor === this.constructor, 'engines of one kind are copied');
    // Of one class: their storages are, too.
    this.storage.copyFrom((other as LockingProfile<Stored>).storage);
  }

  isolation(ofSession: string | undefined): IsolationName {
    return ofSession === undefined ? this.#isolation : isolationNamed(ofSession);
  }

  setLevel(level: string): void {
    this.#isolation = isolationNamed(level);
  }

  begin(begun: BegunTransaction): StorageTransaction {
    const transaction = this.beginStorage(begun);
    this.recorder.begun(transaction.id, begun.session);
    return transaction;
  }

  protected abstract beginStorage(begun: BegunTransaction): StorageTransaction;

  ended(): void {}

  keepsSnapshot(): void {
    this.options.footprints?.current.touch('snapshot', 'left');
  }

  decideBy(): void {}
}
