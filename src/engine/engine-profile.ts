/**
 * What is in front of the rows of one engine: the rules that its sessions see. PostgreSQL (`postgres/profile.ts`), InnoDB (`innodb/profile.ts`) and the
 * store that does whatever a level of the axioms permits (`axiomatic/profile.ts`) have one each. The database asks its profile and knows no engine.
 */
import type { History } from '../history/index.ts';
import type { IsolationLevel } from '../isolation/index.ts';
import type { Decisions } from '../mockdb/index.ts';
import type { AccessChoice, CatalogQuery, IsolationName, QueryStatement, Table } from '../sql/index.ts';
import type { Storage, StorageTransaction, StatementView, TransactionOptions, Waiting } from '../sql/model/index.ts';
import type { AdvisoryLocks } from './advisory-locks.ts';
import type { FootprintRecorder } from './footprint.ts';

/** A kind of engine. */
export interface Engine extends StatementRules {
  /** Its levels that differ, weakest first. */
  readonly levels: readonly IsolationName[];
  /** The level of the axioms at which all histories of each level are. */
  readonly histories: Readonly<Record<IsolationName, IsolationLevel>>;
  /** That of transactions where no level is set. */
  readonly defaultIsolation: IsolationName;
  /** A new one, without tables. @param isolation of transactions that name none */
  readonly open: (isolation: IsolationName, options: EngineOptions) => EngineProfile;
}

/** What a statement reads, and what its failure undoes. */
export interface StatementRules {
  /** Whose snapshot a statement of this level reads. @param isPlainRead does it neither write nor lock rows? */
  readonly snapshotOf: (isolation: IsolationName, isPlainRead: boolean) => SnapshotOf;
  /** What an error undoes of a transaction that BEGIN has opened. */
  readonly undoneBy: (error: unknown) => UndoneByError;
}

export interface EngineProfile extends StatementRules {
  /** Where the catalog makes tables. */
  readonly storage: Storage;
  readonly advisoryLocks: AdvisoryLocks;
  /** What the history is made of. */
  readonly recorder: Recorder;
  /** Do statements stop where others could come in between on a real server? `pause.ts` lists the moments. */
  readonly pauses: boolean;

  /** The level of a transaction that names none. @param ofSession what the client has chosen for its session */
  isolation(ofSession: string | undefined): IsolationName;
  /** From now on, that of transactions that name none: a level of the axioms, or SQL's name. @throws InputError `option/isolation`, `level/unknown` */
  setLevel(level: string): void;

  /** Can a new profile of this engine `copyFrom` this one? Not while a transaction is open, and never what the axiomatic store holds. */
  readonly isCopyable: boolean;
  /** Takes the rows and the numbering of another profile, which `isCopyable`. Linear in the rows. */
  copyFrom(other: EngineProfile): void;

  begin(transaction: BegunTransaction): StorageTransaction;
  /** A transaction that `begin` has opened is over. */
  ended(): void;
  /** A statement begins: it has its snapshot, stops where the engine stops, and locks what the engine locks. */
  statement(transaction: StorageTransaction, statement: BegunStatement): Waiting<StatementView>;
  /** What depends on the way by which a statement reaches the rows of one table. */
  dependsOnWay(choice: AccessChoice, statement: QueryStatement, isolation: IsolationName): DependsOnWay;
  /** Others run while a statement keeps its snapshot. */
  keepsSnapshot(): void;
  /** A function draws from a sequence. @throws MustWait after which the statement runs again and has the lock */
  lockSequence(sequence: number, transaction: StorageTransaction): void;

  /** From here these decide what a read sees. */
  decideBy(decisions: Decisions): void;
}

export interface EngineOptions {
  /** Axiomatic: what each read sees. */
  readonly decisions: Decisions;
  /** See `EngineProfile.pauses`. */
  readonly pauses: boolean;
  /** May each that is on a cycle of waits and could be a server's victim be the victim of a deadlock? */
  readonly anyVictim: boolean;
  /** See `PostgresStorageOptions`. */
  readonly predicateReads: 'range' | 'index';
  /** See `ScanOrder` of PostgreSQL's tables. */
  readonly scanOrder: 'insertion' | 'heap';
  /** See `InnodbStorageOptions`. */
  readonly pageBegins: ReadonlySet<string> | undefined;
  readonly onPageBegin: ((record: string) => void) | undefined;
  /** Collects the footprint of every step. Axiomatic profiles record none. */
  readonly footprints: FootprintRecorder | null;
  /** Where a verdict holds under conditions: they are added here. */
  readonly takenForGranted: Set<string> | null;
  /** Reads and writes that are kept for the history. Default 1,000,000. */
  readonly operationsMax?: number | undefined;
  /** For the names of rows in histories. */
  readonly tableById: (id: number) => Table | undefined;
  /** The open transaction of a session; where there is none, the negative number of the session. */
  readonly transactionOf: (session: number) => number;
}

export interface BegunTransaction extends TransactionOptions {
  readonly session: number;
  /** One SELECT is all of it, which may lock rows. */
  readonly isOneSelect: boolean;
  /** It reads what a serializable observer of the end reads; for checkers. */
  readonly readsStrongly: boolean;
  /** Its session prepares the test: nothing is taken for granted of it. */
  readonly isSetUp: boolean;
  /** A setting of the session. */
  readonly setting: (name: string) => string | undefined;
}

export interface BegunStatement {
  readonly isolation: IsolationName;
  /** Of its transaction. */
  readonly isFirst: boolean;
  /** `null`: DDL. */
  readonly query: Pick<QueryStatement, 'isReadOnly' | 'command' | 'locksReads' | 'locksInScans'> | null;
}

/** `all until rollback`: the transaction is rolled back and stays failed until the client says so. */
export type UndoneByError = 'statement' | 'transaction' | 'all until rollback';

/** The snapshot of the statement, that of its transaction, or none: the latest versions. */
export type SnapshotOf = 'statement' | 'transaction' | 'none';

/** `locks`: what is locked, remembered or written, and the order of rows; `order`: that alone. */
export type DependsOnWay = 'locks' | 'order' | 'nothing';

/** When each operation of a history happened, by transaction and then by operation: times of the recorder, which counts what it records. */
export type OperationTimes = readonly (readonly number[])[];

export interface Recorder {
  /** What is stored now is the initial state: the history begins here. */
  start(): void;
  /** What happened since the start; sessions are named by their numbers. @throws SqlError 54000 too much for one history */
  history(): History;
  /** For each operation of the history's transactions the time at which it happened. */
  operationTimes(): OperationTimes;
  /** The present time: it counts what was recorded since the start, so an operation of a statement is later than the end of the one before it. */
  readonly now: number;
  /** Conditions that may have missed rows, which could not be decided: the history says nothing of them. */
  undecidedConditions(): readonly string[];
  onCatalogQuery(transaction: number, session: number, query: CatalogQuery): void;
  /** A session has run DDL, or found the name taken. */
  onDdl(transaction: number, session: number, outcome: 'made' | 'refused'): void;
}
