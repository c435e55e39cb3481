/** What starting a database server for a test needs: a free port, a folder, and waiting until it answers. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestServer {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Why a server is not there, and how to get it: the test that needs it prints this and is skipped. */
export class MissingServer extends Error {
  override readonly name = 'MissingServer';
}

/** A server that is missing fails the tests instead of skipping them. */
export function serversAreRequired(): boolean {
  return process.env['MOIRAI_REQUIRE_SERVERS'] === '1';
}

/**
 * Starts it, or says in one line why the tests are skipped: `const server = await startedOrSkipped(startPostgres)`.
 * With MOIRAI_REQUIRE_SERVERS=1 a missing server is an error.
 */
export async function startedOrSkipped(start: () => Promise<TestServer>): Promise<TestServer | undefined> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof MissingServer) || serversAreRequired()) throw error;
    process.stderr.write(`skipped: ${error.message}\n`);
    return undefined;
  }
}

/** A folder that `owner` may write. */
export function serverFolder(name: string, owner: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), `moirai-${name}-`));
  if (owner !== undefined) {
    chmodSync(folder, 0o755);
    run('chown', [`${owner}:`, folder]);
  }
  return folder;
}

/** Servers refuse to run as root, so their own user runs them. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Runs a command to its end. @throws with what it printed */
export function run(command: string, args: readonly string[], user?: string): string {
  const [program, list] = user === undefined ? [command, args] : ['runuser', ['-u', user, '--', command, ...args]];
  const result = spawnSync(program, list, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
  if (result.error !== undefined) throw result.error;
  if (result.status !== 0) throw new Error(`${program} ${list.join(' ')}: ${result.stderr}${result.stdout}`);
  return result.stdout;
}

/** The first of these programs that is there. */
export function findProgram(candidates: readonly string[]): string | undefined {
  return candidates.find((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0);
}

/** A port that is free now; servers take it at once. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Tries until it works. @throws the last error when the time is over */
export async function until(attempt: () => Promise<void>, timeoutMs: number): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** One server for a test file, however many of its suites ask: started for the first, stopped after the last. */
export function shared(start: () => Promise<TestServer>): () => Promise<TestServer> {
  let users = 0;
  let running: Promise<TestServer> | undefined;
  return async () => {
    users += 1;
    running ??= start();
    const started = running;
    try {
      const { port, stop } = await started;
      let isStopped = false;
      return {
        port,
        stop: async () => {
          if (isStopped) return;
          isStopped = true;
          users -= 1;
          if (users > 0) return;
          running = undefined;
          await stop();
        },
      };
    } catch (error) {
      users -= 1;
      running = undefined;
      throw error;
    }
  };
}
