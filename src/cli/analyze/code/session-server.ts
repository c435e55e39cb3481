/** A port on loopback that the application of one session has for its database. The connections of a call end with it. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export class SessionServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** What a connection comes to; `null`: no call is under way. */
  #connect: (() => Duplex) | null = null;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#bridge(socket));
  }

  static async listen(): Promise<SessionServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: '127.0.0.1', port: 0 }, resolve);
    });
    return new SessionServer(server);
  }

  get port(): number {
    // It listens on an address of TCP.
    return (this.#server.address() as AddressInfo).port;
  }

  /** With `connect` for the connections that `run` makes. */
  async during<Result>(connect: () => Duplex, run: () => Promise<Result>): Promise<Result> {
    this.#connect = connect;
    try {
      return await run();
    } finally {
      this.#connect = null;
      await Promise.all([...this.#sockets].map(ended));
    }
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #bridge(socket: Socket): void {
    const stream = this.#connect?.();
    if (stream === undefined) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.pipe(stream);
    stream.pipe(socket);
    // Either side may break off; the other hears of it.
    socket.on('error', () => stream.destroy());
    stream.on('error', () => socket.destroy());
    stream.on('close', () => socket.end());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      stream.destroy();
    });
  }
}

const endMs = 500;

/** A pool keeps its connections: it sees that the server has ended them before the next call. */
function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.destroy(), endMs);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.end();
  });
}
