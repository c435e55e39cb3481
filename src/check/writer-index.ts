/**
 * Who wrote what: by value ID, the transactions that wrote the value and whether it was their last write to its key. Almost every value is
 * written once, so that one number says it; further writers of a value stand in chains beside.
 */
import {
  type CompactHistory,
  INITIAL,
  Int32Column,
  isEmptyList,
  operationKind,
  type TransactionIndex,
} from '../history/index.ts';

export interface Writer {
  readonly transaction: TransactionIndex;
  /** Did its transaction write the key last with this value? Always true of the initial state. */
  readonly isFinal: boolean;
}

export class WriterIndex {
  readonly #history: CompactHistory;
  /** By value: 2 * transaction + (is it final?), of its first writer; -1: none. */
  readonly #first: Int32Array;
  /** By value: the newest entry of its chain, which links to older ones; -1: none. Made when a value is written again. */
  #chain: Int32Array | null = null;
  readonly #entries = new Int32Column(16);
  readonly #older = new Int32Column(16);
  /** By key: 1 if any transaction wrote it. */
  readonly #isWritten: Uint8Array;

  constructor(history: CompactHistory) {
    this.#history = history;
    this.#first = new Int32Array(history.valueCount).fill(-1);
    const { kind, key, value, operationStart, transactionCount } = history;
    const writtenBy = new Int32Array(history.keyCount).fill(-1);
    const lastValue = new Int32Array(history.keyCount);
    for (let t = 0; t < transactionCount; t += 1) {
      const end = operationStart[t + 1];
      for (let o = operationStart[t]; o < end; o += 1) {
        if (kind[o] !== operationKind.write) continue;
        const k = key[o];
        const v = value[o];
        if (writtenBy[k] === t) this.#overwritten(lastValue[k], t);
        this.#written(v, t);
        writtenBy[k] = t;
        lastValue[k] = v;
      }
    }
    this.#isWritten = Uint8Array.from(writtenBy, (t) => (t < 0 ? 0 : 1));
  }

  /** Was any value written by two transactions? */
  get hasRepeatedValues(): boolean {
    return this.#chain !== null;
  }

  /**
   * 2 * transaction + (is it final?) of the one transaction but `reader` that may have written the value of `key`, -1: none did,
   * -2: the initial state, -3: there are several.
   */
  onlyWriterFor(reader: TransactionIndex, key: number, value: number): number {
    const first = this.#first[value];
    const isInitial = this.#isInitial(key, value);
    if (this.#chain !== null && this.#chain[value] !== -1) {
      const others = this.#writers(value).filter((writer) => writer >> 1 !== reader);
      if (others.length > (isInitial ? 0 : 1)) return -3;
      return isInitial ? -2 : (others[0] ?? -1);
    }
    const isOther = first !== -1 && first >> 1 !== reader;
    if (!isInitial) return isOther ? first : -1;
    return isOther ? -3 : -2;
  }

  /** As `onlyWriterFor`, of a writer that is recorded; -1: it did not write that. */
  recorded(from: TransactionIndex, key: number, value: number): number {
    if (from === INITIAL) return this.#isInitial(key, value) ? -2 : -1;
    const first = this.#first[value];
    if (first !== -1 && first >> 1 === from) return first;
    return this.#writers(value).find((writer) => writer >> 1 === from) ?? -1;
  }

  /** All that a read of `key` by `reader` may have seen the write of, but itself; the initial state first. */
  candidates(reader: TransactionIndex, key: number, value: number): Writer[] {
    const initial = this.#isInitial(key, value) ? [{ transaction: INITIAL, isFinal: true }] : [];
    const others = this.#writers(value).filter((writer) => writer >> 1 !== reader);
    return [...initial, ...others.map((writer) => ({ transaction: writer >> 1, isFinal: (writer & 1) === 1 }))];
  }

  isWrittenBy(t: TransactionIndex, value: number): boolean {
    return this.#writers(value).some((writer) => writer >> 1 === t);
  }

  /** A key that nothing wrote may be a list to which nothing was appended: what its clients saw is `[]`. */
  #isInitial(key: number, value: number): boolean {
    const { initialValue, names } = this.#history;
    const given = initialValue[key];
    if (given === value) return true;
    if (this.#isWritten[key] === 1) return false;
    return isEmptyList(names.value(value)) && names.value(given) === null;
  }

  /** In the order of transactions. */
  #writers(value: number): number[] {
    const first = this.#first[value];
    if (first === -1) return [];
    const later: number[] = [];
    for (let e = this.#chain?.[value] ?? -1; e !== -1; e = this.#older.array[e]) later.push(this.#entries.array[e]);
    return [first, ...later.toReversed()];
  }

  #written(value: number, t: TransactionIndex): void {
    const first = this.#first[value];
    if (first === -1 || first >> 1 === t) {
      this.#first[value] = 2 * t + 1;
      return;
    }
    this.#chain ??= new Int32Array(this.#history.valueCount).fill(-1);
    const newest = this.#chain[value];
    if (newest !== -1 && this.#entries.array[newest] >> 1 === t) {
      this.#entries.array[newest] = 2 * t + 1;
      return;
    }
    this.#chain[value] = this.#entries.length;
    this.#entries.push(2 * t + 1);
    this.#older.push(newest);
  }

  #overwritten(value: number, t: TransactionIndex): void {
    if (this.#first[value] >> 1 === t) {
      this.#first[value] = 2 * t;
      return;
    }
    const newest = this.#chain?.[value] ?? -1;
    this.#entries.array[newest] = 2 * t;
  }
}
