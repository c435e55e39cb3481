/** The gate between a session's driver and a real server: a stream in this process on one side, a socket on the other. */
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { duplexPair } from '../serve/index.ts';
import type { Answer, GateTap, GateTapOptions, Login, ServerError } from './gate-tap.ts';

/** Where a server listens. */
export interface Address {
  readonly hostname: string;
  readonly port: number;
}

export interface GateOptions {
  readonly address: Address;
  readonly login: Login;
  readonly tap: new (options: GateTapOptions) => GateTap;
  readonly onStatement: (sql: string, pass: () => void) => void;
  readonly onAnswer: (answer: Answer) => void;
  /** The connection did not come about, or broke before the client ended it. */
  readonly onLost: (reason: Lost) => void;
}

/** Why there is no connection: the server refused it, ended it later, or is not there. */
export type Lost =
  | { readonly kind: 'refused' | 'ended'; readonly error: ServerError }
  | { readonly kind: 'unreachable' | 'broken'; readonly message: string };

/** From the connection to the end of the login. */
const loginMsMax = 10_000;

export class Gate {
  /** For the driver. */
  readonly stream: Duplex;
  /** By which the server knows the connection; `null`: it has not let it in yet. */
  id: number | null = null;
  readonly #socket: Socket;
  readonly #options: GateOptions;
  readonly #login: NodeJS.Timeout;
  #isOver = false;
  #isAbandoned = false;

  constructor(options: GateOptions) {
    this.#options = options;
    const { address, login, tap: Tap, onStatement, onAnswer } = options;
    const [stream, inner] = duplexPair();
    this.stream = stream;
    this.#socket = connect(address.port, address.hostname);
    this.#socket.setNoDelay(true);
    this.#login = setTimeout(() => {
      this.#lose({ kind: 'unreachable', message: `it has not let the user in after ${loginMsMax / 1_000} s` });
    }, loginMsMax);
    const tap = new Tap({
      login,
      toClient: (bytes) => {
        if (!this.#isAbandoned) inner.write(bytes);
      },
      toServer: (bytes) => void this.#socket.write(bytes),
      onOpen: (id) => {
        this.id = id;
        clearTimeout(this.#login);
      },
      onRefused: (error) => this.#lose({ kind: this.id === null ? 'refused' : 'ended', error }),
      onEnd: () => (this.#isOver = true),
      onStatement,
      onAnswer,
    });
    inner.on('data', (chunk: Buffer) => this.#take(() => tap.fromClient(chunk)));
    inner.on('end', () => this.#end());
    inner.on('error', () => this.#end());
    this.#socket.on('data', (chunk) => this.#take(() => tap.fromServer(chunk)));
    this.#socket.on('error', ({ message }) =>
      this.#lose({ kind: this.id === null ? 'unreachable' : 'broken', message }),
    );
    this.#socket.on('close', () => {
      clearTimeout(this.#login);
      this.#lose({ kind: 'broken', message: 'the server closed the connection' });
      if (!this.#isAbandoned) inner.end();
    });
  }

  /** Gives the connection up. The driver hears nothing of it: it would end the process with an error that nothing catches. */
  abandon(): void {
    this.#isOver = true;
    this.#isAbandoned = true;
    this.#socket.destroy();
  }

  /** Has neither side ended it? */
  get isOpen(): boolean {
    return !this.#isOver;
  }

  #end(): void {
    this.#isOver = true;
    this.#socket.end();
  }

  #take(read: () => void): void {
    if (this.#socket.destroyed) return;
    try {
      read();
    } catch (error) {
      this.#lose({ kind: 'broken', message: error instanceof Error ? error.message : String(error) });
    }
  }

  #lose(reason: Lost): void {
    if (this.#isOver) return;
    this.abandon();
    this.#options.onLost(reason);
  }
}
