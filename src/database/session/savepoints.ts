/** The savepoints of one transaction, newest last. */
import type { DeferralMark, TransactionModes } from '../../sql/index.ts';
import type { SessionRules } from '../dialect/index.ts';
import type { SettingsMark } from '../settings/index.ts';

export interface Savepoint {
  readonly name: string;
  /** What `StorageTransaction.savepoint` gave. */
  readonly mark: number;
  /** What `DdlUndoLog.mark` gave. */
  readonly ddl: number;
  readonly settings: SettingsMark;
  /** PostgreSQL: a later SET TRANSACTION is rolled back with the savepoint. */
  readonly modes: TransactionModes;
  readonly deferral: DeferralMark;
  /** How many advisory locks the transaction had. */
  readonly locks: number;
}

export class Savepoints {
  readonly #rules: SessionRules;
  readonly #list: Savepoint[] = [];

  constructor(rules: SessionRules) {
    this.#rules = rules;
  }

  get newest(): Savepoint | undefined {
    return this.#list.at(-1);
  }

  add(savepoint: Savepoint): void {
    const at = this.#rules.replacesSameName ? this.#position(savepoint.name) : -1;
    if (at >= 0) this.#list.splice(at, 1);
    this.#list.push(savepoint);
  }

  /** Removes those after it. @throws SqlError 3B001, MySQL's 1305 */
  backTo(name: string): Savepoint {
    const at = this.#known(name);
    this.#list.length = at + 1;
    return this.#list[at] as Savepoint;
  }

  /** Removes it and those after it. @throws SqlError 3B001, MySQL's 1305 */
  release(name: string): Savepoint {
    const at = this.#known(name);
    const [released] = this.#list.splice(at);
    return released as Savepoint;
  }

  #known(name: string): number {
    const at = this.#position(name);
    if (at >= 0) return at;
    throw this.#rules.noSavepoint(name);
  }

  #position(name: string): number {
    const { keyOf } = this.#rules;
    const key = keyOf(name);
    return this.#list.findLastIndex((each) => keyOf(each.name) === key);
  }
}
