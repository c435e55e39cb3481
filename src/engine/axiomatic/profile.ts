/** The store of an axiomatic level as its sessions see it: SQL's levels mean nothing to it, and nothing locks or stops. */
import { assert } from '../../base/index.ts';
import type { ConstrainingLevel } from '../../isolation/index.ts';
import type { Decisions } from '../../mockdb/index.ts';
import type { IsolationName } from '../../sql/index.ts';
import type { StatementView, StorageTransaction, Waiting } from '../../sql/model/index.ts';
import { WeighedWaits } from '../weighed-waits.ts';
import { AdvisoryLocks } from '../advisory-locks.ts';
import type {
  BegunTransaction,
  DependsOnWay,
  Engine,
  EngineOptions,
  EngineProfile,
  Recorder,
  StatementRules,
} from '../engine-profile.ts';
import { type AxiomaticStorage, axiomaticStorage } from './storage.ts';
import type { Granularity } from './table.ts';

export interface AxiomaticLevel {
  readonly level: ConstrainingLevel;
  readonly granularity: Granularity;
  /** The engine whose dialect its clients speak: what errors undo, and what a statement is said to read, is as there. */
  readonly speaksAs: Engine;
}

export function axiomaticProfile(level: AxiomaticLevel, options: EngineOptions): EngineProfile {
  return new AxiomaticProfile(level, options);
}

class AxiomaticProfile implements EngineProfile {
  readonly snapshotOf: StatementRules['snapshotOf'];
  readonly undoneBy: StatementRules['undoneBy'];
  readonly storage: AxiomaticStorage;
  readonly advisoryLocks: AdvisoryLocks;
  readonly recorder: Recorder;
  readonly pauses = false;
  /** Transactions under way. */
  #open = 0;
  #hasOverlapped = false;

  constructor(
    { level, granularity, speaksAs }: AxiomaticLevel,
    { decisions, footprints, transactionOf }: EngineOptions,
  ) {
    this.snapshotOf = speaksAs.snapshotOf;
    this.undoneBy = speaksAs.undoneBy;
    this.advisoryLocks = new AdvisoryLocks({
      footprints,
      transactionOf,
      deadlockVictim: 'last',
      waits: new WeighedWaits(),
    });
    this.storage = axiomaticStorage({ level, granularity, decisions });
    this.recorder = recorderOf(this.storage);
  }

  isolation(): IsolationName {
    return 'serializable';
  }

  setLevel(level: string): void {
    this.storage.setLevel(level);
  }

  begin(begun: BegunTransaction): StorageTransaction {
    this.#open += 1;
    if (begun.readsStrongly) return this.storage.beginStrong(begun.session);
    this.#hasOverlapped ||= this.#open > 1;
    return this.storage.begin(begun.session, begun);
  }

  /** Loading, which is serial, ends by itself when transactions have overlapped and none is open. */
  ended(): void {
    this.#open -= 1;
    if (this.#open === 0 && this.#hasOverlapped && this.storage.isLoading) this.storage.start();
  }

  // A generator because statements of other engines stop here.
  // oxlint-disable-next-line require-yield
  *statement(transaction: StorageTransaction): Waiting<StatementView> {
    return transaction.statement();
  }

  dependsOnWay(): DependsOnWay {
    return 'nothing';
  }

  keepsSnapshot(): void {}

  readonly isCopyable = false;

  copyFrom(): void {
    assert(false, 'what the axiomatic store holds is not copied');
  }

  lockSequence(): void {}

  decideBy(decisions: Decisions): void {
    this.storage.decideBy(decisions);
  }
}

/** The store knows its history: it is made of what the axioms constrain. */
function recorderOf(storage: AxiomaticStorage): Recorder {
  return {
    start: () => storage.start(),
    history: () => storage.history(),
    operationTimes: () => storage.operationTimes(),
    get now() {
      return storage.now;
    },
    undecidedConditions: () => [],
    onCatalogQuery: () => {},
    onDdl: () => {},
  };
}
