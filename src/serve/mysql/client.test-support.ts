/** A MySQL client of a few lines, on top of a conversation without a socket: it shows what is sent, packet by packet. */
import {
  authResponse,
  capabilities,
  type Command,
  decodeError,
  decodeHandshake,
  decodeOk,
  encodeCommand,
  encodeHandshakeResponse,
  encodePacket,
  type Handshake,
  type HandshakeResponse,
  type Packet,
  PacketReader,
  ResponseReader,
  type ServerMessage,
} from '../../wire/mysql/index.ts';
import type { Conversation, StartConversation, Transport } from '../conversation.ts';

export const clientFlags =
  capabilities.protocol41 |
  capabilities.secureConnection |
  capabilities.pluginAuth |
  capabilities.connectWithDb |
  capabilities.multiResults |
  capabilities.transactions;

export class RawClient implements Transport {
  readonly chunks: Uint8Array[] = [];
  isClosed = false;
  isPaused = false;
  isLoggedIn = false;
  /** What `send` answers. */
  hasRoom = true;
  readonly #reader = new PacketReader();
  readonly conversation: Conversation;

  constructor(start: StartConversation, admission: 'welcome' | 'full' = 'welcome') {
    this.conversation = start(this, admission);
  }

  send(bytes: Uint8Array): boolean {
    if (this.isClosed) return true;
    this.chunks.push(bytes);
    this.#reader.push(bytes);
    return this.hasRoom;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  loggedIn(): void {
    this.isLoggedIn = true;
  }

  close(): void {
    this.isClosed = true;
  }

  write(payload: Uint8Array, sequence: number): void {
    this.conversation.receive(encodePacket(payload, sequence).bytes);
  }

  /** Everything that has come by now. */
  async packets(): Promise<Packet[]> {
    await turn();
    const packets: Packet[] = [];
    for (let packet = this.#reader.next(); packet !== undefined; packet = this.#reader.next()) packets.push(packet);
    return packets;
  }

  /** The answer to a command. */
  async ask(command: Command): Promise<Packet[]> {
    this.write(encodeCommand(command, clientFlags), 0);
    return this.packets();
  }

  /** The answer as a client that named these flags understands it, to its last packet. */
  async messages(command: Command, flags = clientFlags): Promise<ServerMessage[]> {
    const reader = new ResponseReader(command, flags);
    const messages = (await this.ask(command)).map(({ payload }) => reader.next(payload));
    if (!reader.isDone) throw new Error(`the answer to ${command.kind} does not end`);
    return messages;
  }

  query(sql: string): Promise<Packet[]> {
    return this.ask({ kind: 'query', sql: Buffer.from(sql) });
  }

  /** @returns what the server says to it */
  async login(given: Partial<HandshakeResponse> & { readonly password?: string } = {}): Promise<Packet[]> {
    const handshake = await this.handshake();
    const { password = '', ...more } = given;
    const response: HandshakeResponse = {
      capabilities: clientFlags,
      packetBytesMax: 1 << 24,
      characterSet: 45,
      user: 'ann',
      authResponse: authResponse('mysql_native_password', password, handshake.salt),
      database: 'test',
      authPlugin: 'mysql_native_password',
      attributes: new Map(),
      ...more,
    };
    this.write(encodeHandshakeResponse(response), 1);
    return this.packets();
  }

  async handshake(): Promise<Handshake> {
    const [first] = await this.packets();
    return decodeHandshake(first?.payload ?? new Uint8Array());
  }
}

/** One turn of the event loop: all that could be done without waiting is done. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** `OK`, `ERR 1062 23000 ...`, or the length of something else. */
export function told(packets: readonly Packet[]): string[] {
  return packets.map(({ payload }) => {
    if (payload[0] === 0xff) {
      const { number, state, message } = decodeError(payload);
      return `ERR ${number} ${state} ${message}`;
    }
    if (payload[0] === 0) return `OK ${decodeOk(payload, 0).status}`;
    return payload[0] === 0xfe && payload.length < 9 ? 'EOF' : `${payload.length} bytes`;
  });
}
