/**
 * The server's side of a MySQL connection, without a socket. A command is answered before the next is read. Whatever a statement fails
 * with is an answer; only packets whose bounds are lost end the connection. MySQL Internals, "Client/Server Protocol".
 */
import { maxAllowedPacket, mysqlVersion, type SqlServer, type SqlSession } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import { WireError } from '../../wire/index.ts';
import {
  capabilities,
  characterSet,
  type Command,
  decodeCommand,
  decodeHandshakeResponse,
  encodeError,
  encodeHandshake,
  has,
  isSslRequest,
  type Packet,
  saltBytes,
  serverStatus,
} from '../../wire/mysql/index.ts';
import type { Conversation, StartConversation, Transport } from '../conversation.ts';
import { type ClientState, MysqlCommands } from './commands.ts';
import { type Connection, Connections } from './connections.ts';
import { mysqlError, protocolError } from './error.ts';
import { authenticate, type Claim, defaultPlugin, type LoginOptions, serverCapabilities } from './login.ts';
import { PacketInput, PacketOutput } from './packets.ts';
import { PreparedStatements } from './statements.ts';

export interface MysqlOptions {
  readonly server: SqlServer;
  /** For the salts of passwords. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Of every user. Without one there is no check. */
  readonly password?: string;
  /** Drivers look at it. Default: what `SELECT VERSION()` says. */
  readonly serverVersion?: string;
  /** The database of clients that name none. Default `test`. */
  readonly database?: string;
  /** Bytes of one packet. Default 16 MiB. */
  readonly packetBytesMax?: number;
  /** Bytes of one packet of a client that has not logged in. Default 64 KiB. */
  readonly loginBytesMax?: number;
  /** Prepared statements of one connection. Default 16,382. */
  readonly statementsMax?: number;
  /** Called with exceptions that are no SqlError: bugs of ours. The client gets error 1105 and stays connected. */
  readonly onBug?: (error: unknown) => void;
}

/** Conversations with the clients of one server. */
export function mysqlConversations(options: MysqlOptions): StartConversation {
  const connections = new Connections(options.server);
  return (transport, admission) => {
    const id = connections.newId();
    const conversation = new MysqlConversation(id, connections, transport, options);
    connections.add(id, conversation);
    conversation.start(admission);
    return conversation;
  };
}

class MysqlConversation implements Conversation, Connection {
  readonly #connections: Connections;
  readonly #transport: Transport;
  readonly #options: MysqlOptions;
  readonly #packetBytesMax: number;
  readonly #salt: Uint8Array;
  readonly #input: PacketInput;
  readonly #output: PacketOutput;
  readonly #statements: PreparedStatements;
  readonly #client: ClientState;
  #user = '';
  /** `null`: the client has not logged in. */
  #commands: MysqlCommands | null = null;

  constructor(id: number, connections: Connections, transport: Transport, options: MysqlOptions) {
    const { statementsMax = 16_382, database = 'test', loginBytesMax = 1 << 16 } = options;
    this.#packetBytesMax = options.packetBytesMax ?? Number(maxAllowedPacket);
    this.#connections = connections;
    this.#transport = transport;
    this.#options = options;
    // Clients read it as a text that ends with a zero.
    this.#salt = options.randomBytes(saltBytes).map((byte) => byte & 0x7f || 1);
    this.#client = { id, database, flags: 0, mayMultiStatements: false };
    this.#input = new PacketInput(transport, Math.min(loginBytesMax, this.#packetBytesMax));
    this.#output = new PacketOutput(transport);
    this.#statements = new PreparedStatements({ statementsMax, longDataBytesMax: this.#packetBytesMax });
  }

  get session(): SqlSession | null {
    return this.#commands?.session ?? null;
  }

  receive(chunk: Uint8Array): void {
    this.#input.receive(chunk);
  }

  ended(): void {
    this.#input.ended();
  }

  drained(): void {
    this.#output.drained();
  }

  closed(): void {
    this.#connections.delete(this.#client.id);
    this.#output.closed();
    this.#input.ended();
    this.session?.close();
    this.#commands = null;
  }

  start(admission: 'welcome' | 'full'): void {
    if (admission === 'full') {
      this.#fail(protocolError(1040, 'Too many connections'));
      this.hangUp();
      return;
    }
    this.#converse().then(
      () => this.hangUp(),
      (error: unknown) => {
        this.#options.onBug?.(error);
        this.#transport.close();
      },
    );
  }

  async #converse(): Promise<void> {
    try {
      this.#greet();
      if (!(await this.#login())) return;
      for (;;) {
        const packet = await this.#input.next();
        if (packet === undefined) return;
        this.#output.sequence = this.#input.nextSequence;
        if (packet.firstSequence !== 0) throw protocolError(1156, 'Got packets out of order');
        if (!(await this.#answer(packet))) return;
        await this.#output.sent();
      }
    } catch (error) {
      if (error instanceof WireError) this.#output.sequence = this.#input.nextSequence;
      this.#fail(error);
    }
  }

  hangUp(): void {
    this.#output.flush();
    this.closed();
    this.#transport.close();
  }

  // ---- connection phase

  #greet(): void {
    const { serverVersion = mysqlVersion } = this.#options;
    this.#output.packet(
      encodeHandshake({
        serverVersion,
        connectionId: this.#client.id,
        salt: this.#salt,
        capabilities: serverCapabilities,
        characterSet: characterSet.utf8mb4GeneralCi,
        status: serverStatus.autocommit,
        authPlugin: defaultPlugin,
      }),
    );
    this.#output.flush();
  }

  /** @returns is the client still there? @throws SqlError, WireError: the login is refused */
  async #login(): Promise<boolean> {
    const packet = await this.#input.expect(1);
    if (packet === undefined) return false;
    this.#output.sequence = this.#input.nextSequence;
    if (isSslRequest(packet.payload)) throw protocolError(1043, 'Bad handshake: this server has no TLS');
    const response = decodeHandshakeResponse(packet.payload);
    this.#client.flags = response.capabilities & serverCapabilities;
    this.#client.mayMultiStatements = has(this.#client.flags, capabilities.multiStatements);
    return this.#enter(response, response.database);
  }

  async #enter(claim: Claim, database: string): Promise<boolean> {
    if (!(await authenticate(claim, this.#loginOptions()))) return false;
    this.#user = claim.user;
    if (database !== '') this.#client.database = database;
    return this.#connect();
  }

  #loginOptions(): LoginOptions {
    const { password } = this.#options;
    return { input: this.#input, output: this.#output, flags: this.#client.flags, salt: this.#salt, password };
  }

  /** A new session in place of the old one. @returns is the client still there? @throws SqlError 3D000, 53300 */
  #connect(): boolean {
    this.session?.close();
    this.#commands = null;
    this.#statements.clear();
    if (!this.#output.isOpen) return false;
    const { id, database } = this.#client;
    const session = this.#options.server.connect({
      id,
      user: this.#user,
      database,
      parameters: new Map(),
      onParameter: () => undefined,
    });
    this.#commands = new MysqlCommands(session, this.#client, this.#connections, this.#output, this.#statements);
    this.#input.allow(this.#packetBytesMax);
    this.#transport.loggedIn();
    this.#commands.answerOk();
    this.#output.flush();
    return true;
  }

  // ---- command phase

  /** @returns may the client send more? */
  async #answer(packet: Packet): Promise<boolean> {
    const commands = this.#commands;
    if (commands === null) return false;
    try {
      const command = decodeCommand(packet.payload, this.#client.flags);
      if (command.kind === 'quit') return false;
      if (command.kind === 'change-user') return await this.#changeUser(command);
      if (command.kind === 'reset-connection') return this.#connect();
      await commands.perform(command);
    } catch (error) {
      commands.session.refused(error, commands.sql);
      this.#fail(error);
      // The server ended the session, not only the statement.
      return !(error instanceof SqlError && error.code.startsWith('57P'));
    }
    return true;
  }

  async #changeUser(command: Extract<Command, { kind: 'change-user' }>): Promise<boolean> {
    try {
      return await this.#enter(command, command.database);
    } catch (error) {
      // As servers do: a client that fails to change its user has none.
      this.#fail(error);
      return false;
    }
  }

  // ---- answers

  #fail(error: unknown): void {
    this.#output.packet(encodeError(mysqlError(this.#sqlError(error), this.#client.database)));
    this.#output.flush();
  }

  #sqlError(error: unknown): SqlError {
    if (error instanceof SqlError) return error;
    if (error instanceof WireError)
      return error.code === 'limit'
        ? protocolError(1153, "Got a packet bigger than 'max_allowed_packet' bytes")
        : protocolError(1835, `Malformed communication packet: ${error.message}`);
    this.#options.onBug?.(error);
    return protocolError(1105, 'internal error');
  }
}
