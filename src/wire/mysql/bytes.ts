/** MySQL Internals, "Integer Types" and "String Types": little-endian integers, length-encoded integers and strings. */
import { WireError } from '../index.ts';

/** Reads one payload from front to back. Every read past the end is a WireError. */
export class ByteReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#offset;
  }

  peek(): number | undefined {
    return this.#bytes[this.#offset];
  }

  uint8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  uint16(): number {
    return this.#bytes.readUInt16LE(this.#take(2));
  }

  uint24(): number {
    return this.#bytes.readUIntLE(this.#take(3), 3);
  }

  uint32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  int8(): number {
    return this.#bytes.readInt8(this.#take(1));
  }

  int16(): number {
    return this.#bytes.readInt16LE(this.#take(2));
  }

  int32(): number {
    return this.#bytes.readInt32LE(this.#take(4));
  }

  int64(): bigint {
    return this.#bytes.readBigInt64LE(this.#take(8));
  }

  uint64(): bigint {
    return this.#bytes.readBigUInt64LE(this.#take(8));
  }

  float(): number {
    return this.#bytes.readFloatLE(this.#take(4));
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  /** A length-encoded integer; `0xFB` and `0xFF` are not lengths. */
  lengthEncoded(): bigint {
    const first = this.uint8();
    if (first < 0xfb) return BigInt(first);
    if (first === 0xfc) return BigInt(this.uint16());
    if (first === 0xfd) return BigInt(this.uint24());
    if (first === 0xfe) return this.uint64();
    throw new WireError('malformed', `a length cannot begin with byte ${first}`);
  }

  /** A view, not a copy. */
  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  rest(): Uint8Array {
    return this.bytes(this.left);
  }

  skip(length: number): void {
    this.#take(length);
  }

  lengthEncodedBytes(): Uint8Array {
    const length = this.lengthEncoded();
    if (length > BigInt(this.left)) throw endOfPayload(length, this.left);
    return this.bytes(Number(length));
  }

  lengthEncodedText(): string {
    return utf8(this.lengthEncodedBytes());
  }

  /** Up to and without a zero byte, which has to come. */
  zeroEndedBytes(): Uint8Array {
    const end = this.#bytes.indexOf(0, this.#offset);
    if (end < 0) throw new WireError('malformed', 'a text that should end with a zero byte does not end');
    const bytes = this.#bytes.subarray(this.#offset, end);
    this.#offset = end + 1;
    return bytes;
  }

  zeroEndedText(): string {
    return utf8(this.zeroEndedBytes());
  }

  /** As `zeroEndedText`; some clients and servers leave out the last zero of a payload. */
  zeroOrPayloadEndedText(): string {
    return this.#bytes.includes(0, this.#offset) ? this.zeroEndedText() : utf8(this.rest());
  }

  /** @throws WireError when something is left */
  end(): void {
    if (this.left > 0) throw new WireError('malformed', `${this.left} bytes too many at the end of a packet`);
  }

  #take(length: number): number {
    if (length > this.left) throw endOfPayload(length, this.left);
    const start = this.#offset;
    this.#offset += length;
    return start;
  }
}

function endOfPayload(wanted: number | bigint, left: number): WireError {
  return new WireError('malformed', `a packet ends too early: ${wanted} bytes wanted, ${left} left`);
}

export function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Writes one payload. Grows by doubling. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A view of what was written; nothing may be written after it. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  uint8(value: number): this {
    const at = this.#grow(1);
    this.#bytes.writeUInt8(value, at);
    return this;
  }

  uint16(value: number): this {
    const at = this.#grow(2);
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  uint24(value: number): this {
    const at = this.#grow(3);
    this.#bytes.writeUIntLE(value, at, 3);
    return this;
  }

  uint32(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeUInt32LE(value, at);
    return this;
  }

  int8(value: number): this {
    return this.uint8(value & 0xff);
  }

  int16(value: number): this {
    return this.uint16(value & 0xffff);
  }

  int32(value: number): this {
    return this.uint32(value >>> 0);
  }

  uint64(value: bigint): this {
    const at = this.#grow(8);
    this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), at);
    return this;
  }

  float(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeFloatLE(value, at);
    return this;
  }

  double(value: number): this {
    const at = this.#grow(8);
    this.#bytes.writeDoubleLE(value, at);
    return this;
  }

  lengthEncoded(value: number | bigint): this {
    if (value < 0xfb) return this.uint8(Number(value));
    if (value <= 0xffff) return this.uint8(0xfc).uint16(Number(value));
    if (value <= 0xffffff) return this.uint8(0xfd).uint24(Number(value));
    return this.uint8(0xfe).uint64(BigInt(value));
  }

  bytes(value: Uint8Array): this {
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  zeros(length: number): this {
    const at = this.#grow(length);
    this.#bytes.fill(0, at, at + length);
    return this;
  }

  text(value: string): this {
    const length = Buffer.byteLength(value);
    const at = this.#grow(length);
    this.#bytes.write(value, at, length, 'utf8');
    return this;
  }

  zeroEndedText(value: string): this {
    return this.text(value).uint8(0);
  }

  lengthEncodedBytes(value: Uint8Array): this {
    return this.lengthEncoded(value.length).bytes(value);
  }

  lengthEncodedText(value: string): this {
    return this.lengthEncoded(Buffer.byteLength(value)).text(value);
  }

  #grow(length: number): number {
    const at = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#length, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, at);
      this.#bytes = grown;
    }
    return at;
  }
}
