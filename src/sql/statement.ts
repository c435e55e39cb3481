/** A statement, parsed and planned against the catalog: what the session runs. */
import type { Notice, ResultColumn } from './session.ts';
import type { SqlError, StatementView, TableId, TableLockMode, Waiting, SqlType, SqlValue } from './model/index.ts';
import type { Execution } from './execution.ts';

export type Statement =
  | QueryStatement
  | DdlStatement
  | LockTableStatement
  | TransactionStatement
  | SettingStatement
  | NamedStatement
  | EmptyStatement;

/** A lock on a table that a statement takes before it runs, in the order of the list. */
export interface TableLock {
  readonly table: TableId;
  readonly mode: TableLockMode;
  readonly ifLocked: 'wait' | 'error';
}

/** A name that a DDL statement enters into a unique index of the catalog: its transaction holds it exclusively until it ends. */
export interface NewName {
  readonly index: string;
  readonly name: string;
  /** Is it in the index? As far as the session sees. */
  readonly isTaken: () => boolean;
  /** After the statement has found the name free it looks again, in this order, before it enters it. */
  readonly looks: readonly NameLook[];
  /** Another transaction has entered it, and is open. */
  readonly ifEntered: 'wait' | 'choose another';
}

export interface NameLook {
  readonly isTaken: () => boolean;
  readonly error: () => SqlError;
}

/** SELECT, VALUES, INSERT, UPDATE, DELETE, EXPLAIN...: reads and writes rows. Valid for one version of the catalog. */
export interface QueryStatement {
  readonly kind: 'query';
  readonly command: string;
  readonly parameterTypes: readonly SqlType[];
  readonly columns: readonly ResultColumn[] | null;
  /** Does it write or lock? Not allowed in read-only transactions (25006). */
  readonly isReadOnly: boolean;
  /** An UPDATE or DELETE of a table that is joined with others, or an INSERT of VALUES: InnoDB locks what it only reads at every level. */
  readonly locksReads?: boolean;
  /** Scans lock the rows of a locking clause as they read them. */
  readonly locksInScans?: boolean;
  /** MySQL's TRUNCATE is DDL: it commits before and after. */
  readonly commitsAround?: boolean;
  /** It cannot be planned: all that it does is to lock its tables, and to fail with this. */
  readonly refusal?: SqlError;
  readonly catalogVersion: number;
  /** Does it depend on nothing of its catalog but what a catalog with the same schema has as well? Then a database with such a catalog may run it. */
  readonly isShareable: boolean;
  /** Where a server may read a table in more than one way. */
  readonly accesses: readonly AccessChoice[];
  readonly locks: () => readonly TableLock[];
  readonly run: (execution: Execution, view: StatementView) => Waiting<QueryOutcome>;
}

/** The way in which a statement reads a table, where a server may choose another. */
export interface AccessChoice {
  readonly table: string;
  /** `by index accounts_owner`, `as a whole`. */
  readonly taken: string;
  /** Its position among those that there are: 0 is the likely one. */
  readonly way: number;
  /** How many there are. */
  readonly ways: number;
  /** Does it lock what it reads on the way? */
  readonly locks: boolean;
  /** Does it decide about rows alone that have changed while the statement waited for them? */
  readonly isForRecheck?: boolean;
}

export interface QueryOutcome {
  readonly rows: readonly (readonly SqlValue[])[];
  readonly rowCount: number;
  readonly foundRows: number;
  readonly insertId: bigint;
  /** Is it one that LAST_INSERT_ID() remembers? */
  readonly hasDrawn?: boolean;
  /** Do its aggregates, without GROUP BY, come from no row? Default: false. */
  readonly metNoRow?: boolean;
}

/** CREATE, ALTER, DROP, TRUNCATE, COMMENT...: changes the catalog; `run` gives back how to undo it. */
export interface DdlStatement {
  readonly kind: 'ddl';
  readonly command: string;
  /** CREATE TEMPORARY TABLE, DROP of `pg_temp` tables: MySQL commits nothing for it. */
  readonly isTemporary: boolean;
  /** What refuses it inside a transaction block: `CREATE INDEX CONCURRENTLY`. */
  readonly outsideBlocks: string | null;
  /** By the catalog as it is now. */
  readonly locks: () => readonly TableLock[];
  readonly names: () => readonly NewName[];
  /** CREATE TABLE makes its name before it locks the tables that it refers to; all else locks tables first. */
  readonly makesNamesFirst: boolean;
  readonly run: (execution: Execution, view: StatementView) => Waiting<DdlOutcome>;
}

/** LOCK TABLE: takes its locks and no snapshot. */
export interface LockTableStatement {
  readonly kind: 'lock';
  readonly command: string;
  readonly locks: () => readonly TableLock[];
  readonly catalogVersion: number;
}

export interface DdlOutcome {
  readonly undo: () => void;
  /** What CommandComplete says, where that is not the command. */
  readonly tag?: string;
  readonly rowCount: number;
  readonly notices: readonly Notice[];
}

/** A level by its name in SQL. */
export type IsolationName = 'read uncommitted' | 'read committed' | 'repeatable read' | 'serializable';

export interface TransactionModes {
  readonly isolation?: IsolationName;
  readonly isReadOnly?: boolean;
  /** PostgreSQL: a serializable transaction that only reads waits for a snapshot with which it can neither fail nor make others fail. */
  readonly isDeferrable?: boolean;
  /** MySQL's WITH CONSISTENT SNAPSHOT: the snapshot is taken at once, not by the first read. */
  readonly takesSnapshot?: boolean;
}

export type TransactionStatement = { readonly kind: 'transaction'; readonly command: string } & (
  | { readonly what: 'begin'; readonly modes: TransactionModes }
  | { readonly what: 'commit'; readonly andChain: boolean }
  | { readonly what: 'rollback'; readonly andChain: boolean }
  | { readonly what: 'savepoint' | 'release' | 'rollback to'; readonly name: string }
  /** `transaction`: this one (PostgreSQL) or the next one (MySQL); `session`: all from now on. */
  | { readonly what: 'modes'; readonly scope: 'transaction' | 'session'; readonly modes: TransactionModes }
);

export type SettingStatement = { readonly kind: 'setting'; readonly command: string } & (
  | { readonly what: 'set'; readonly isLocal: boolean; readonly name: string; readonly value: string | null }
  /** MySQL's SET a = 1, b = 2 and SET NAMES, in order. */
  | {
      readonly what: 'set all';
      readonly settings: readonly { readonly name: string; readonly value: string | null }[];
    }
  | { readonly what: 'show'; readonly name: string; readonly columns: readonly ResultColumn[] }
  /** SET CONSTRAINTS; `null`: ALL. A name as written, with its schema where it has one. */
  | {
      readonly what: 'constraints';
      readonly names: readonly (readonly string[])[] | null;
      readonly isDeferred: boolean;
    }
  /** DISCARD, LISTEN: accepted, with this tag. */
  | { readonly what: 'nothing' }
);

/** PREPARE, EXECUTE, DEALLOCATE: the session keeps statements by name. */
export type NamedStatement = { readonly kind: 'named'; readonly command: string } & (
  | { readonly what: 'prepare'; readonly name: string; readonly inner: Statement }
  /** MySQL: the statement is a string, or what the setting of this name has. */
  | { readonly what: 'prepare text'; readonly name: string; readonly text: string; readonly setting: string | null }
  | {
      readonly what: 'execute';
      readonly name: string;
      /** The parameters, of the types that the statement wants. @throws SqlError 42601, 42804 and what computing them meets */
      readonly values: (types: readonly SqlType[], execution: Execution) => SqlValue[];
    }
  /** `null`: all. */
  | { readonly what: 'deallocate'; readonly name: string | null }
);

export interface EmptyStatement {
  readonly kind: 'empty';
}
