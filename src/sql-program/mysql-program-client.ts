/** The client of MySQL's text protocol: it writes parameters into the text, as mysql2's `query` does. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { tokenize } from '../sql/index.ts';
import {
  capabilities,
  columnType,
  type Command,
  decodeHandshake,
  encodeCommand,
  encodeHandshakeResponse,
  encodePacket,
  PacketReader,
  ResponseReader,
  type ServerMessage,
} from '../wire/mysql/index.ts';
import { type Cell, type ProgramClient, type QueryResult, RefusedStatement } from './program-client.ts';

/** As mysql2 names them: an UPDATE counts the rows that it found. */
const flags =
  capabilities.protocol41 |
  capabilities.secureConnection |
  capabilities.pluginAuth |
  capabilities.connectWithDb |
  capabilities.multiResults |
  capabilities.foundRows |
  capabilities.transactions;

export class MysqlClient implements ProgramClient {
  readonly #stream: Duplex;
  readonly #packets = new PacketReader();

  private constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('data', (piece: Buffer) => {
      this.#packets.push(piece);
      stream.emit('packets');
    });
  }

  static async connect(stream: Duplex): Promise<MysqlClient> {
    const client = new MysqlClient(stream);
    const handshake = decodeHandshake(await client.#packet());
    const response = encodeHandshakeResponse({
      capabilities: flags,
      packetBytesMax: 1 << 24,
      characterSet: 45,
      user: 'app',
      authResponse: new Uint8Array(),
      database: 'app',
      authPlugin: handshake.authPlugin,
      attributes: new Map(),
    });
    await client.#answer(response, 1, new ResponseReader(null, flags));
    return client;
  }

  async query(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult> {
    const command: Command = { kind: 'query', sql: Buffer.from(withParameters(sql, parameters)) };
    return resultOf(await this.#answer(encodeCommand(command, flags), 0, new ResponseReader(command, flags)));
  }

  end(): void {
    this.#stream.end(encodePacket(encodeCommand({ kind: 'quit' }, flags), 0).bytes);
  }

  async #answer(payload: Uint8Array, sequence: number, reader: ResponseReader): Promise<readonly ServerMessage[]> {
    const messages: ServerMessage[] = [];
    this.#stream.write(encodePacket(payload, sequence).bytes);
    while (!reader.isDone) messages.push(reader.next(await this.#packet()));
    return messages;
  }

  async #packet(): Promise<Uint8Array> {
    for (;;) {
      const packet = this.#packets.next();
      if (packet !== undefined) return packet.payload;
      await once(this.#stream, 'packets');
    }
  }
}

/** The statement with a literal for each `?`. */
function withParameters(sql: string, parameters: readonly unknown[]): string {
  let next = 0;
  return tokenize(sql)
    .map(({ kind, text }) => (kind === 'parameter' ? literal(parameters[next++] ?? null) : text))
    .join('');
}

/** A list stands for its elements: `IN (?)`. */
function literal(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'NULL' : value.map(literal).join(', ');
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** @throws RefusedStatement */
function resultOf(messages: readonly ServerMessage[]): QueryResult {
  const rows: Record<string, Cell>[] = [];
  const columns: { readonly name: string; readonly type: number }[] = [];
  let count: number | null = null;
  for (const message of messages) {
    if (message.kind === 'error') throw new RefusedStatement(String(message.error.number), message.error.message);
    if (message.kind === 'ok') count = Number(message.ok.affectedRows);
    if (message.kind === 'column') columns.push(message.column);
    if (message.kind === 'text-row')
      rows.push(
        Object.fromEntries(
          message.values.map((value, at) => [columns[at]?.name ?? '', cellOf(value, columns[at]?.type ?? 0)]),
        ),
      );
  }
  return { rows, count: count ?? rows.length };
}

const numbers: ReadonlySet<number> = new Set([
  columnType.tiny,
  columnType.short,
  columnType.long,
  columnType.float,
  columnType.double,
  columnType.longlong,
  columnType.int24,
  columnType.year,
  columnType.newdecimal,
]);

function cellOf(value: Uint8Array | null, type: number): Cell {
  if (value === null) return null;
  const text = Buffer.from(value).toString();
  return numbers.has(type) ? Number(text) : text;
}
