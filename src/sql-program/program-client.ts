/** Clients for moirai's own statements, those of programs that analyze makes among them: of PostgreSQL's extended protocol, text in and out, over a session's stream or without its bytes. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { SessionQueries } from '../serve/index.ts';
import {
  type BackendMessage,
  decodeBackend,
  encodeFrontend,
  encodeStartup,
  FrameSplitter,
  type FrontendMessage,
  MessageWriter,
} from '../wire/postgres/index.ts';

export type Cell = string | number | boolean | null;

export interface QueryResult {
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  /** Rows returned, or without rows changed. */
  readonly count: number;
}

/** What the server refused, with its SQLSTATE, or MySQL's number. */
export class RefusedStatement extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ProgramClient {
  /** @throws RefusedStatement */
  query(sql: string, parameters?: readonly unknown[]): Promise<QueryResult>;
  end(): void;
}

export class PostgresClient implements ProgramClient {
  readonly #stream: Duplex;
  readonly #splitter = new FrameSplitter();
  #heard: BackendMessage[] = [];

  private constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('data', (piece: Buffer) => {
      this.#splitter.push(piece);
      for (let frame = this.#splitter.takeFrame(); frame !== undefined; frame = this.#splitter.takeFrame())
        this.#heard.push(decodeBackend(frame));
      if (this.#heard.at(-1)?.kind === 'ready-for-query') stream.emit('answer');
    });
  }

  static async connect(stream: Duplex): Promise<PostgresClient> {
    const client = new PostgresClient(stream);
    const writer = new MessageWriter();
    encodeStartup(writer, { kind: 'startup', major: 3, minor: 0, parameters: new Map([['user', 'app']]) });
    await client.#answer(writer.take());
    return client;
  }

  /** @throws RefusedStatement */
  async query(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult> {
    const values = parameters.map((value) => (value === null ? null : Buffer.from(textOf(value))));
    const messages: readonly FrontendMessage[] = [
      { kind: 'parse', statement: '', sql, parameterTypes: [] },
      { kind: 'bind', portal: '', statement: '', parameterFormats: [], values, resultFormats: [] },
      { kind: 'describe', target: 'portal', name: '' },
      { kind: 'execute', portal: '', rowsMax: 0 },
      { kind: 'sync' },
    ];
    const writer = new MessageWriter();
    for (const message of messages) encodeFrontend(writer, message);
    return resultOf(await this.#answer(writer.take()));
  }

  end(): void {
    const writer = new MessageWriter();
    encodeFrontend(writer, { kind: 'terminate' });
    this.#stream.end(writer.take());
  }

  async #answer(bytes: Uint8Array): Promise<readonly BackendMessage[]> {
    const answered = once(this.#stream, 'answer');
    this.#stream.write(bytes);
    await answered;
    const heard = this.#heard;
    this.#heard = [];
    return heard;
  }
}

/** The same without the bytes, where the database is in this process. */
export class PostgresQueries implements ProgramClient {
  readonly #queries: SessionQueries;

  constructor(queries: SessionQueries) {
    this.#queries = queries;
  }

  async query(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult> {
    const answer = await this.#queries.query(
      sql,
      parameters.map((value) => (value === null ? null : textOf(value))),
    );
    if (answer.kind === 'refused') throw new RefusedStatement(answer.code, answer.message);
    const { columns, rows, count } = answer;
    const named = rows.map((row) =>
      Object.fromEntries(columns.map(({ name, type }, at) => [name, cellOf(row[at] ?? null, type.oid)])),
    );
    return { rows: named, count };
  }

  end(): void {
    this.#queries.end();
  }
}

function textOf(value: unknown): string {
  if (Array.isArray(value))
    return `{${value.map((each) => (each === null ? 'NULL' : JSON.stringify(textOf(each)))).join(',')}}`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function resultOf(messages: readonly BackendMessage[]): QueryResult {
  const rows: Record<string, Cell>[] = [];
  let fields: Extract<BackendMessage, { kind: 'row-description' }>['fields'] = [];
  let count = 0;
  for (const message of messages) {
    if (message.kind === 'error-response')
      throw new RefusedStatement(
        message.fields.code ?? 'XX000',
        message.fields.message ?? 'an error without a message',
      );
    if (message.kind === 'row-description') ({ fields } = message);
    if (message.kind === 'data-row') {
      const cells = message.values.map(
        (value, at) =>
          [
            fields[at]?.name ?? '',
            cellOf(value === null ? null : Buffer.from(value).toString(), fields[at]?.typeOid ?? 0),
          ] as const,
      );
      rows.push(Object.fromEntries(cells));
    }
    if (message.kind === 'command-complete') count = Number(/\d+$/.exec(message.tag)?.[0] ?? 0);
  }
  return { rows, count };
}

/** int2, int4, int8, float4, float8, numeric: what conditions and sums of an application compute with. */
const numbers = new Set([21, 23, 20, 700, 701, 1700]);

function cellOf(text: string | null, typeOid: number): Cell {
  if (text === null) return null;
  if (typeOid === 16) return text === 't';
  return numbers.has(typeOid) ? Number(text) : text;
}
