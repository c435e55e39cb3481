/** What a PostgreSQL conversation says: messages gathered into pieces, and a wait where the client reads more slowly than we write. */
import { type BackendMessage, encodeBackend, MessageWriter } from '../../wire/postgres/index.ts';
import type { Transport } from '../conversation.ts';

/** Most bytes handed to the transport at a time. */
export const pieceBytes = 1 << 16;

export class PostgresOutput {
  readonly writer = new MessageWriter();
  readonly #transport: Transport;
  #hasRoom = true;
  #isClosed = false;
  readonly #waiting: (() => void)[] = [];

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sent with the next `flush`. */
  message(message: BackendMessage): void {
    const { length } = this.writer;
    try {
      encodeBackend(this.writer, message);
    } catch (error) {
      this.writer.truncate(length);
      throw error;
    }
  }

  /** Sends what has been said. @returns resolves when there is room for more, or when the client is gone; `undefined`: there is room */
  flush(): Promise<void> | undefined {
    if (this.writer.length === 0) return undefined;
    const bytes = this.writer.take();
    if (!this.#hasRoom || this.#isClosed || bytes.length > pieceBytes) return this.#sendPieces(bytes);
    this.#hasRoom = this.#transport.send(bytes);
    return this.#hasRoom ? undefined : this.#room();
  }

  async #sendPieces(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      if (!this.#hasRoom) await this.#room();
      if (this.#isClosed) return;
      this.#hasRoom = this.#transport.send(bytes.subarray(start, start + pieceBytes));
    }
    if (!this.#hasRoom) await this.#room();
  }

  #room(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Sends without waiting: the last words. */
  flushNow(): void {
    if (this.writer.length > 0 && !this.#isClosed) this.#transport.send(this.writer.take());
  }

  drained(): void {
    this.#hasRoom = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Nothing is sent any more; no writer waits. */
  closed(): void {
    this.#isClosed = true;
    this.drained();
  }
}
