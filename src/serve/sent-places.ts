/**
 * Where in the user's code the statement under way was sent. Drivers in this process write to their stream within the call that sends a
 * statement, so the stack of that write leads there, at the cost of a stack for every write. Between two answers only one place counts: of
 * pipelined statements it is not known which one is answered.
 */
import type { Duplex } from 'node:stream';
import { firstUserFrame } from '../base/index.ts';

/** @returns tells `src/jobs.ts:31`; `null`: a driver that writes later, or several statements at a time */
export function sentPlaces(client: Duplex, server: Duplex): () => string | null {
  const places = new Set<string | null>();
  beforeWrites(client, () => places.add(callerPlace()));
  beforeWrites(server, () => places.clear());
  return () => (places.size === 1 ? ([...places][0] ?? null) : null);
}

function beforeWrites(stream: Duplex, hook: () => void): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (...args: unknown[]): boolean => {
    hook();
    return write(...args);
  };
}

function callerPlace(): string | null {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES_MAX;
  const frame = firstUserFrame(new Error('where the client writes'));
  Error.stackTraceLimit = stackTraceLimit;
  return frame === undefined ? null : `${frame.file}:${frame.line}`;
}

/** Layers of ORMs lie between the application and the driver. */
const FRAMES_MAX = 50;
