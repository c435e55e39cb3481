/**
 * The gate in front of MySQL and MariaDB: COM_QUERY and COM_STMT_EXECUTE wait. MySQL Internals, "Connection Phase", "Text Protocol", "Prepared
 * Statements". The gate logs in by itself and sets the level; the client learns only that it is in.
 */
import { shownRows } from '../database/index.ts';
import { outcomeText } from '../sql-program/index.ts';
import { statementLine } from '../sql/index.ts';
import {
  type AuthSwitch,
  authResponse,
  type BinaryValue,
  capabilities,
  type Command,
  decodeCommand,
  decodeHandshake,
  decodeHandshakeResponse,
  encodeCommand,
  encodeHandshake,
  encodeHandshakeResponse,
  encodePacket,
  type Handshake,
  isAuthPlugin,
  type Packet,
  PacketReader,
  ResponseReader,
  type ServerMessage,
  unreadableCapabilities,
} from '../wire/mysql/index.ts';
import type { GateTap, GateTapOptions, ServerError } from './gate-tap.ts';
import { type Sent, StatementQueue } from './statement-queue.ts';

interface SentCommand extends Sent {
  /** `null`: the contents of a file that the server has asked for. */
  readonly command: Command | null;
  readonly reader: ResponseReader | null;
}

const packetBytesMax = 1 << 26;
/** The client has sent one packet: what comes after it is the answer. */
const sequenceOfWelcome = 2;

export class MysqlTap implements GateTap {
  readonly #options: GateTapOptions;
  readonly #client = new PacketReader({ packetBytesMax });
  readonly #server = new PacketReader({ packetBytesMax });
  #handshake: Handshake | null = null;
  #state: 'login' | 'setting' | 'open' = 'login';
  /** Sent behind the login: a server's own default would not be what was predicted. */
  readonly #settings = ['SET SESSION autocommit = 1'];
  #flags = 0;
  #login: ResponseReader | null = null;
  /** The server's OK, for when the level is set. */
  #welcome: Uint8Array = new Uint8Array();
  readonly #prepared = new Map<number, string>();
  readonly #queue: StatementQueue<SentCommand>;
  #rows: string[][] = [];
  #rowCount = 0;

  constructor(options: GateTapOptions) {
    this.#options = options;
    this.#queue = new StatementQueue(options);
  }

  fromClient(chunk: Uint8Array): void {
    this.#client.push(chunk);
    for (let packet = this.#client.next(); packet !== undefined; packet = this.#client.next()) {
      if (this.#login === null) this.#introduced(packet.payload);
      else this.#sent(packet);
    }
  }

  fromServer(chunk: Uint8Array): void {
    this.#server.push(chunk);
    for (let packet = this.#server.next(); packet !== undefined; packet = this.#server.next()) {
      if (this.#handshake === null) this.#greeted(packet);
      else if (this.#state === 'login') this.#loggingIn(packet);
      else if (this.#state === 'setting') this.#set(packet);
      else this.#received(packet);
    }
  }

  #greeted(packet: Packet): void {
    const { payload } = packet;
    if (payload[0] === errorHeader) return this.#unasked(payload);
    this.#handshake = decodeHandshake(payload);
    const shown = (this.#handshake.capabilities & ~unreadableCapabilities) >>> 0;
    const authPlugin = 'mysql_native_password';
    this.#toClient(encodeHandshake({ ...this.#handshake, capabilities: shown, authPlugin }), packet.sequence);
  }

  #introduced(payload: Uint8Array): void {
    if (this.#handshake === null) return;
    const { user, password, database } = this.#options.login;
    const { salt, authPlugin: asked, capabilities: ofServer } = this.#handshake;
    const response = decodeHandshakeResponse(payload);
    const withDatabase = response.capabilities | (database === '' ? 0 : capabilities.connectWithDb);
    this.#flags = (withDatabase & ofServer & ~unreadableCapabilities) >>> 0;
    this.#login = new ResponseReader(null, this.#flags);
    const authPlugin = isAuthPlugin(asked) ? asked : 'mysql_native_password';
    const proof = authResponse(authPlugin, password, salt);
    const answer = { ...response, capabilities: this.#flags, user, database, authPlugin, authResponse: proof };
    this.#options.toServer(encodePacket(encodeHandshakeResponse(answer), 1).bytes);
  }

  #loggingIn({ payload, sequence }: Packet): void {
    const message = this.#login?.next(payload);
    switch (message?.kind) {
      case 'ok':
        this.#welcome = payload;
        this.#loggedIn();
        return;
      case 'error':
        this.#options.onRefused(errorOf(message));
        this.#toClient(payload, sequenceOfWelcome);
        return;
      case 'auth-switch':
        this.#prove(message.request, sequence);
        return;
      case 'auth-more-data':
        if (message.data[0] !== fastAuthDone)
          this.#options.onRefused({
            code: '2061',
            message: 'the server asks for the password over TLS, which moirai lacks',
          });
        return;
      default:
    }
  }

  #prove({ authPlugin, data }: AuthSwitch, sequence: number): void {
    if (!isAuthPlugin(authPlugin)) {
      this.#options.onRefused({ code: '2059', message: `the server asks for ${authPlugin}, which moirai lacks` });
      return;
    }
    const proof = authResponse(authPlugin, this.#options.login.password, data);
    this.#options.toServer(encodePacket(proof, sequence + 1).bytes);
  }

  #loggedIn(): void {
    const { isolation } = this.#options.login;
    this.#options.onOpen(this.#handshake?.connectionId ?? 0);
    this.#state = 'setting';
    if (isolation !== null) this.#settings.push(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation.toUpperCase()}`);
    this.#setNext();
  }

  #setNext(): void {
    const setting = this.#settings.shift();
    if (setting === undefined) return this.#open();
    const sql = Buffer.from(setting);
    this.#options.toServer(encodePacket(encodeCommand({ kind: 'query', sql }, this.#flags), 0).bytes);
  }

  #set({ payload }: Packet): void {
    const message = new ResponseReader({ kind: 'query', sql: new Uint8Array() }, this.#flags).next(payload);
    if (message.kind === 'error') this.#options.onRefused(errorOf(message));
    else this.#setNext();
  }

  #open(): void {
    this.#state = 'open';
    this.#toClient(this.#welcome, sequenceOfWelcome);
  }

  #toClient(payload: Uint8Array, sequence: number): void {
    this.#options.toClient(encodePacket(payload, sequence).bytes);
  }

  #sent({ payload, firstSequence }: Packet): void {
    const { bytes } = encodePacket(payload, firstSequence);
    const command = firstSequence === 0 ? decodeCommand(payload, this.#flags) : null;
    if (command?.kind === 'quit') this.#options.onEnd();
    const reader = command === null ? null : new ResponseReader(command, this.#flags);
    const isAnswered = reader?.isDone === false;
    this.#queue.push({ bytes, sql: this.#sqlOf(command), command, reader, isAnswered, outcomes: [], error: null });
  }

  #sqlOf(command: Command | null): string | null {
    if (command?.kind === 'query') return Buffer.from(command.sql).toString();
    return command?.kind === 'stmt-execute' ? (this.#prepared.get(command.statementId) ?? '') : null;
  }

  #received({ payload, firstSequence }: Packet): void {
    const sent = this.#queue.answering;
    if (sent === undefined && payload[0] === errorHeader) this.#unasked(payload);
    if (sent?.reader) this.#answer(sent, sent.reader.next(payload));
    this.#toClient(payload, firstSequence);
    if (sent?.reader?.isDone === true) this.#queue.answered();
  }

  /** The server lets no client in, or ends the connection: too many of them, a time-out, KILL. */
  #unasked(payload: Uint8Array): void {
    const message = new ResponseReader(null, this.#flags).next(payload);
    if (message.kind === 'error') this.#options.onRefused(errorOf(message));
  }

  #answer(sent: SentCommand, message: ServerMessage): void {
    switch (message.kind) {
      case 'ok': {
        const command = statementLine(sent.sql ?? '');
        const { affectedRows, info } = message.ok;
        // An UPDATE counts the rows that it found, where the client asks for that.
        const rowCount = Number(/Changed: (\d+)/.exec(info)?.[1] ?? affectedRows);
        sent.outcomes.push(outcomeText({ command, rowCount, error: null }, null));
        return;
      }
      case 'prepared':
        if (sent.command?.kind === 'stmt-prepare')
          this.#prepared.set(message.prepared.statementId, Buffer.from(sent.command.sql).toString());
        return;
      case 'text-row':
      case 'binary-row':
        this.#rowCount += 1;
        if (this.#rowCount <= rowsKept) this.#rows.push(message.values.map(cellText));
        return;
      case 'rows-end':
        sent.outcomes.push(shownRows(this.#rows, this.#rowCount));
        this.#rows = [];
        this.#rowCount = 0;
        return;
      case 'error':
        sent.error = errorOf(message);
        return;
      default:
    }
  }
}

const errorHeader = 0xff;
/** caching_sha2_password: the proof was enough. */
const fastAuthDone = 3;
/** As many as are shown, and one. */
const rowsKept = 4;

function cellText(value: BinaryValue): string {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  return typeof value === 'object' ? '?' : String(value);
}

function errorOf({ error }: Extract<ServerMessage, { kind: 'error' }>): ServerError {
  return { code: String(error.number), message: error.message };
}
