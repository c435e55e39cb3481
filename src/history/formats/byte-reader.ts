/** Reads a binary format from bytes that are all at hand; every error says the offset. */
import { InputError } from '../../base/index.ts';

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #file: string;
  at = 0;

  /** @param file for errors */
  constructor(bytes: Uint8Array, file: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#file = file;
  }

  get isAtEnd(): boolean {
    return this.at === this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  /** @param littleEndian the order of the bytes */
  unsigned64(littleEndian: boolean): bigint {
    return this.#view.getBigUint64(this.#take(8), littleEndian);
  }

  signed64(littleEndian: boolean): bigint {
    return this.#view.getBigInt64(this.#take(8), littleEndian);
  }

  /** A count of things that take some bytes each: it cannot be more than what is left. */
  count(bytesEach: number): number {
    const begin = this.at;
    const count = this.unsigned64(true);
    const left = this.#bytes.length - this.at;
    if (count * BigInt(bytesEach) <= BigInt(left)) return Number(count);
    throw this.error(
      'history/truncated',
      `${count} things follow of at least ${bytesEach} bytes, and ${left} bytes`,
      begin,
    );
  }

  text(): string {
    const length = this.count(1);
    const begin = this.#take(length);
    return new TextDecoder().decode(this.#bytes.subarray(begin, begin + length));
  }

  error(code: string, message: string, offset = this.at): InputError {
    return new InputError(code, `at byte ${offset}: ${message}`, { file: this.#file });
  }

  #take(count: number): number {
    const begin = this.at;
    if (begin + count > this.#bytes.length)
      throw this.error('history/truncated', `the file ends where ${count} more bytes should stand`, this.#bytes.length);
    this.at = begin + count;
    return begin;
  }
}
