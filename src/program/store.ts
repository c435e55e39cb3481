/** What a program runs against. A store answers at once; the scheduler decides when it is asked. */
import type { Key, Value } from '../history/index.ts';
import type { IsolationLevel } from '../isolation/index.ts';

/** What a program runs against. */
export interface Store {
  /** Opens a transaction at `level`, or at the store's own. Transactions of different sessions may be open at the same time. */
  begin(session: number, level?: IsolationLevel): StoreTransaction;
}

/** One open transaction. After `commit` or `abort` its calls throw. */
export interface StoreTransaction {
  /** The value that the store shows; `null` where the key was never written. */
  read(key: Key): Value;
  /** @throws InputError `history/value` for what JSON cannot carry */
  write(key: Key, value: unknown): void;
  /** `serialization-failure`: the transaction has left no trace; it may run again. */
  commit(): 'committed' | 'serialization-failure';
  /** Rolls it back. */
  abort(): void;
}

/** SQLSTATE 40001: the store could not commit without leaving its level. Run the transaction again. */
export class SerializationFailure extends Error {
  override readonly name = 'SerializationFailure';
  readonly code = '40001';

  constructor(session: string, attempts: number) {
    super(
      `could not serialize access: a transaction of session "${session}" was rolled back` +
        (attempts > 1 ? ` ${attempts} times` : '') +
        ' (40001); run it again',
    );
  }
}
