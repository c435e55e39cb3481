/**
 * Two streams, each giving what is written to the other: a connection without a socket, for clients in the same process. A side that reads
 * slowly makes the other's writes wait. When one side is destroyed, the other reads the end, and fails when it writes on, as sockets do.
 */
import { Duplex } from 'node:stream';

/** One end. It also has what drivers call on a `net.Socket`; none of that has an effect here. */
export interface DuplexEnd extends Duplex {
  readonly readyState: 'open' | 'closed' | 'readOnly' | 'writeOnly';
  /** Emits `connect`, soon. */
  connect(): this;
  setNoDelay(): this;
  setKeepAlive(): this;
  setTimeout(): this;
  ref(): this;
  unref(): this;
}

/** @returns the client's end, which ends when the other has, as sockets of `net.connect` do, and the server's. @param highWaterMark bytes that each direction holds before writes wait; default 64 KiB */
export function duplexPair(highWaterMark = 1 << 16): [DuplexEnd, DuplexEnd] {
  const left = new End({ highWaterMark, allowHalfOpen: false });
  const right = new End({ highWaterMark, allowHalfOpen: true });
  left.peer = right;
  right.peer = left;
  return [left, right];
}

type WriteCallback = (error?: Error | null) => void;

class End extends Duplex implements DuplexEnd {
  peer: End | null = null;
  /** Continues the peer's write, which waits until this side has read. */
  #continuePeer: WriteCallback | null = null;
  #hasEndedPeer = false;

  get readyState(): 'open' | 'closed' | 'readOnly' | 'writeOnly' {
    if (this.readable) return this.writable ? 'open' : 'readOnly';
    return this.writable ? 'writeOnly' : 'closed';
  }

  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    this.#settle();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, callback: WriteCallback): void {
    this.#deliver(chunk, callback);
  }

  /** What was written while corked comes in one piece, as over a socket. */
  override _writev(chunks: { readonly chunk: Uint8Array }[], callback: WriteCallback): void {
    this.#deliver(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback);
  }

  override _final(callback: WriteCallback): void {
    this.#endPeer();
    callback();
  }

  override _destroy(error: Error | null, callback: WriteCallback): void {
    this.#settle(hungUp());
    this.#endPeer();
    callback(error);
  }

  /** Not within the call of `write`: a client does not expect the answer before its request is sent. */
  #deliver(chunk: Uint8Array, callback: WriteCallback): void {
    queueMicrotask(() => {
      const { peer } = this;
      if (peer === null || peer.destroyed) callback(hungUp());
      else if (peer.push(chunk)) callback();
      else peer.#continuePeer = callback;
    });
  }

  /** After what is on its way. */
  #endPeer(): void {
    if (this.#hasEndedPeer) return;
    this.#hasEndedPeer = true;
    const { peer } = this;
    queueMicrotask(() => {
      if (peer !== null && !peer.destroyed) peer.push(null);
    });
  }

  #settle(error?: Error): void {
    const resume = this.#continuePeer;
    this.#continuePeer = null;
    resume?.(error);
  }
}

function hungUp(): Error {
  return Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
}
