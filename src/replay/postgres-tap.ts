/**
 * The gate in front of PostgreSQL: a Query, or the messages up to a Sync or a Flush, wait as one statement. Manual, "Message Flow". The gate logs
 * in by itself; the client learns only that it is in.
 */
import { secretBytes } from '../base/index.ts';
import { shownRows } from '../database/index.ts';
import { outcomeText } from '../sql-program/index.ts';
import {
  type AuthenticationRequest,
  type BackendMessage,
  decodeBackend,
  decodeFrontend,
  decodeStartup,
  encodeFrontend,
  encodePassword,
  encodeSaslInitialResponse,
  encodeStartup,
  type Frame,
  frameBytes,
  FrameSplitter,
  type FrontendMessage,
  md5Password,
  MessageWriter,
  type ScramClientFinal,
  scramClientFinal,
  scramClientFirst,
  scramMechanism,
} from '../wire/postgres/index.ts';
import type { GateTap, GateTapOptions, ServerError } from './gate-tap.ts';
import { type Sent, StatementQueue } from './statement-queue.ts';

/** Messages that pass together. */
interface Batch extends Sent {
  /** Does the end of the execution end the answer, and not ReadyForQuery? */
  readonly isFlushed: boolean;
  readonly isBinary: boolean;
}

type ErrorResponse = Extract<BackendMessage, { kind: 'error-response' }>;

interface Portal {
  readonly sql: string;
  readonly isBinary: boolean;
}

const frameBytesMax = 1 << 26;

export class PostgresTap implements GateTap {
  readonly #options: GateTapOptions;
  readonly #client = new FrameSplitter({ frameBytesMax });
  readonly #server = new FrameSplitter({ frameBytesMax });
  readonly #statements = new Map<string, string>();
  readonly #portals = new Map<string, Portal>();
  #state: 'startup' | 'login' | 'open' = 'startup';
  #scram: ScramClientFinal | null = null;
  #nonce = '';
  /** Since the last batch. */
  #bytes: Uint8Array[] = [];
  #executed: Portal[] = [];
  readonly #queue: StatementQueue<Batch>;
  /** Of the execution under way. */
  #rows: string[][] = [];
  #rowCount = 0;
  #hasRows = false;

  constructor(options: GateTapOptions) {
    this.#options = options;
    this.#queue = new StatementQueue(options);
  }

  fromClient(chunk: Uint8Array): void {
    this.#client.push(chunk);
    if (this.#state === 'startup') this.#startup();
    if (this.#state === 'startup') return;
    for (let frame = this.#client.takeFrame(); frame !== undefined; frame = this.#client.takeFrame()) this.#sent(frame);
  }

  fromServer(chunk: Uint8Array): void {
    this.#server.push(chunk);
    for (let frame = this.#server.takeFrame(); frame !== undefined; frame = this.#server.takeFrame()) {
      const message = decodeBackend(frame);
      if (message.kind === 'error-response' && (this.#state === 'login' || isFatal(message)))
        this.#options.onRefused(errorOf(message));
      if (this.#state === 'open') this.#answer(message);
      else if (!this.#loggingIn(message)) continue;
      this.#options.toClient(frameBytes(frame));
    }
  }

  #startup(): void {
    for (let body = this.#client.takeStartup(); body !== undefined; body = this.#client.takeStartup()) {
      const packet = decodeStartup(body);
      if (packet.kind === 'ssl-request' || packet.kind === 'gssenc-request') {
        this.#options.toClient(Buffer.from('N'));
        continue;
      }
      if (packet.kind !== 'startup') return;
      const { user, database, isolation } = this.#options.login;
      const parameters = new Map([...packet.parameters, ['user', user], ['database', database]]);
      if (isolation !== null) parameters.set('default_transaction_isolation', isolation);
      const writer = new MessageWriter();
      encodeStartup(writer, { ...packet, parameters });
      this.#options.toServer(writer.take());
      this.#state = 'login';
      return;
    }
  }

  /** @returns does the client see it? */
  #loggingIn(message: BackendMessage): boolean {
    switch (message.kind) {
      case 'authentication':
        if (message.request.method === 'ok') return true;
        this.#authenticate(message.request);
        return false;
      case 'backend-key-data':
        this.#options.onOpen(message.processId);
        return true;
      case 'ready-for-query':
        this.#state = 'open';
        return true;
      default:
        return true;
    }
  }

  #authenticate(request: AuthenticationRequest): void {
    const { user, password } = this.#options.login;
    switch (request.method) {
      case 'cleartext':
        return this.#respond(encodePassword(password));
      case 'md5':
        return this.#respond(encodePassword(md5Password(password, user, request.salt)));
      case 'sasl':
        this.#nonce = Buffer.from(secretBytes(18)).toString('base64');
        return this.#respond(
          encodeSaslInitialResponse({ mechanism: scramMechanism, data: scramClientFirst(this.#nonce) }),
        );
      case 'sasl-continue':
        this.#scram = scramClientFinal(this.#nonce, password, request.data);
        return this.#respond(this.#scram.data);
      case 'sasl-final':
        if (this.#scram?.verify(request.data) !== true)
          this.#options.onRefused({ code: '28P01', message: 'the server does not know the password' });
        return;
      default:
        this.#options.onRefused({ code: '28000', message: 'the server asks for a way to log in that moirai lacks' });
    }
  }

  #respond(data: Uint8Array): void {
    const writer = new MessageWriter();
    encodeFrontend(writer, { kind: 'authentication-response', data });
    this.#options.toServer(writer.take());
  }

  #sent(frame: Frame): void {
    this.#bytes.push(frameBytes(frame));
    const message = decodeFrontend(frame);
    this.#note(message);
    if (message.kind === 'terminate') this.#options.onEnd();
    if (message.kind === 'query' || message.kind === 'sync' || message.kind === 'function-call') this.#flush('ready');
    else if (message.kind === 'flush') this.#flush(this.#executed.length > 0 ? 'execution' : 'nothing');
    else if (passing.has(message.kind)) this.#flush('nothing');
  }

  #note(message: FrontendMessage): void {
    switch (message.kind) {
      case 'query':
        this.#executed.push({ sql: message.sql, isBinary: false });
        return;
      case 'parse':
        this.#statements.set(message.statement, message.sql);
        return;
      case 'bind':
        this.#portals.set(message.portal, {
          sql: this.#statements.get(message.statement) ?? '',
          isBinary: message.resultFormats.includes(1),
        });
        return;
      case 'execute':
        this.#executed.push(this.#portals.get(message.portal) ?? { sql: '', isBinary: false });
        return;
      default:
    }
  }

  #flush(end: 'ready' | 'execution' | 'nothing'): void {
    const executed = this.#executed;
    const bytes = Buffer.concat(this.#bytes);
    this.#bytes = [];
    this.#executed = [];
    this.#queue.push({
      bytes,
      sql: executed.length === 0 ? null : executed.map(({ sql }) => sql).join('; '),
      isAnswered: end !== 'nothing',
      isFlushed: end === 'execution',
      isBinary: executed.some(({ isBinary }) => isBinary),
      outcomes: [],
      error: null,
    });
  }

  #answer(message: BackendMessage): void {
    const batch = this.#queue.answering;
    if (batch === undefined) return;
    switch (message.kind) {
      case 'row-description':
        this.#hasRows = true;
        return;
      case 'data-row':
        this.#hasRows = true;
        this.#rowCount += 1;
        if (this.#rows.length < rowsKept) this.#rows.push(message.values.map(cellText));
        return;
      case 'command-complete':
      case 'portal-suspended':
        batch.outcomes.push(this.#outcome(message.kind === 'command-complete' ? message.tag : '', batch.isBinary));
        if (batch.isFlushed) this.#queue.answered();
        return;
      case 'error-response':
        batch.error = errorOf(message);
        if (batch.isFlushed) this.#queue.answered();
        return;
      case 'ready-for-query':
        this.#queue.answered();
        return;
      default:
    }
  }

  #outcome(tag: string, isBinary: boolean): string {
    const changed = Number(/\d+$/.exec(tag)?.[0] ?? 0);
    const hasRows = this.#hasRows || tag.startsWith('SELECT');
    const [rows, rowCount] = [this.#rows, this.#rowCount];
    this.#rows = [];
    this.#rowCount = 0;
    this.#hasRows = false;
    const shown = isBinary ? `${rowCount} rows` : shownRows(rows, rowCount);
    return outcomeText({ command: tag, rowCount: changed, error: null }, hasRows ? shown : null);
  }
}

/** As many as are shown, and one. */
const rowsKept = 4;

/** They wait for nothing and end nothing: what a COPY sends, and the end of the connection. */
const passing: ReadonlySet<FrontendMessage['kind']> = new Set(['copy-data', 'copy-done', 'copy-fail', 'terminate']);

function cellText(value: Uint8Array | null): string {
  return value === null ? 'null' : Buffer.from(value).toString();
}

/** After such an error the server closes the connection. */
function isFatal({ fields: { severity, severityName = severity } }: ErrorResponse): boolean {
  return severityName === 'FATAL' || severityName === 'PANIC';
}

function errorOf({ fields }: ErrorResponse): ServerError {
  return { code: fields.code ?? 'XX000', message: fields.message ?? 'an error without a message' };
}
