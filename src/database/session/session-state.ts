/** The data of one session, but for its transaction. */
import { type ConnectOptions, DeferredChecks, temporarySchema } from '../../sql/index.ts';
import type { Instance } from '../instance/index.ts';
import { Settings } from '../settings/index.ts';
import { StatementWatch } from './statement-event.ts';

export class SessionState {
  readonly id: number;
  /** Where its temporary tables are, if it has any. */
  readonly temporarySchema: string;
  readonly options: ConnectOptions;
  readonly settings: Settings;
  /** The name by which the client calls the database it is in: USE changes it. */
  database: string;
  /** Of the last statement, for the functions that ask. */
  lastInsertId = 0n;
  /** What the statement under way gave LAST_INSERT_ID() to remember. */
  givenInsertId: bigint | null = null;
  foundRows = 0n;
  rowCount = 0n;
  statementTime = 0n;
  readonly startTime: bigint;
  /** Reads what a serializable observer of the end reads; for checkers. */
  readsStrongly = false;
  isClosed = false;
  readonly watch: StatementWatch;
  readonly deferred = new DeferredChecks();

  constructor(id: number, instance: Instance, options: ConnectOptions) {
    this.id = id;
    this.temporarySchema = temporarySchema(id);
    this.options = options;
    this.startTime = instance.clock();
    this.settings = new Settings(instance, options.parameters, options.onParameter);
    this.watch = new StatementWatch(instance.dialect);
    this.database = options.database;
  }
}
