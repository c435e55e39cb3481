/** The savepoints of one transaction, newest last. */
import { type DeferralMark, type Dialect, SqlError, type TransactionModes } from '../sql/index.ts';
import type { SettingsMark } from './settings.ts';

export interface Savepoint {
  readonly name: string;
  /** What `StorageTransaction.savepoint` gave. */
  readonly mark: number;
  /** How many changes of the catalog had been made. */
  readonly definitions: number;
  readonly settings: SettingsMark;
  /** PostgreSQL: what SET TRANSACTION says after it is taken back with it. */
  readonly modes: TransactionModes;
  readonly deferral: DeferralMark;
  /** How many advisory locks the transaction had. */
  readonly locks: number;
}

export class Savepoints {
  readonly #dialect: Dialect;
  readonly #list: Savepoint[] = [];

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  get newest(): Savepoint | undefined {
    return this.#list.at(-1);
  }

  /** In PostgreSQL a savepoint hides an older one of its name; in MySQL it takes its place. */
  add(savepoint: Savepoint): void {
    const at = this.#dialect === 'mysql' ? this.#position(savepoint.name) : -1;
    if (at >= 0) this.#list.splice(at, 1);
    this.#list.push(savepoint);
  }

  /** It stays; those after it go. @throws SqlError 3B001, MySQL's 1305 */
  backTo(name: string): Savepoint {
    const at = this.#known(name);
    this.#list.length = at + 1;
    return this.#list[at] as Savepoint;
  }

  /** It goes with those after it. @throws SqlError 3B001, MySQL's 1305 */
  release(name: string): Savepoint {
    const at = this.#known(name);
    const [released] = this.#list.splice(at);
    return released as Savepoint;
  }

  clear(): void {
    this.#list.length = 0;
  }

  #known(name: string): number {
    const at = this.#position(name);
    if (at >= 0) return at;
    throw this.#dialect === 'postgres'
      ? new SqlError('3B001', `savepoint "${name}" does not exist`)
      : new SqlError('42000', `SAVEPOINT ${name} does not exist`, { mysqlNumber: 1305 });
  }

  /** MySQL does not tell capital letters from small ones. */
  #position(name: string): number {
    const same = this.#dialect === 'mysql' ? name.toLowerCase() : name;
    return this.#list.findLastIndex(
      (each) => (this.#dialect === 'mysql' ? each.name.toLowerCase() : each.name) === same,
    );
  }
}
