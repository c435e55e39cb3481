/**
 * Writes messages into one growing buffer: lengths are filled in when a message ends, text goes straight into place, so that a row costs no
 * allocation per field.
 */
import { WireError } from '../index.ts';

const initialBytes = 1 << 12;
/** Below this many bytes `take` copies and keeps its buffer; from here on it gives the buffer away. */
const giveAwayBytes = 1 << 15;
/** Up to this many characters a loop is faster than the call into the runtime. */
const shortText = 24;

export class MessageWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(initialBytes);
  #length = 0;
  /** Where the length of the message being written stands. */
  #lengthAt = 0;

  /** Bytes written and not taken. */
  get length(): number {
    return this.#length;
  }

  /** Begins a message of this type. */
  begin(type: number): void {
    this.uint8(type);
    this.beginUntyped();
  }

  /** Begins a packet of the start-up, which has no type. */
  beginUntyped(): void {
    this.#lengthAt = this.#length;
    this.#reserve(4);
    this.#length += 4;
  }

  /** Ends the message begun last. */
  end(): void {
    this.#buffer.writeInt32BE(this.#length - this.#lengthAt, this.#lengthAt);
  }

  /** Drops what has been written from `length` on: a message that could not be completed. */
  truncate(length: number): void {
    this.#length = length;
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  /** A count or format. @throws WireError over 65,535 */
  uint16(value: number): void {
    if (value > 0xffff) throw new WireError('limit', `${value} items are over the protocol's limit 65535`);
    this.#reserve(2);
    this.#length = this.#buffer.writeUInt16BE(value, this.#length);
  }

  int16(value: number): void {
    this.#reserve(2);
    this.#length = this.#buffer.writeInt16BE(value, this.#length);
  }

  int32(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeInt32BE(value, this.#length);
  }

  uint32(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeUInt32BE(value, this.#length);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  /** Text and a zero byte. @throws WireError the text has a zero character */
  cstring(text: string): void {
    if (text.includes('\0')) throw new WireError('malformed', 'a text in a message may not have a zero character');
    this.#text(text);
    this.uint8(0);
  }

  /** A value's length and text, as one field of a row. */
  textValue(text: string): void {
    const lengthAt = this.#length;
    this.#reserve(4);
    this.#length += 4;
    this.#text(text);
    this.#buffer.writeInt32BE(this.#length - lengthAt - 4, lengthAt);
  }

  /** A value's length and digits, as one field of a row. @param value a natural number below 2^31 */
  digitsValue(value: number): void {
    let digits = 1;
    for (let bound = 10; value >= bound; bound *= 10) digits += 1;
    this.#reserve(4 + digits);
    const at = this.#buffer.writeInt32BE(digits, this.#length);
    this.#length = at + digits;
    let rest = value;
    for (let i = this.#length - 1; i >= at; i -= 1) {
      const quotient = (rest / 10) | 0;
      this.#buffer[i] = 0x30 + rest - 10 * quotient;
      rest = quotient;
    }
  }

  /** A value's length and bytes; null is length -1. */
  value(bytes: Uint8Array | null): void {
    this.int32(bytes === null ? -1 : bytes.length);
    if (bytes !== null) this.bytes(bytes);
  }

  /** A copy of what has been written from `start` on. */
  since(start: number): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(start, this.#length));
  }

  /** What has been written since the last `take`. The bytes are the caller's: they do not change any more. */
  take(): Uint8Array {
    const written = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    if (written.length < giveAwayBytes) return Buffer.from(written);
    this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
    return written;
  }

  #text(text: string): void {
    this.#reserve(3 * text.length);
    if (text.length > shortText || !this.#shortAscii(text))
      this.#length += this.#buffer.write(text, this.#length, 'utf8');
  }

  #shortAscii(text: string): boolean {
    const buffer = this.#buffer;
    let at = this.#length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      buffer[at++] = code;
    }
    this.#length = at;
    return true;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
