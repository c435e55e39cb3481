/**
 * One PostgreSQL connection that goes through the proxy: bytes pass as they are, and are read beside. Messages: simple and extended query
 * protocol, manual chapter "Message Flow". What is answered to the client by the proxy itself: no encryption, since it could not read it.
 * Once it is logged in, and after DDL, the proxy asks its own question for the tables and keeps the answer for itself.
 */
import { formatText, parseBinary, typeOfOid } from '../sql/model/index.ts';
import {
  decodeBackend,
  decodeFrontend,
  decodeStartup,
  encodeFrontend,
  type BackendMessage,
  type FieldDescription,
  type Frame,
  frameBytes,
  FrameSplitter,
  type FrontendMessage,
  MessageWriter,
  startupBytes,
} from '../wire/postgres/index.ts';
import type { ProxyTap, TapOptions } from './proxy-tap.ts';
import type { Asked, RecordedConnection } from './recording.ts';
import type { SchemaRow } from './schema.ts';
import type { StatementEvent } from './statement-event.ts';
import type { StatementResult } from './statement-rows.ts';

/** What the client waits for, in order. */
type Pending =
  | { readonly kind: 'query' | 'execute'; readonly run: Run; readonly start: number }
  | { readonly kind: 'describe'; readonly statement: Statement }
  | { readonly kind: 'step' | 'sync' };

interface Statement {
  readonly sql: string;
  parameterTypes: readonly number[];
  fields: readonly FieldDescription[];
}

interface Portal {
  readonly statement: Statement;
  readonly formats: readonly number[];
  readonly values: readonly (Uint8Array | null)[];
  readonly resultFormats: readonly number[];
}

interface Run {
  readonly sql: string;
  readonly portal: Portal | null;
  fields: readonly FieldDescription[];
  rows: (readonly (Uint8Array | null)[])[];
  readonly results: StatementResult[];
}

const frameBytesMax = 1 << 26;

export class PostgresTap implements ProxyTap {
  readonly #options: TapOptions;
  readonly #client = new FrameSplitter({ frameBytesMax });
  readonly #server = new FrameSplitter({ frameBytesMax });
  #state: 'startup' | 'login' | 'idle' | 'busy' | 'asking' = 'startup';
  #status: 'idle' | 'open' | 'failed' = 'idle';
  #place = '';
  #connection: RecordedConnection | null = null;
  #pending: Pending[] = [];
  /** The first of what was sent and is not recorded yet. */
  #since: Asked | null = null;
  /** Statements that have run since the last ReadyForQuery. */
  #events: Omit<StatementEvent, 'end'>[] = [];
  readonly #statements = new Map<string, Statement>();
  readonly #portals = new Map<string, Portal>();
  /** Bytes of the client that wait for the answer to our own question. */
  #held: Uint8Array[] = [];
  #asked: Run | null = null;

  constructor(options: TapOptions) {
    this.#options = options;
  }

  fromClient(chunk: Uint8Array): void {
    if (this.#state === 'asking') return void this.#held.push(chunk);
    if (this.#state === 'idle' && this.#status === 'idle' && this.#connection?.database.needsSchema === true) {
      this.#ask(chunk);
      return;
    }
    this.#client.push(chunk);
    if (this.#state === 'startup') {
      this.#startup();
      return;
    }
    for (let frame = this.#client.takeFrame(); frame !== undefined; frame = this.#client.takeFrame())
      this.#sent(decodeFrontend(frame));
    this.#options.toServer(chunk);
  }

  fromServer(chunk: Uint8Array): void {
    if (this.#state === 'startup') {
      this.#options.toClient(chunk);
      return;
    }
    const isOurs = this.#state === 'asking';
    this.#server.push(chunk);
    for (let frame = this.#server.takeFrame(); frame !== undefined; frame = this.#server.takeFrame()) {
      if (this.#asked === null) this.#received(frame);
      else this.#answered(frame, this.#asked);
    }
    if (!isOurs) this.#options.toClient(chunk);
  }

  close(): void {
    const end = this.#options.recording.now();
    for (const pending of this.#pending) {
      if (pending.kind === 'query' || pending.kind === 'execute')
        this.#events.push({ sql: pending.run.sql, parameters: [], start: pending.start, outcome: { kind: 'lost' } });
    }
    this.#pending = [];
    this.#record(end);
    this.#connection?.close(end);
  }

  /** Packets without a type, until the client names its database. */
  #startup(): void {
    for (let body = this.#client.takeStartup(); body !== undefined; body = this.#client.takeStartup()) {
      const packet = decodeStartup(body);
      if (packet.kind === 'ssl-request' || packet.kind === 'gssenc-request') {
        this.#options.toClient(Buffer.from('N'));
        continue;
      }
      this.#options.toServer(startupBytes(body));
      if (packet.kind !== 'startup') return;
      const { parameters } = packet;
      this.#place = `${this.#options.place}/${parameters.get('database') ?? parameters.get('user') ?? ''}`;
      this.#state = 'login';
      return;
    }
  }

  #sent(message: FrontendMessage): void {
    if (this.#state === 'login') return;
    this.#state = 'busy';
    const { recording } = this.#options;
    this.#since ??= recording.ask();
    const start = recording.now();
    switch (message.kind) {
      case 'query':
        this.#pending.push({ kind: 'query', run: newRun(message.sql, null), start });
        return;
      case 'parse':
        this.#statements.set(message.statement, {
          sql: message.sql,
          parameterTypes: message.parameterTypes,
          fields: [],
        });
        this.#pending.push({ kind: 'step' });
        return;
      case 'bind': {
        const statement = this.#statements.get(message.statement) ?? { sql: '', parameterTypes: [], fields: [] };
        const { parameterFormats: formats, values, resultFormats } = message;
        this.#portals.set(message.portal, { statement, formats, values, resultFormats });
        this.#pending.push({ kind: 'step' });
        return;
      }
      case 'describe': {
        const statement =
          message.target === 'statement'
            ? this.#statements.get(message.name)
            : this.#portals.get(message.name)?.statement;
        this.#pending.push({ kind: 'describe', statement: statement ?? { sql: '', parameterTypes: [], fields: [] } });
        return;
      }
      case 'execute': {
        const portal = this.#portals.get(message.portal) ?? null;
        this.#pending.push({ kind: 'execute', run: newRun(portal?.statement.sql ?? '', portal), start });
        return;
      }
      case 'close':
        (message.target === 'statement' ? this.#statements : this.#portals).delete(message.name);
        this.#pending.push({ kind: 'step' });
        return;
      case 'sync':
        this.#pending.push({ kind: 'sync' });
        return;
      case 'function-call':
        this.#pending.push({ kind: 'query', run: newRun('SELECT function_call()', null), start });
        return;
      default:
    }
  }

  #received(frame: Frame): void {
    if (this.#state !== 'login' && frame.type === dataRow) {
      const head = this.#pending[0];
      if (head?.kind === 'query' || head?.kind === 'execute') head.run.rows.push(rowOf(frame));
      return;
    }
    const message = decodeBackend(frame);
    if (message.kind === 'backend-key-data') {
      const database = this.#options.recording.database('postgres', this.#place);
      this.#connection = this.#options.recording.connection(database, String(message.processId));
    }
    if (message.kind === 'ready-for-query') this.#ready(message.status);
    else if (this.#state !== 'login') this.#answer(message);
  }

  #answer(message: BackendMessage): void {
    const head = this.#pending[0];
    switch (message.kind) {
      case 'parse-complete':
      case 'bind-complete':
      case 'close-complete':
        this.#pending.shift();
        return;
      case 'parameter-description':
        if (head?.kind === 'describe') head.statement.parameterTypes = message.types;
        return;
      case 'no-data':
        this.#pending.shift();
        return;
      case 'row-description':
        if (head?.kind === 'query') head.run.fields = message.fields;
        if (head?.kind !== 'describe') return;
        head.statement.fields = message.fields;
        this.#pending.shift();
        return;
      case 'command-complete':
      case 'portal-suspended':
      case 'empty-query-response':
        if (head?.kind !== 'query' && head?.kind !== 'execute') return;
        head.run.results.push(resultOf(head.run, message.kind === 'command-complete' ? message.tag : null));
        head.run.rows = [];
        if (head.kind === 'query') return; // until it is ready
        this.#pending.shift();
        this.#done(head.run, head.start);
        return;
      case 'error-response':
        this.#failed(message.fields['code'] ?? '');
        return;
      default:
    }
  }

  #done(run: Run, start: number): void {
    const parameters = run.portal === null ? [] : parametersOf(run.portal);
    this.#events.push({ sql: run.sql, parameters, start, outcome: { kind: 'done', results: run.results } });
  }

  /** The first that waits has failed; what follows is passed over up to the next Sync. */
  #failed(code: string): void {
    const head = this.#pending.shift();
    if (head?.kind === 'query' || head?.kind === 'execute') {
      const { sql, results } = head.run;
      this.#events.push({
        sql,
        parameters: [],
        start: head.start,
        outcome: { kind: 'failed', code, results: head.kind === 'query' ? results : [] },
      });
    } else if (head !== undefined) {
      // A statement that cannot be parsed or bound fails the transaction just as well.
      const start = this.#options.recording.now();
      this.#events.push({ sql: '', parameters: [], start, outcome: { kind: 'failed', code } });
    }
    if (head?.kind === 'query') this.#pending.unshift({ kind: 'sync' });
    while (this.#pending.length > 0 && this.#pending[0]?.kind !== 'sync') this.#pending.shift();
  }

  #ready(status: 'idle' | 'open' | 'failed'): void {
    const head = this.#pending[0];
    if (head?.kind === 'query') this.#done(head.run, head.start);
    this.#pending.shift();
    this.#status = status;
    this.#state = this.#pending.length === 0 ? 'idle' : 'busy';
    this.#record(this.#options.recording.now());
  }

  #record(end: number): void {
    const events = this.#events.map((event): StatementEvent => ({ ...event, end }));
    this.#events = [];
    if (this.#since !== null) this.#options.recording.answered(this.#since);
    // What was sent since waits for its own Sync.
    this.#since = this.#pending.length === 0 ? null : this.#options.recording.ask(firstStart(this.#pending));
    const [only] = events;
    if (events.length === 1 && only !== undefined) this.#connection?.recorder.record(only);
    else if (events.length > 1) this.#connection?.recorder.recordTogether(events);
  }

  #ask(chunk: Uint8Array): void {
    const sql = this.#connection?.schemaQueryBefore('') ?? '';
    this.#held.push(chunk);
    this.#state = 'asking';
    this.#asked = newRun(sql, null);
    const writer = new MessageWriter();
    encodeFrontend(writer, { kind: 'query', sql });
    this.#options.toServer(Buffer.from(writer.take()));
  }

  #answered(frame: Frame, run: Run): void {
    const message = decodeBackend(frame);
    switch (message.kind) {
      case 'row-description':
        run.fields = message.fields;
        return;
      case 'data-row':
        run.rows.push(message.values.map((value) => (value === null ? null : Uint8Array.from(value))));
        return;
      case 'error-response':
        this.#connection?.learn(null, message.fields['message'] ?? '');
        return;
      case 'command-complete':
        this.#connection?.learn(
          run.rows.map((row) =>
            schemaRowOf(
              run.fields.map(({ name }) => name),
              row,
            ),
          ),
        );
        return;
      case 'ready-for-query': {
        this.#asked = null;
        this.#state = 'idle';
        const held = this.#held;
        this.#held = [];
        for (const chunk of held) this.fromClient(chunk);
        return;
      }
      default:
        this.#options.toClient(frameBytes(frame));
    }
  }
}

export function schemaRowOf(names: readonly string[], row: readonly (Uint8Array | null)[]): SchemaRow {
  return Object.fromEntries(
    names.map((name, i) => {
      const cell = row[i] ?? null;
      return [name, cell === null ? null : Buffer.from(cell).toString()];
    }),
  );
}

const dataRow = 0x44;

function firstStart(pending: readonly Pending[]): number | undefined {
  const first = pending.find((each) => 'start' in each);
  return first !== undefined && 'start' in first ? first.start : undefined;
}

function newRun(sql: string, portal: Portal | null): Run {
  return { sql, portal, fields: [], rows: [], results: [] };
}

/** Copied: a frame is a view of bytes that the socket may use again. */
function rowOf(frame: Frame): (Uint8Array | null)[] {
  const message = decodeBackend(frame);
  return message.kind === 'data-row'
    ? message.values.map((value) => (value === null ? null : Uint8Array.from(value)))
    : [];
}

function resultOf(run: Run, tag: string | null): StatementResult {
  const { portal, rows } = run;
  const fields = portal === null ? run.fields : portal.statement.fields;
  const formatOf = (column: number): number => {
    if (portal === null) return fields[column]?.format ?? 0;
    const { resultFormats } = portal;
    return (resultFormats.length === 1 ? resultFormats[0] : resultFormats[column]) ?? 0;
  };
  const affected = tag === null ? null : /\s(\d+)$/.exec(tag);
  return {
    columns: fields.map(({ name }) => name),
    rowCount: rows.length,
    cell: (row, column) => cellOf(rows[row]?.[column] ?? null, fields[column]?.typeOid ?? 0, formatOf(column)),
    isByName: false,
    isPartial: tag === null,
    affected: affected === null || affected === undefined ? null : Number(affected[1]),
    countsMatched: true,
    insertId: 0n,
  };
}

function parametersOf({ statement, formats, values }: Portal): unknown[] {
  return values.map((value, i) => {
    const format = (formats.length === 1 ? formats[0] : formats[i]) ?? 0;
    return cellOf(value, statement.parameterTypes[i] ?? 0, format);
  });
}

/** The text of a value; `undefined`: binary, of a type that is not known. */
function cellOf(bytes: Uint8Array | null, oid: number, format: number): string | null | undefined {
  if (bytes === null) return null;
  if (format === 0) return Buffer.from(bytes).toString();
  const type = typeOfOid(oid);
  if (type === undefined) return undefined;
  try {
    const value = parseBinary(bytes, type);
    return value === null ? null : formatText(value, type, 'postgres');
  } catch {
    return undefined;
  }
}
