/** The level of a transaction and whether it only reads: what BEGIN, SET TRANSACTION and the defaults of its session say. */
import type { IsolationName, TransactionModes } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import type { Instance } from '../instance/index.ts';
import type { Settings } from '../settings/index.ts';

export class TransactionCharacteristics {
  readonly #instance: Instance;
  readonly #settings: Settings;
  #modes: TransactionModes = {};
  /** MySQL: SET TRANSACTION without a scope is for the next transaction only. */
  #nextModes: TransactionModes = {};

  constructor(instance: Instance, settings: Settings) {
    this.#instance = instance;
    this.#settings = settings;
  }

  get modes(): TransactionModes {
    return this.#modes;
  }

  get isolation(): IsolationName {
    return (
      this.#modes.isolation ?? this.#instance.engine.isolation(this.#settings.chosen('default_transaction_isolation'))
    );
  }

  get isReadOnly(): boolean {
    return (
      this.#modes.isReadOnly ??
      ['on', 'true', '1'].includes(this.#settings.get('default_transaction_read_only') ?? 'off')
    );
  }

  /** What is a setting of the transaction, which no SET statement of a session stores. */
  setting(name: string): string | undefined {
    if (/^(?:transaction|tx)[_ ]isolation/.test(name)) return this.isolation;
    if (!this.#instance.rules.modesOfOpen) return undefined;
    if (name === 'transaction_read_only') return this.isReadOnly ? 'on' : 'off';
    if (name === 'transaction_deferrable') return this.#modes.isDeferrable === true ? 'on' : 'off';
    return undefined;
  }

  /** A transaction begins. */
  begin(modes: TransactionModes): void {
    this.#modes = { ...this.#nextModes, ...modes };
    this.#nextModes = {};
  }

  /** The transaction is over. */
  end(): void {
    this.#modes = {};
  }

  /** SET TRANSACTION. @returns did it have an effect? @throws SqlError 25001 */
  set(modes: TransactionModes, transaction: TransactionInProgress): boolean {
    if (!this.#instance.rules.modesOfOpen) {
      if (transaction.status !== 'idle') throw modesInProgress();
      this.#nextModes = { ...this.#nextModes, ...modes };
      return true;
    }
    if (!transaction.isExplicit) return false;
    if (transaction.hasBegun && modes.isolation !== undefined && modes.isolation !== this.isolation)
      throw new SqlError('25001', 'SET TRANSACTION ISOLATION LEVEL must be called before any query');
    if (transaction.hasBegun && modes.isReadOnly === false && this.isReadOnly)
      throw new SqlError('25001', 'transaction read-write mode must be set before any query');
    this.#modes = { ...this.#modes, ...modes };
    return true;
  }

  /** RELEASE SAVEPOINT: READ ONLY ends with the savepoint that it was said in (CommitSubTransaction, xact.c). @param modes when the savepoint was set */
  release(modes: TransactionModes): void {
    const { isReadOnly: _ended, ...kept } = this.#modes;
    this.#modes = modes.isReadOnly === undefined ? kept : { ...kept, isReadOnly: modes.isReadOnly };
  }

  /** ROLLBACK TO SAVEPOINT. */
  backTo(modes: TransactionModes): void {
    this.#modes = modes;
  }
}

interface TransactionInProgress {
  readonly status: 'idle' | 'open' | 'failed';
  readonly isExplicit: boolean;
  readonly hasBegun: boolean;
}

function modesInProgress(): SqlError {
  return new SqlError('25001', "Transaction characteristics can't be changed while a transaction is in progress", {
    mysqlNumber: 1568,
  });
}
