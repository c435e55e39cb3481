/**
 * Operations that say which transaction they belong to, in any mixture, put together into transactions. Transactions stand in the order in
 * which they first appear; so do the operations of each. Columns, for some hundred million operations.
 */
import { CompactHistoryBuilder, type TransactionDetails } from '../compact-builder.ts';
import type { CompactHistory } from '../compact-history.ts';
import { Int32Column, Uint8Column } from '../growing-column.ts';

export class GatheredTransactions {
  readonly builder = new CompactHistoryBuilder();
  readonly #session = new Int32Column();
  readonly #details: TransactionDetails[] = [];
  readonly #transaction = new Int32Column();
  readonly #isWrite = new Uint8Column();
  readonly #key = new Int32Column();
  readonly #value = new Int32Column();

  /** @returns what `add` takes */
  begin(session: number, details: TransactionDetails): number {
    this.#session.push(session);
    this.#details.push(details);
    return this.#details.length - 1;
  }

  add(transaction: number, isWrite: boolean, key: number, value: number): void {
    this.#transaction.push(transaction);
    this.#isWrite.push(isWrite ? 1 : 0);
    this.#key.push(key);
    this.#value.push(value);
  }

  /** @param isInitial by transaction: those that are left out, because they are the initial state */
  finish(isInitial: (transaction: number) => boolean = () => false): CompactHistory {
    const count = this.#details.length;
    const { start, operation } = this.#byTransaction(count);
    for (let t = 0; t < count; t += 1) {
      if (isInitial(t)) continue;
      for (let i = start[t] as number; i < (start[t + 1] as number); i += 1) {
        const o = operation[i] as number;
        const [key, value] = [this.#key.array[o] as number, this.#value.array[o] as number];
        if (this.#isWrite.array[o] === 1) this.builder.write(key, value);
        else this.builder.read(key, value);
      }
      this.builder.endTransaction(this.#session.array[t] as number, this.#details[t]);
    }
    return this.builder.finish();
  }

  #byTransaction(count: number): { start: Int32Array; operation: Int32Array } {
    const start = new Int32Array(count + 1);
    const { length, array } = this.#transaction;
    for (let o = 0; o < length; o += 1) {
      const t = (array[o] as number) + 1;
      start[t] = (start[t] as number) + 1;
    }
    for (let t = 0; t < count; t += 1) start[t + 1] = (start[t + 1] as number) + (start[t] as number);
    const next = start.slice(0, count);
    const operation = new Int32Array(length);
    for (let o = 0; o < length; o += 1) {
      const t = array[o] as number;
      const at = next[t] as number;
      operation[at] = o;
      next[t] = at + 1;
    }
    return { start, operation };
  }
}
