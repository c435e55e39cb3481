/**
 * One clock for recorders on several machines. `serveClock`: answers every line with its monotonic time, in nanoseconds. `followClock`: asks
 * it again and again, and gives its time with a bound.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { InputError } from '../base/index.ts';
import { ClockOffset } from './clock-offset.ts';

export interface ClockServer {
  readonly port: number;
  readonly close: () => void;
}

/** @throws InputError `clock/address` */
export async function serveClock(host: string, port: number, now: () => number): Promise<ClockServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    let length = 0;
    socket.on('data', (chunk) => {
      for (const byte of chunk) {
        length += 1;
        if (byte === newline) {
          socket.write(`${now()}\n`);
          length = 0;
        }
      }
      if (length > questionLengthMax) socket.destroy(); // none of ours
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new InputError('clock/address', `cannot listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const newline = 0x0a;
const questionLengthMax = 64;

export interface FollowedClock {
  /** Nanoseconds of the clock that is followed. */
  readonly now: () => number;
  /** How far that may be off, in nanoseconds. */
  readonly error: () => number;
  /** What it is off by at most, as long as the other machine answers about as fast as at first. */
  readonly errorMax: number;
  readonly close: () => void;
}

const samplesFirst = 16;
const askEveryMs = 250;
const answerTimeoutMs = 5_000;
const drift = 0.0002;
/** Room for ten seconds of silence, or for answers that take two milliseconds longer than the first ones. */
const roomNs = 2e6;

/** @param source `HOST:PORT` @throws InputError `clock/source` */
export async function followClock(
  source: string,
  local: () => number,
  warn: (message: string) => void,
): Promise<FollowedClock> {
  const offset = new ClockOffset({ drift });
  let asker = await connectAsker(source, local);
  const ask = async (): Promise<void> => {
    const { sent, received, reference } = await asker.ask();
    if (!offset.sample(sent, received, reference)) warn(`the clock of ${source} has jumped, or this machine's has`);
  };
  try {
    for (let i = 0; i < samplesFirst; i += 1) await ask();
  } catch (error) {
    throw noClock(source, error);
  }
  // Only the first answers are waited for: no process should live on for the others.
  asker.unref();
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    // A connection that fails is made again; until then the bound grows.
    ask()
      .catch(async () => {
        asker.close();
        asker = await connectAsker(source, local);
        asker.unref();
      })
      .catch(() => {})
      .finally(() => {
        isBusy = false;
      });
  }, askEveryMs);
  timer.unref();
  return {
    now: () => offset.reference(local()),
    error: () => Math.ceil(offset.error(local())),
    errorMax: Math.ceil(2 * offset.error(local()) + roomNs),
    close: () => {
      clearInterval(timer);
      asker.close();
    },
  };
}

interface Answer {
  readonly sent: number;
  readonly received: number;
  readonly reference: number;
}

interface Asker {
  readonly ask: () => Promise<Answer>;
  readonly unref: () => void;
  readonly close: () => void;
}

async function connectAsker(source: string, local: () => number): Promise<Asker> {
  const [, host, port] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(source) ?? [];
  if (host === undefined || port === undefined)
    throw new InputError('clock/source', `${JSON.stringify(source)} is no clock: it should be HOST:PORT`);
  const socket = connect(Number(port), host);
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', (error) => reject(noClock(source, error)));
  });
  let answer: ((line: string | null) => void) | null = null;
  const end = (): void => answer?.(null);
  socket.on('error', end).on('close', end);
  createInterface({ input: socket }).on('line', (line) => answer?.(line));
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        const fail = (why: string): void => reject(new Error(why));
        const timer = setTimeout(() => fail('no answer'), answerTimeoutMs);
        timer.unref();
        const sent = local();
        answer = (line) => {
          const received = local();
          answer = null;
          clearTimeout(timer);
          if (line === null) fail('it has hung up');
          else if (/^\d{1,16}$/.test(line)) resolve({ sent, received, reference: Number(line) });
          else fail(`it says ${JSON.stringify(line.slice(0, 40))}`);
        };
        socket.write('?\n');
      }),
    unref: () => void socket.unref(),
    close: () => socket.destroy(),
  };
}

function noClock(source: string, error: unknown): InputError {
  if (error instanceof InputError) return error;
  return new InputError(
    'clock/source',
    `no clock at ${source}: ${error instanceof Error ? error.message : String(error)}`,
  );
}
