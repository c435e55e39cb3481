/** What a session has drawn from sequences: `currval` and `lastval` know no other. PostgreSQL manual, 9.17. */
import { SqlError } from '../../sql/model/index.ts';
import type { Instance } from '../instance/index.ts';
import type { SessionTransaction } from './session-transaction.ts';

export class DrawnSequences {
  readonly #instance: Instance;
  readonly #transaction: SessionTransaction;
  /** The last value, by the number of the sequence. */
  readonly #drawn = new Map<number, bigint>();
  #last: number | null = null;

  constructor(instance: Instance, transaction: SessionTransaction) {
    this.#instance = instance;
    this.#transaction = transaction;
  }

  /** @throws MustWait, after which the statement runs again */
  next(name: string): bigint {
    const { catalog, engine } = this.#instance;
    const sequence = catalog.sequence(name);
    engine.lockSequence(sequence.id, this.#transaction.open());
    const value = sequence.next();
    this.#drawn.set(sequence.id, value);
    this.#last = sequence.id;
    return value;
  }

  /** @param name `''`: the one that was drawn from last @throws SqlError 55000 */
  current(name: string): bigint {
    const id = name === '' ? this.#last : this.#instance.catalog.sequence(name).id;
    const value = id === null ? null : (this.#drawn.get(id) ?? null);
    if (value !== null) return value;
    throw name === ''
      ? new SqlError('55000', 'lastval is not yet defined in this session')
      : new SqlError('55000', `currval of sequence "${name}" is not yet defined in this session`);
  }

  set(name: string, value: bigint, isCalled: boolean): bigint {
    const sequence = this.#instance.catalog.sequence(name);
    sequence.set(value, isCalled);
    if (isCalled) this.#drawn.set(sequence.id, value);
    return value;
  }

  /** DISCARD SEQUENCES. */
  forget(): void {
    this.#drawn.clear();
    this.#last = null;
  }
}
