/** Accepts connections on a port and gives each a conversation; the only file that opens sockets. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { InputError } from '../base/index.ts';
import type { StartConversation } from './conversation.ts';
import { converse } from './converse.ts';

export interface ListenOptions {
  /** Default 127.0.0.1: other machines cannot connect. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 1,000. Those beyond are refused in the protocol's words; of these at most 100 at a time, the rest is cut off. */
  readonly connectionsMax?: number;
  /** Of one address, so that one machine cannot take all places. Default: as many as `connectionsMax`. */
  readonly connectionsPerAddressMax?: number;
  /** How long a client may take to log in, in milliseconds; then it is cut off. Default: as long as it likes. */
  readonly loginMs?: number;
  /** Called with exceptions that a conversation should not have let out. */
  readonly onBug?: (error: unknown) => void;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Open connections, without those that are being refused. */
  readonly connectionCount: number;
  /** Ends every connection at once; nothing of it is left afterwards. */
  close(): Promise<void>;
}

/** A client whose machine has vanished is gone after about so long, and its locks with it. */
const keepAliveMs = 60_000;

const refusedMax = 100;
const refusalMs = 5_000;

/** @throws InputError `serve/address`: the port is taken, the host is not ours */
export async function listen(start: StartConversation, options: ListenOptions = {}): Promise<Listener> {
  const accepted = new Set<Socket>();
  const refused = new Set<Socket>();
  const { connectionsMax = 1_000, connectionsPerAddressMax = connectionsMax, onBug, loginMs } = options;
  const converseOptions = { ...(onBug === undefined ? {} : { onBug }), ...(loginMs === undefined ? {} : { loginMs }) };
  const ofAddress = (address: string | undefined): number =>
    [...accepted].filter(({ remoteAddress }) => remoteAddress === address).length;
  const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs };
  // A client that has said all it wants to say may still wait for answers.
  const server = createServer({ allowHalfOpen: true, ...socketOptions }, (socket) => {
    const isFull =
      accepted.size >= connectionsMax ||
      (accepted.size >= connectionsPerAddressMax && ofAddress(socket.remoteAddress) >= connectionsPerAddressMax);
    if (isFull && refused.size >= refusedMax) {
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    const group = isFull ? refused : accepted;
    group.add(socket);
    socket.on('close', () => group.delete(socket));
    if (isFull) socket.setTimeout(refusalMs, () => socket.destroy());
    converse(socket, start, { ...converseOptions, admission: isFull ? 'full' : 'welcome' });
  });
  const { host, port } = await opened(server, options.host ?? '127.0.0.1', options.port ?? 0);
  return {
    host,
    port,
    get connectionCount() {
      return accepted.size;
    },
    close: () => closed(server, [accepted, refused]),
  };
}

function opened(server: Server, host: string, port: number): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new InputError('serve/address', `cannot listen on ${host}:${port}: ${error.message}`));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      // An error later is one of a single connection, for example too many open files: the others live on.
      server.on('error', () => undefined);
      const address = server.address() as AddressInfo;
      resolve({ host: address.address, port: address.port });
    });
  });
}

async function closed(server: Server, groups: readonly Set<Socket>[]): Promise<void> {
  const sockets = groups.flatMap((group) => [...group]);
  const ends: Promise<unknown>[] = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  ends.push(new Promise((resolve) => server.close(resolve)));
  for (const socket of sockets) socket.destroy();
  await Promise.all(ends);
}
