/** The recording proxy: a port in front of a server; each connection has its tap. Sockets are here, messages in the taps. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { InputError } from '../base/index.ts';
import { loadParser } from '../sql/index.ts';
import type { Dialect } from '../sql/model/index.ts';
import { MysqlTap } from './proxy-mysql.ts';
import { PostgresTap } from './proxy-postgres.ts';
import type { ProxyTap, TapOptions } from './proxy-tap.ts';
import type { Recording } from './recording.ts';

export interface ProxyOptions {
  readonly dialect: Dialect;
  readonly upstreamHost: string;
  readonly upstreamPort: number;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly recording: Recording;
  readonly warn: (message: string) => void;
}

export interface Proxy {
  readonly port: number;
  /** Ends every connection, then the recording. */
  readonly close: () => Promise<void>;
}

/** @throws InputError `record/address` where it cannot listen, `record/upstream` where no server answers */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  await loadParser();
  await answers(options);
  const links = new Set<Link>();
  const server = createServer((client) => {
    const link = new Link(client, options, () => links.delete(link));
    links.add(link);
  });
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const link of links) link.end();
      await closed;
      options.recording.end();
    },
  };
}

function answers({ upstreamHost: host, upstreamPort: port }: ProxyOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = connect(port, host);
    probe.setTimeout(10_000, () => probe.destroy(new Error('no answer within 10 seconds')));
    probe.once('connect', () => {
      probe.destroy();
      resolve();
    });
    probe.once('error', (error) =>
      reject(new InputError('record/upstream', `no server at ${host}:${port}: ${error.message}`)),
    );
  });
}

function listen(server: Server, { host, port }: ProxyOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new InputError('record/address', `cannot listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
}

const taps: Readonly<Record<Dialect, new (options: TapOptions) => ProxyTap>> = {
  postgres: PostgresTap,
  mysql: MysqlTap,
};

/** A client, the server, and the tap between them. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #tap: ProxyTap;
  readonly #warn: (message: string) => void;
  readonly #onEnd: () => void;
  /** The tap could not read the bytes: they pass, nothing is recorded any more. */
  #isBlind = false;
  #isOver = false;

  constructor(
    client: Socket,
    { dialect, upstreamHost, upstreamPort, recording, warn }: ProxyOptions,
    onEnd: () => void,
  ) {
    this.#client = client;
    this.#server = connect(upstreamPort, upstreamHost);
    this.#warn = warn;
    this.#onEnd = onEnd;
    const options: TapOptions = {
      recording,
      place: `${upstreamHost}:${upstreamPort}`,
      toClient: (bytes) => pass(bytes, client, this.#server),
      toServer: (bytes) => pass(bytes, this.#server, client),
    };
    this.#tap = new taps[dialect](options);
    client.setNoDelay(true);
    this.#server.setNoDelay(true);
    client.on('data', (chunk) => this.#take(chunk, this.#tap.fromClient.bind(this.#tap), options.toServer));
    this.#server.on('data', (chunk) => this.#take(chunk, this.#tap.fromServer.bind(this.#tap), options.toClient));
    for (const [socket, who] of [
      [client, 'client'],
      [this.#server, 'server'],
    ] as const) {
      socket.on('error', (error) => {
        if (who === 'server' && !this.#isOver) warn(`the connection to the server failed: ${error.message}`);
      });
      socket.on('close', () => this.end());
    }
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tap.close();
    this.#client.end();
    this.#server.end();
    this.#client.destroySoon();
    this.#server.destroySoon();
    this.#onEnd();
  }

  #take(chunk: Buffer, read: (chunk: Uint8Array) => void, forward: (chunk: Uint8Array) => void): void {
    if (this.#isBlind) {
      forward(chunk);
      return;
    }
    try {
      read(chunk);
    } catch (error) {
      this.#isBlind = true;
      this.#warn(`a connection is not recorded any further: ${error instanceof Error ? error.message : String(error)}`);
      this.#tap.close();
      forward(chunk);
    }
  }
}

/** The other side waits while this one cannot take more. */
function pass(bytes: Uint8Array, to: Socket, from: Socket): void {
  if (to.destroyed || to.write(bytes)) return;
  from.pause();
  to.once('drain', () => from.resume());
}
