/**
 * One MySQL connection that goes through the proxy. MySQL Internals, "Connection Phase", "Text Protocol", "Prepared Statements". Bytes pass
 * as they are but for the server's greeting and the client's answer to it, which lose the capabilities that the proxy could not read
 * (encryption, compression, results without metadata, query attributes). The answer too: clients say all that they can, whatever the greeting
 * was, and the server would take it that they do.
 */
import {
  capabilities,
  columnType,
  decodeCommand,
  decodeExecution,
  decodeHandshake,
  decodeHandshakeResponse,
  encodeCommand,
  encodeHandshake,
  encodePacket,
  packetHeaderBytes,
  has,
  PacketReader,
  ResponseReader,
  serverStatus,
  type BinaryType,
  type BinaryValue,
  type ColumnDefinition,
  type Command,
  type OkPacket,
  type ServerMessage,
  unreadableCapabilities,
} from '../wire/mysql/index.ts';
import type { ProxyTap, TapOptions } from './proxy-tap.ts';
import { schemaRowOf } from './proxy-postgres.ts';
import type { Asked, RecordedConnection } from './recording.ts';
import type { StatementResult } from './statement-rows.ts';

interface Prepared {
  readonly sql: string;
  readonly parameters: number;
  types: readonly BinaryType[] | null;
  columns: readonly ColumnDefinition[];
  readonly longData: Set<number>;
}

/** A command that the client waits for, and what has come of its answer. */
interface Pending {
  readonly command: Command;
  readonly asked: Asked;
  readonly reader: ResponseReader;
  columns: ColumnDefinition[];
  rows: (readonly unknown[])[];
  readonly results: StatementResult[];
  /** COM_STMT_PREPARE: what its answer has begun. */
  preparedId: number | null;
}

const packetBytesMax = 1 << 26;
/** MariaDB: the statement that was prepared last. */
const lastPrepared = 0xffff_ffff;

export class MysqlTap implements ProxyTap {
  readonly #options: TapOptions;
  readonly #client = new PacketReader({ packetBytesMax });
  readonly #server = new PacketReader({ packetBytesMax });
  #state: 'greeting' | 'login' | 'commands' | 'asking' = 'greeting';
  #flags = 0;
  #serverFlags = 0;
  #threadId = 0;
  #status = 0;
  #hasAnswered = false;
  #login: ResponseReader | null = null;
  #connection: RecordedConnection | null = null;
  #pending: Pending[] = [];
  readonly #prepared = new Map<number, Prepared>();
  #lastPrepared = 0;
  #held: Uint8Array[] = [];

  constructor(options: TapOptions) {
    this.#options = options;
  }

  fromClient(chunk: Uint8Array): void {
    if (this.#state === 'asking') return void this.#held.push(chunk);
    const isIdle =
      this.#state === 'commands' && this.#pending.length === 0 && !has(this.#status, serverStatus.inTransaction);
    if (isIdle && this.#connection?.database.needsSchema === true) {
      this.#ask(chunk);
      return;
    }
    this.#client.push(chunk);
    for (let packet = this.#client.next(); packet !== undefined; packet = this.#client.next()) {
      if (this.#state === 'commands') {
        if (packet.firstSequence === 0) this.#sent(decodeCommand(packet.payload, this.#flags));
      } else if (this.#login === null) this.#greeted(packet.payload);
    }
    this.#options.toServer(this.#hasAnswered ? chunk : this.#answerToGreeting(chunk));
  }

  fromServer(chunk: Uint8Array): void {
    const isOurs = this.#state === 'asking';
    const isGreeting = this.#state === 'greeting';
    this.#server.push(chunk);
    for (let packet = this.#server.next(); packet !== undefined; packet = this.#server.next()) {
      if (this.#state === 'greeting') this.#greeting(packet.payload, packet.sequence);
      else if (this.#state === 'login') this.#loggingIn(packet.payload);
      else this.#received(packet.payload);
    }
    if (!isOurs && !isGreeting) this.#options.toClient(chunk);
  }

  close(): void {
    const end = this.#options.recording.now();
    for (const pending of this.#pending) {
      this.#options.recording.answered(pending.asked);
      const sql = this.#sqlOf(pending.command);
      if (sql !== null)
        this.#connection?.recorder.record({
          sql,
          parameters: [],
          start: pending.asked.start,
          end,
          outcome: { kind: 'lost' },
        });
    }
    this.#pending = [];
    this.#connection?.close(end);
  }

  #greeting(payload: Uint8Array, sequence: number): void {
    if (payload[0] === 0xff) {
      this.#options.toClient(encodePacket(payload, sequence).bytes); // too many connections, and the like
      return;
    }
    const handshake = decodeHandshake(payload);
    this.#serverFlags = (handshake.capabilities & ~unreadableCapabilities) >>> 0;
    this.#threadId = handshake.connectionId;
    this.#state = 'login';
    this.#options.toClient(
      encodePacket(encodeHandshake({ ...handshake, capabilities: this.#serverFlags }), sequence).bytes,
    );
  }

  #greeted(payload: Uint8Array): void {
    const response = decodeHandshakeResponse(payload);
    this.#flags = (response.capabilities & this.#serverFlags) >>> 0;
    this.#login = new ResponseReader(null, this.#flags);
    const database = this.#options.recording.database('mysql', `${this.#options.place}/${response.database ?? ''}`);
    this.#connection = this.#options.recording.connection(database, String(this.#threadId));
  }

  /** Without the capabilities that cannot be read: they are in the first four bytes after the packet's head. */
  #answerToGreeting(chunk: Uint8Array): Uint8Array {
    const bytes = Buffer.concat([...this.#held, chunk]);
    this.#hasAnswered = bytes.length >= 2 * packetHeaderBytes;
    this.#held = this.#hasAnswered ? [] : [bytes];
    if (!this.#hasAnswered) return bytes.subarray(0, 0);
    bytes.writeUInt32LE((bytes.readUInt32LE(packetHeaderBytes) & ~unreadableCapabilities) >>> 0, packetHeaderBytes);
    return bytes;
  }

  #loggingIn(payload: Uint8Array): void {
    const message = this.#login?.next(payload);
    if (message?.kind === 'ok') {
      this.#status = message.ok.status;
      this.#state = 'commands';
    }
  }

  #sent(command: Command): void {
    if (command.kind === 'stmt-send-long-data')
      this.#prepared.get(command.statementId)?.longData.add(command.parameter);
    if (command.kind === 'stmt-close') this.#prepared.delete(command.statementId);
    const fetched = command.kind === 'stmt-fetch' ? (this.#prepared.get(command.statementId)?.columns ?? []) : [];
    const reader = new ResponseReader(command, this.#flags, fetched);
    if (reader.isDone) return;
    const asked = this.#options.recording.ask();
    this.#pending.push({ command, asked, reader, columns: [...fetched], rows: [], results: [], preparedId: null });
  }

  #received(payload: Uint8Array): void {
    const [pending] = this.#pending;
    if (pending === undefined) return; // the server ends the connection
    const message = pending.reader.next(payload);
    this.#answer(pending, message);
    if (!pending.reader.isDone) return;
    this.#pending.shift();
    if (this.#state === 'asking') this.#answered(pending, message);
    else this.#record(pending, message);
  }

  #answer(pending: Pending, message: ServerMessage): void {
    switch (message.kind) {
      case 'ok':
        this.#status = message.ok.status;
        pending.results.push(resultOf(pending, message.ok, this.#flags));
        return;
      case 'prepared': {
        const { statementId, parameters } = message.prepared;
        const { command } = pending;
        const sql = command.kind === 'stmt-prepare' ? textOf(command.sql) : '';
        this.#prepared.set(statementId, { sql, parameters, types: null, columns: [], longData: new Set() });
        this.#lastPrepared = statementId;
        pending.preparedId = statementId;
        return;
      }
      case 'column-count':
        pending.columns = [];
        return;
      case 'column':
        pending.columns.push(message.column);
        return;
      case 'text-row':
        pending.rows.push(message.values.map((value, i) => cellOf(value, pending.columns[i])));
        return;
      case 'binary-row':
        pending.rows.push(message.values.map((value, i) => cellOf(value, pending.columns[i])));
        return;
      case 'rows-end':
        this.#status = message.eof.status;
        pending.results.push(resultOf(pending, null, this.#flags));
        if (this.#state !== 'asking') pending.rows = [];
        return;
      default:
    }
  }

  #record(pending: Pending, message: ServerMessage): void {
    const { command, asked, results } = pending;
    const { start } = asked;
    const end = this.#options.recording.answered(asked);
    const recorder = this.#connection?.recorder;
    if (command.kind === 'reset-connection' || command.kind === 'change-user') recorder?.reset(start, end);
    if (command.kind === 'init-db') this.#connection?.database.forget();
    const sql = this.#sqlOf(command);
    if (sql === null) return;
    const parameters = command.kind === 'stmt-execute' ? this.#parametersOf(command) : [];
    const outcome =
      message.kind === 'error'
        ? ({ kind: 'failed', code: String(message.error.number), results } as const)
        : ({ kind: 'done', results } as const);
    recorder?.record({ sql, parameters, start, end, outcome });
  }

  #sqlOf(command: Command): string | null {
    if (command.kind === 'query') return textOf(command.sql);
    if (command.kind === 'stmt-fetch') return 'SELECT 1 FROM moirai_fetch';
    return command.kind === 'stmt-execute' ? (this.#statement(command.statementId)?.sql ?? '') : null;
  }

  #statement(id: number): Prepared | undefined {
    return this.#prepared.get(id === lastPrepared ? this.#lastPrepared : id);
  }

  #parametersOf(command: Extract<Command, { kind: 'stmt-execute' }>): unknown[] {
    const statement = this.#statement(command.statementId);
    if (statement === undefined) return [];
    const { parameters, types, longData } = statement;
    const execution = decodeExecution(command.body, { parameters, types, hasLongData: (i) => longData.has(i) });
    statement.types = execution.types;
    const values = execution.values.map((value, i) => (longData.has(i) ? undefined : parameterOf(value)));
    longData.clear();
    return values;
  }

  #ask(chunk: Uint8Array): void {
    const sql = this.#connection?.schemaQueryBefore('') ?? '';
    this.#held.push(chunk);
    const command: Command = { kind: 'query', sql: Buffer.from(sql) };
    this.#sent(command);
    this.#state = 'asking';
    this.#options.toServer(encodePacket(encodeCommand(command, this.#flags), 0).bytes);
  }

  #answered({ asked, columns, rows }: Pending, message: ServerMessage): void {
    this.#options.recording.answered(asked);
    this.#state = 'commands';
    if (message.kind === 'error') this.#connection?.learn(null, message.error.message);
    else {
      const names = columns.map(({ name }) => name);
      this.#connection?.learn(rows.map((row) => schemaRowOf(names, row.map(bytesOf))));
    }
    const held = this.#held;
    this.#held = [];
    for (const chunk of held) this.fromClient(chunk);
  }
}

function resultOf({ columns, rows }: Pending, ok: OkPacket | null, flags: number): StatementResult {
  const taken = rows;
  return {
    columns: ok === null ? columns.map(({ name }) => name) : [],
    rowCount: ok === null ? taken.length : 0,
    cell: (row, column) => taken[row]?.[column],
    isByName: false,
    affected: ok === null ? null : Number(ok.affectedRows),
    countsMatched: has(flags, capabilities.foundRows),
    insertId: ok?.insertId ?? 0n,
    warnings: ok?.warnings ?? 0,
  };
}

const binaryCharacterSet = 63;
const blobs: ReadonlySet<number> = new Set([
  columnType.tinyBlob,
  columnType.mediumBlob,
  columnType.longBlob,
  columnType.blob,
  columnType.string,
  columnType.varString,
  columnType.bit,
  columnType.geometry,
]);

/** The same for both protocols: text, but bytes of columns of bytes. A FLOAT has other digits in each and is not known. */
function cellOf(value: BinaryValue, column: ColumnDefinition | undefined): unknown {
  if (value === null || column === undefined) return null;
  if (column.type === columnType.float) return undefined;
  if (!(value instanceof Uint8Array)) return temporalText(value, column.type);
  const isBytes = column.characterSet === binaryCharacterSet && blobs.has(column.type);
  if (isBytes) return Uint8Array.from(value);
  return textOf(value).replace(/(:\d\d)\.0+$/, '$1');
}

function parameterOf(value: BinaryValue): unknown {
  if (value instanceof Uint8Array) return textOf(value);
  return typeof value === 'object' && value !== null ? undefined : value;
}

function temporalText(value: Exclude<BinaryValue, null | Uint8Array>, type: number): string | number | bigint {
  if (typeof value !== 'object') return value;
  const two = (n: number): string => String(n).padStart(2, '0');
  const fraction = (n: number): string => (n === 0 ? '' : `.${String(n).padStart(6, '0')}`);
  if (value.kind === 'time') {
    const hours = value.days * 24 + value.hours;
    return `${value.isNegative ? '-' : ''}${two(hours)}:${two(value.minutes)}:${two(value.seconds)}${fraction(value.microseconds)}`;
  }
  const date = `${String(value.year).padStart(4, '0')}-${two(value.month)}-${two(value.day)}`;
  if (type === columnType.date) return date;
  return `${date} ${two(value.hour)}:${two(value.minute)}:${two(value.second)}${fraction(value.microsecond)}`;
}

function bytesOf(cell: unknown): Uint8Array | null {
  return cell === null || cell === undefined
    ? null
    : Buffer.from(typeof cell === 'string' ? cell : String(cell as number));
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
