/** Puts a conversation on a stream of bytes: a socket, or one end of a pair in the same process. */
import type { Duplex } from 'node:stream';
// That of the module: the global one is watched while programs are tested.
import { setTimeout } from 'node:timers';
import type { Conversation, StartConversation, Transport } from './conversation.ts';

export interface ConverseOptions {
  readonly admission?: 'welcome' | 'full';
  /** Called with exceptions that a conversation should not have let out; the connection has been ended. */
  readonly onBug?: (error: unknown) => void;
  /**
   * How long the client may take to hang up once we have: until then what it still sends is read and dropped, because a socket that is closed
   * with bytes unread may lose our last words. Default 2,000.
   */
  readonly lingerMs?: number;
  /** How long the client may take to log in; then it is cut off, as servers do. Default: as long as it likes. */
  readonly loginMs?: number;
}

export function converse(stream: Duplex, start: StartConversation, options: ConverseOptions = {}): void {
  let isClosing = false;
  let timer: NodeJS.Timeout | undefined;
  const login = options.loginMs === undefined ? undefined : setTimeout(() => stream.destroy(), options.loginMs).unref();
  const transport: Transport = {
    send: (bytes) => isClosing || stream.destroyed || stream.writableEnded || stream.write(bytes),
    pause: () => {
      if (!isClosing) stream.pause();
    },
    resume: () => stream.resume(),
    loggedIn: () => clearTimeout(login),
    close: () => {
      if (isClosing) return;
      isClosing = true;
      stream.end();
      stream.resume();
      if (!stream.destroyed) timer = setTimeout(() => stream.destroy(), options.lingerMs ?? 2_000).unref();
    },
  };
  const guarded = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      isClosing = true;
      stream.destroy();
      options.onBug?.(error);
    }
  };
  // The stream reports what went wrong with it by `close`, too; without a listener an error would end the process.
  stream.on('error', () => undefined);
  guarded(() => listen(stream, start(transport, options.admission ?? 'welcome'), guarded, () => isClosing));
  stream.on('close', () => {
    clearTimeout(timer);
    clearTimeout(login);
  });
}

function listen(
  stream: Duplex,
  conversation: Conversation,
  guarded: (step: () => void) => void,
  isClosing: () => boolean,
): void {
  stream.on('data', (chunk: Uint8Array) => {
    if (!isClosing()) guarded(() => conversation.receive(chunk));
  });
  stream.on('drain', () => guarded(() => conversation.drained()));
  stream.on('end', () => guarded(() => conversation.ended()));
  stream.on('close', () => guarded(() => conversation.closed()));
}
