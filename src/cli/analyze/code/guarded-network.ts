/** The network of an application under analysis: the mock database, and nothing else. */
import { Server, Socket } from 'node:net';

export class GuardedNetwork {
  /** The first address that was refused since it was asked last. */
  #refused: string | null = null;

  /** Of this thread, for as long as it lives. @param port of the mock database, on loopback */
  constructor(port: number) {
    const connect = methodOf(Socket.prototype, 'connect');
    const refuse = (address: string): void => void (this.#refused ??= address);
    Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
      const address = addressOf(args);
      if (address === `127.0.0.1:${port}` || loaderPipe.test(address))
        return Reflect.apply(connect, this, args) as Socket;
      refuse(address);
      return this.destroy(new Error(`analyze --run-code connects to the mock database only, not to ${address}`));
    };
    const listen = methodOf(Server.prototype, 'listen');
    // A server that the application starts takes no port of the machine that others use.
    Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
      const onListening = args.filter((each) => typeof each === 'function');
      return Reflect.apply(listen, this, [{ host: '127.0.0.1', port: 0 }, ...onListening]) as Server;
    };
  }

  takeRefused(): string | null {
    const refused = this.#refused;
    this.#refused = null;
    return refused;
  }
}

type AnyMethod = (this: unknown, ...args: unknown[]) => unknown;

function methodOf<Name extends string>(owner: Readonly<Record<Name, unknown>>, name: Name): AnyMethod {
  return owner[name] as AnyMethod;
}

/** On which tsx, which loads TypeScript, speaks to its own process. */
const loaderPipe = /[\\/]tsx-[^\\/]+[\\/]\d+\.pipe$/;

/** As `net.Socket.connect` takes it: options, a port and a host, a path; `net.connect` passes all in a list. */
function addressOf([first, second]: readonly unknown[]): string {
  if (Array.isArray(first)) return addressOf(first);
  if (typeof first !== 'object' || first === null)
    return /^\d+$/.test(String(first))
      ? `${typeof second === 'string' ? second : 'localhost'}:${String(first)}`
      : String(first);
  const { path, host = 'localhost', port } = first as { path?: string | null; host?: string; port?: number | string };
  return path ?? `${host}:${port}`;
}
