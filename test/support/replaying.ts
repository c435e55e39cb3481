/** Replays on servers of tests. */
import type { SqlProgram } from '../../src/program/index.ts';
import { type RealServer, replayOn, type ReplayedOn, type ReplayOnOptions } from '../../src/replay/index.ts';

/** On this machine, for a user without a password. */
export const localServer = { hostname: '127.0.0.1', password: '', database: '' };

export function replay(
  program: SqlProgram,
  server: RealServer,
  options: Partial<ReplayOnOptions> = {},
): Promise<ReplayedOn> {
  const asked = { before: null, isolation: null, token: null, repeat: 1, timeMaxMs: 30_000, timeoutMs: 10_000 };
  return replayOn(program, { ...asked, signal: undefined, server, ...options });
}
