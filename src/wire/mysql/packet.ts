/**
 * MySQL Internals, "MySQL Packets": 3 bytes length, 1 byte sequence number, then the payload. A payload of 16 MiB - 1 or more is cut; the
 * piece that is shorter than that, maybe empty, is the last.
 */
import { WireError } from '../index.ts';

export interface Packet {
  /** Of its last piece. The peer's answer begins with the next number. */
  readonly sequence: number;
  /** The sequence number of its first piece: 0 begins a command. */
  readonly firstSequence: number;
  readonly payload: Uint8Array;
}

export interface PacketReaderOptions {
  /** Bytes of one payload; max_allowed_packet. Default 16 MiB. */
  readonly packetBytesMax?: number;
}

const pieceBytesMax = 0xff_ffff;
/** Before every payload: its length and its number. */
export const packetHeaderBytes = 4;

/** Cuts a stream into packets; it does not matter where the chunks are cut. O(bytes). */
export class PacketReader {
  /** Bytes of one payload. */
  packetBytesMax: number;
  /** Not looked at yet, in order. */
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Pieces of the payload that is being read. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #firstSequence: number | null = null;
  #sequence = -1;
  /** Of the piece whose header was read. */
  #length: number | null = null;

  constructor(options: PacketReaderOptions = {}) {
    this.packetBytesMax = options.packetBytesMax ?? 16 * 1024 * 1024;
  }

  /** The sequence number after the last header that was seen: that of an answer to a packet that is refused. */
  get nextSequence(): number {
    return (this.#sequence + 1) & 0xff;
  }

  /** Bytes that wait for the rest of their packet. */
  get bufferedBytes(): number {
    return this.#bytes + this.#pieceBytes;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#bytes += chunk.length;
  }

  /** The next packet that is complete. @throws WireError `limit` as soon as a header says so */
  next(): Packet | undefined {
    for (;;) {
      if (this.#length === null) {
        if (this.#bytes < packetHeaderBytes) return undefined;
        const header = this.#take(packetHeaderBytes);
        this.#length = this.#checkHeader(header.readUIntLE(0, 3), header.readUInt8(3));
      }
      if (this.#bytes < this.#length) return undefined;
      const piece = this.#take(this.#length);
      this.#length = null;
      this.#pieces.push(piece);
      this.#pieceBytes += piece.length;
      if (piece.length < pieceBytesMax) return this.#finish();
    }
  }

  #checkHeader(length: number, sequence: number): number {
    const expected = this.nextSequence;
    const isContinuation = this.#firstSequence !== null;
    this.#sequence = sequence;
    this.#firstSequence ??= sequence;
    if (isContinuation && sequence !== expected)
      throw new WireError('malformed', `packet ${sequence} came instead of ${expected}`);
    const bytes = this.#pieceBytes + length;
    if (bytes > this.packetBytesMax)
      throw new WireError('limit', `a packet of ${bytes} bytes or more; the limit is ${this.packetBytesMax}`);
    return length;
  }

  #finish(): Packet {
    const [first] = this.#pieces;
    const payload = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    const firstSequence = this.#firstSequence ?? this.#sequence;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#firstSequence = null;
    return { sequence: this.#sequence, firstSequence, payload };
  }

  /** The first `length` bytes; there are so many. Joins chunks once for each piece. */
  #take(length: number): Buffer {
    this.#bytes -= length;
    const taken: Buffer[] = [];
    let left = length;
    let chunks = 0;
    for (const chunk of this.#chunks) {
      if (left === 0) break;
      const part = chunk.subarray(0, left);
      taken.push(part);
      left -= part.length;
      if (part.length < chunk.length) this.#chunks[chunks] = chunk.subarray(part.length);
      else chunks++;
    }
    this.#chunks.splice(0, chunks);
    const [first] = taken;
    return taken.length === 1 && first !== undefined ? first : Buffer.concat(taken);
  }
}

/** The packets of one payload; the first has number `sequence`. @returns also the number after the last */
export function encodePacket(payload: Uint8Array, sequence: number): { bytes: Uint8Array; nextSequence: number } {
  const pieces: Uint8Array[] = [];
  let number = sequence;
  for (let start = 0; ; start += pieceBytesMax) {
    const piece = payload.subarray(start, start + pieceBytesMax);
    const header = Buffer.allocUnsafe(packetHeaderBytes);
    header.writeUIntLE(piece.length, 0, 3);
    header.writeUInt8(number, 3);
    pieces.push(header, piece);
    number = (number + 1) & 0xff;
    if (piece.length < pieceBytesMax) break;
  }
  return { bytes: Buffer.concat(pieces), nextSequence: number };
}
