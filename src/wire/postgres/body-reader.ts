/** Reads the fields of one message. Manual, "Message Data Types": big-endian integers, text that ends with a zero byte. */
import { isUtf8 } from 'node:buffer';
import { WireError } from '../index.ts';

/** Every method throws WireError when the body ends too soon. */
export class BodyReader {
  readonly #body: Buffer;
  #offset = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  get remaining(): number {
    return this.#body.length - this.#offset;
  }

  uint8(): number {
    return this.#body.readUInt8(this.#take(1));
  }

  /** Counts and formats are read without a sign, as PostgreSQL does: a Bind may have 65,535 parameters. */
  uint16(): number {
    return this.#body.readUInt16BE(this.#take(2));
  }

  int16(): number {
    return this.#body.readInt16BE(this.#take(2));
  }

  int32(): number {
    return this.#body.readInt32BE(this.#take(4));
  }

  /** Object numbers. */
  uint32(): number {
    return this.#body.readUInt32BE(this.#take(4));
  }

  /** A view of the next bytes. */
  bytes(count: number): Buffer {
    const start = this.#take(count);
    return this.#body.subarray(start, this.#offset);
  }

  /** A view of all the bytes that are left. */
  rest(): Buffer {
    return this.bytes(this.remaining);
  }

  /** Text up to a zero byte. @throws WireError also when it is not UTF-8 */
  cstring(): string {
    if (this.#body[this.#offset] === 0) {
      this.#offset += 1;
      return '';
    }
    const end = this.#body.indexOf(0, this.#offset);
    if (end < 0) throw new WireError('malformed', 'a text in a message does not end');
    const bytes = this.#body.subarray(this.#offset, end);
    this.#offset = end + 1;
    return decodeUtf8(bytes);
  }

  /** A value of a row, a Bind or a function call: its length and bytes; length -1 is null. */
  value(): Buffer | null {
    const length = this.int32();
    if (length === -1) return null;
    if (length < 0) throw new WireError('malformed', `a value has the length ${length}`);
    return this.bytes(length);
  }

  /** So many items, each read by `read`. */
  list<T>(count: number, read: () => T): T[] {
    const items: T[] = [];
    for (let i = 0; i < count; i++) items.push(read());
    return items;
  }

  /** @throws WireError when bytes are left */
  end(): void {
    if (this.remaining > 0) throw new WireError('malformed', `a message has ${this.remaining} bytes too many`);
  }

  #take(count: number): number {
    const start = this.#offset;
    if (this.#body.length - start < count) throw new WireError('malformed', 'a message ends too soon');
    this.#offset = start + count;
    return start;
  }
}

/** @throws WireError `encoding` when the bytes are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new WireError('encoding', 'invalid byte sequence for encoding "UTF8"');
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString();
}
