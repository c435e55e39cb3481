/**
 * Cuts a stream of PostgreSQL's protocol 3 into frames. Manual, "Message Flow" and "Message Formats": a type byte, an int32 length that
 * counts itself, the body; a packet of the start-up has no type byte; the answer to an SSLRequest is one byte. Which of the three comes next
 * is known only to who understands the messages before, so the reader says what it takes.
 *
 * Frames are views. A view is never overwritten: the bytes of an incomplete frame are appended to, or copied to a larger buffer. Each byte
 * is copied O(1) times, however small the chunks.
 */
import { WireError } from '../index.ts';

export interface FrameLimits {
  /** Largest frame in bytes, with its length but without its type; default 16 MiB. */
  readonly frameBytesMax?: number;
  /** Largest frame of a client that has not logged in; default 65,535, as PostgreSQL's PG_MAX_AUTH_TOKEN_LENGTH. */
  readonly loginBytesMax?: number;
  /** Largest packet of the start-up in bytes; default 10,000, as PostgreSQL's MAX_STARTUP_PACKET_LENGTH. */
  readonly startupBytesMax?: number;
}

export interface Frame {
  /** The character code of the type byte. */
  readonly type: number;
  readonly body: Buffer;
}

const lengthBytes = 4;
const ownedBytesMin = 1 << 12;

/** Of what comes next. */
interface AllowedSizes {
  readonly bytesMin: number;
  readonly bytesMax: number;
  readonly limit: string;
}

export class FrameSplitter {
  readonly #frameSizes: AllowedSizes;
  readonly #loginSizes: AllowedSizes;
  readonly #startupSizes: AllowedSizes;
  /** Bytes from `#start` to `#end` have come and are not taken. After `#end` there is room when the buffer is our own. */
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #isOwned = false;

  constructor(limits: FrameLimits = {}) {
    const { frameBytesMax = 1 << 24, loginBytesMax = 65_535, startupBytesMax = 10_000 } = limits;
    this.#frameSizes = { bytesMin: lengthBytes, bytesMax: frameBytesMax, limit: 'frameBytesMax' };
    this.#loginSizes = { bytesMin: lengthBytes, bytesMax: loginBytesMax, limit: 'loginBytesMax' };
    this.#startupSizes = { bytesMin: 2 * lengthBytes, bytesMax: startupBytesMax, limit: 'startupBytesMax' };
  }

  /** Bytes that have come and are not taken. */
  get bufferedBytes(): number {
    return this.#end - this.#start;
  }

  /** The type of the next frame, as soon as its first byte has come. */
  get nextType(): number | undefined {
    return this.bufferedBytes === 0 ? undefined : this.#buffer[this.#start];
  }

  /** Keeps a view of `chunk` where it can. */
  push(chunk: Uint8Array): void {
    const pending = this.bufferedBytes;
    if (pending === 0) {
      this.#buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.#start = 0;
      this.#isOwned = false;
    } else if (!this.#isOwned || this.#buffer.length - this.#end < chunk.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * (pending + chunk.length), ownedBytesMin));
      this.#buffer.copy(larger, 0, this.#start, this.#end);
      larger.set(chunk, pending);
      this.#buffer = larger;
      this.#start = 0;
      this.#isOwned = true;
    } else {
      this.#buffer.set(chunk, this.#end);
    }
    this.#end = this.#start + pending + chunk.length;
  }

  /** The next frame, when all of it has come. @throws WireError its length is impossible or over the limit */
  takeFrame(): Frame | undefined {
    return this.#takeTyped(this.#frameSizes);
  }

  /** The same of a client that has not logged in. @throws WireError its length is impossible or over the limit */
  takeLoginFrame(): Frame | undefined {
    return this.#takeTyped(this.#loginSizes);
  }

  /** The body of the next packet of the start-up, when all of it has come. @throws WireError its length is impossible or over the limit */
  takeStartup(): Buffer | undefined {
    if (this.bufferedBytes < lengthBytes) return undefined;
    return this.#takeBody(0, this.#startupSizes);
  }

  /** One byte: the answer to SSLRequest and GSSENCRequest. */
  takeByte(): number | undefined {
    return this.bufferedBytes === 0 ? undefined : this.#buffer[this.#start++];
  }

  #takeTyped(allowed: AllowedSizes): Frame | undefined {
    if (this.bufferedBytes < 1 + lengthBytes) return undefined;
    const type = this.#buffer[this.#start] as number;
    const body = this.#takeBody(1, allowed);
    return body && { type, body };
  }

  #takeBody(typeBytes: 0 | 1, allowed: AllowedSizes): Buffer | undefined {
    const length = this.#buffer.readInt32BE(this.#start + typeBytes);
    if (length < allowed.bytesMin || length > allowed.bytesMax) throw this.#wrongLength(typeBytes, length, allowed);
    if (this.bufferedBytes < typeBytes + length) return undefined;
    const bodyStart = this.#start + typeBytes + lengthBytes;
    this.#start += typeBytes + length;
    return this.#buffer.subarray(bodyStart, this.#start);
  }

  #wrongLength(typeBytes: 0 | 1, length: number, { bytesMin, bytesMax, limit }: AllowedSizes): WireError {
    const type = this.#buffer[this.#start] as number;
    const name = typeBytes === 0 ? 'a start-up packet' : `a frame of type ${describeType(type)}`;
    if (length < bytesMin) return new WireError('malformed', `${name} has the length ${length}`);
    return new WireError('limit', `${name} of ${length} bytes is over the limit ${limit} = ${bytesMax}`);
  }
}

/** The bytes of a frame, as they came. */
export function frameBytes({ type, body }: Frame): Uint8Array {
  return Buffer.concat([Uint8Array.of(type), startupBytes(body)]);
}

/** The same of a packet of the start-up, which has no type. */
export function startupBytes(body: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(body.length + lengthBytes);
  bytes.writeInt32BE(body.length + lengthBytes);
  bytes.set(body, lengthBytes);
  return bytes;
}

/** `'Q'`, or the number when it is no letter. */
export function describeType(type: number): string {
  const isLetter = (type >= 65 && type <= 90) || (type >= 97 && type <= 122) || (type >= 48 && type <= 57);
  return isLetter ? `'${String.fromCharCode(type)}'` : String(type);
}
