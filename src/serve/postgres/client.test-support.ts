/** A client that speaks in single messages to a conversation, without a stream between them, and keeps what it hears. */
import {
  type BackendMessage,
  decodeBackend,
  encodeFrontend,
  encodeStartup,
  FrameSplitter,
  type FrontendMessage,
  MessageWriter,
  type StartupPacket,
} from '../../wire/postgres/index.ts';
import type { Conversation } from '../conversation.ts';
import { postgresConversations, type PostgresOptions } from './conversation.ts';
import { TinyServer } from './server.test-support.ts';

export interface RawClientOptions extends Partial<PostgresOptions> {
  readonly admission?: 'welcome' | 'full';
  /** Says after each piece that there is no room; `drain` makes some. */
  readonly isSlow?: boolean;
  /** Of another client of the same server: its conversations. */
  readonly start?: ReturnType<typeof postgresConversations>;
}

/** Bytes that count up: nothing in a test may depend on chance. */
export function countingBytes(count: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, i) => i + 1);
}

export class RawClient {
  readonly server = new TinyServer();
  readonly start: ReturnType<typeof postgresConversations>;
  readonly conversation: Conversation;
  /** What was heard and not taken. */
  readonly heard: BackendMessage[] = [];
  readonly pieces: Uint8Array[] = [];
  readonly bugs: unknown[] = [];
  /** The single bytes that answer SSLRequest and GSSENCRequest. */
  bytes = '';
  awaitsByte = false;
  /** Keeps pieces without decoding them. */
  hearsNothing = false;
  isClosed = false;
  isPaused = false;
  isLoggedIn = false;
  readonly #splitter = new FrameSplitter();

  constructor({ admission = 'welcome', isSlow = false, start, ...options }: RawClientOptions = {}) {
    const onBug = (error: unknown): void => void this.bugs.push(error);
    this.start = start ?? postgresConversations({ server: this.server, randomBytes: countingBytes, onBug, ...options });
    this.conversation = this.start(
      {
        send: (piece) => {
          this.#hear(piece);
          return !isSlow;
        },
        pause: () => {
          this.isPaused = true;
        },
        resume: () => {
          this.isPaused = false;
        },
        loggedIn: () => {
          this.isLoggedIn = true;
        },
        close: () => {
          this.isClosed = true;
        },
      },
      admission,
    );
  }

  startUp(parameters: Readonly<Record<string, string>> = { user: 'ann' }, minor = 0): Promise<BackendMessage[]> {
    return this.packet({ kind: 'startup', major: 3, minor, parameters: new Map(Object.entries(parameters)) });
  }

  packet(packet: StartupPacket): Promise<BackendMessage[]> {
    const writer = new MessageWriter();
    encodeStartup(writer, packet);
    return this.raw(writer.take());
  }

  /** Sends the messages in one piece. @returns what is heard until nothing moves any more */
  say(...messages: FrontendMessage[]): Promise<BackendMessage[]> {
    return this.raw(frontendBytes(...messages));
  }

  async raw(bytes: Uint8Array): Promise<BackendMessage[]> {
    this.conversation.receive(bytes);
    await quiet();
    return this.heard.splice(0);
  }

  query(sql: string): Promise<BackendMessage[]> {
    return this.say({ kind: 'query', sql });
  }

  #hear(piece: Uint8Array): void {
    this.pieces.push(piece);
    if (this.hearsNothing) return;
    if (this.awaitsByte) {
      this.bytes += Buffer.from(piece).toString();
      this.awaitsByte = false;
      return;
    }
    this.#splitter.push(piece);
    for (let frame = this.#splitter.takeFrame(); frame !== undefined; frame = this.#splitter.takeFrame()) {
      this.heard.push(decodeBackend(frame));
    }
  }
}

export function frontendBytes(...messages: FrontendMessage[]): Uint8Array {
  const writer = new MessageWriter();
  for (const message of messages) encodeFrontend(writer, message);
  return writer.take();
}

/** All promises that can go on have gone on. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Messages in short: `Z idle`, `E 42601`, `C SELECT 1`, rows as their texts. */
export function brief(messages: readonly BackendMessage[]): string[] {
  return messages.map((message) => {
    switch (message.kind) {
      case 'ready-for-query':
        return `ready ${message.status}`;
      case 'error-response':
        return `${message.fields.severityName} ${message.fields.code}`;
      case 'notice-response':
        return `${message.fields.severityName} ${message.fields.message}`;
      case 'command-complete':
        return message.tag;
      case 'data-row':
        return message.values.map((value) => (value === null ? 'null' : Buffer.from(value).toString())).join('|');
      case 'row-description':
        return `columns ${message.fields.map(({ name }) => name).join(' ')}`;
      case 'parameter-description':
        return `parameters ${message.types.join(' ')}`;
      case 'parameter-status':
        return `${message.name}=${message.value}`;
      case 'authentication':
        return `authentication ${message.request.method}`;
      default:
        return message.kind;
    }
  });
}

export async function started(options: RawClientOptions = {}): Promise<RawClient> {
  const client = new RawClient(options);
  await client.startUp();
  return client;
}

export const sync: FrontendMessage = { kind: 'sync' };
export const parse = (sql: string, statement = '', parameterTypes: number[] = []): FrontendMessage => ({
  kind: 'parse',
  statement,
  sql,
  parameterTypes,
});
export const bind = (
  values: (string | Uint8Array | null)[] = [],
  given: Partial<Extract<FrontendMessage, { kind: 'bind' }>> = {},
): FrontendMessage => ({
  kind: 'bind',
  portal: '',
  statement: '',
  parameterFormats: [],
  values: values.map((value) => (typeof value === 'string' ? Buffer.from(value) : value)),
  resultFormats: [],
  ...given,
});
export const execute = (rowsMax = 0, portal = ''): FrontendMessage => ({ kind: 'execute', portal, rowsMax });
export const describeOf = (target: 'statement' | 'portal', name = ''): FrontendMessage => ({
  kind: 'describe',
  target,
  name,
});
export const close = (target: 'statement' | 'portal', name = ''): FrontendMessage => ({ kind: 'close', target, name });
