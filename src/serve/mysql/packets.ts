/** Packets of one connection on top of a transport: numbered, gathered into chunks, held back while the client does not read. */
import { encodePacket, type Packet, PacketReader } from '../../wire/mysql/index.ts';
import { WireError } from '../../wire/index.ts';
import type { Transport } from '../conversation.ts';

const chunkBytesMax = 64 * 1024;

/** More than this from a client that still waits for an answer: it is asked to wait with sending, too. */
const pipelinedBytesMax = 64 * 1024;

export class PacketOutput {
  readonly #transport: Transport;
  readonly #chunk: Uint8Array[] = [];
  #chunkBytes = 0;
  #isOpen = true;
  #drained: (() => void) | null = null;
  /** The number of the next packet. */
  sequence = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  packet(payload: Uint8Array): void {
    const { bytes, nextSequence } = encodePacket(payload, this.sequence);
    this.sequence = nextSequence;
    this.#chunk.push(bytes);
    this.#chunkBytes += bytes.length;
  }

  /** After each packet of many: sends when a chunk is full, and then waits until there is room. */
  async room(): Promise<void> {
    if (this.#chunkBytes >= chunkBytesMax) await this.sent();
  }

  /** Sends, and waits until there is room for more. */
  async sent(): Promise<void> {
    if (!this.flush()) await this.#drain();
  }

  /** @returns is there room for more? */
  flush(): boolean {
    if (this.#chunkBytes === 0 || !this.#isOpen) return true;
    const bytes = Buffer.concat(this.#chunk);
    this.#chunk.length = 0;
    this.#chunkBytes = 0;
    return this.#transport.send(bytes);
  }

  drained(): void {
    this.#drained?.();
    this.#drained = null;
  }

  /** The reader is gone: writers that wait for room continue, and what they write is dropped. */
  closed(): void {
    this.#isOpen = false;
    this.#chunk.length = 0;
    this.#chunkBytes = 0;
    this.drained();
  }

  #drain(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isOpen) this.#drained = resolve;
      else resolve();
    });
  }
}

export class PacketInput {
  readonly #transport: Transport;
  readonly #reader: PacketReader;
  #hasEnded = false;
  #isPaused = false;
  #arrived: (() => void) | null = null;

  /** @param loginBytesMax of one packet, until `allow` */
  constructor(transport: Transport, loginBytesMax: number) {
    this.#transport = transport;
    this.#reader = new PacketReader({ packetBytesMax: loginBytesMax });
  }

  /** From the next packet on. */
  allow(packetBytesMax: number): void {
    this.#reader.packetBytesMax = packetBytesMax;
  }

  receive(chunk: Uint8Array): void {
    if (this.#hasEnded) return;
    this.#reader.push(chunk);
    if (this.#arrived !== null) this.#wake();
    else if (this.#reader.bufferedBytes > pipelinedBytesMax && !this.#isPaused) {
      this.#isPaused = true;
      this.#transport.pause();
    }
  }

  /** Nothing comes any more; packets that are complete are still given. */
  ended(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** The number that an answer to the last packet, complete or not, begins with. */
  get nextSequence(): number {
    return this.#reader.nextSequence;
  }

  /** `undefined`: there is no more. @throws WireError */
  async next(): Promise<Packet | undefined> {
    for (;;) {
      const packet = this.#reader.next();
      if (packet !== undefined || this.#hasEnded) return packet;
      if (this.#isPaused) {
        this.#isPaused = false;
        this.#transport.resume();
      }
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  /** The next packet, which has to have this number. @throws WireError */
  async expect(sequence: number): Promise<Packet | undefined> {
    const packet = await this.next();
    if (packet !== undefined && packet.firstSequence !== sequence)
      throw new WireError('malformed', `packet ${packet.firstSequence} came instead of ${sequence}`);
    return packet;
  }

  #wake(): void {
    this.#arrived?.();
    this.#arrived = null;
  }
}
