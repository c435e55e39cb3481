/** Imports of the application, one for each session: a thread with an environment of its own, whose database is a port of this process. */
import type { Duplex } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import type { ApplicationCode, CallOutcome, Dialect, UnitCall } from '../../../analyze/index.ts';
import type { Host } from '../../host.ts';
import { startThread } from '../../threads/start-thread.ts';
import { ask } from '../../threads/with-threads.ts';
import type { ApplicationData } from './application-worker.ts';
import { SessionServer } from './session-server.ts';

/** For one call, with the import of the application. */
const callMsMax = 20_000;

export class ApplicationThreads implements ApplicationCode {
  readonly #dialect: Dialect;
  readonly #env: Host['env'];
  readonly #interruption: AbortSignal;
  readonly #threads = new Map<number, Promise<ApplicationThread>>();

  constructor(dialect: Dialect, { env, interruption }: Pick<Host, 'env' | 'interruption'>) {
    this.#dialect = dialect;
    this.#env = env;
    this.#interruption = interruption;
  }

  async call(application: number, call: UnitCall, connect: () => Duplex): Promise<CallOutcome> {
    const starting = this.#threads.get(application) ?? this.#start();
    this.#threads.set(application, starting);
    // The scheduler of the mock database sees that something will come by itself, also while the thread starts.
    const awaited = setTimeout(() => undefined, callMsMax);
    try {
      const thread = await starting;
      const outcome = await thread.call(call, connect, this.#interruption);
      if (thread.hasEnded) await this.forget(application);
      return outcome;
    } finally {
      clearTimeout(awaited);
    }
  }

  async forget(application: number): Promise<void> {
    const thread = this.#threads.get(application);
    this.#threads.delete(application);
    await (await thread)?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads.keys()].map((application) => this.forget(application)));
  }

  async #start(): Promise<ApplicationThread> {
    const server = await SessionServer.listen();
    const data: ApplicationData = { port: server.port };
    const env = { ...keptOf(this.#env), ...databaseOf[this.#dialect](server.port) };
    // What the application prints is not ours.
    const worker = startThread('analyze/code/application-worker', data, { env, stdout: true, stderr: true });
    worker.stdout.resume();
    worker.stderr.resume();
    return new ApplicationThread(worker, server);
  }
}

class ApplicationThread {
  readonly #worker: Worker;
  readonly #server: SessionServer;
  /** Its last call did not end: it takes no other. */
  hasEnded = false;

  constructor(worker: Worker, server: SessionServer) {
    this.#worker = worker;
    this.#server = server;
  }

  call(call: UnitCall, connect: () => Duplex, interruption: AbortSignal): Promise<CallOutcome> {
    return this.#server.during(connect, () => this.#answer(call, interruption));
  }

  async #answer(call: UnitCall, interruption: AbortSignal): Promise<CallOutcome> {
    let timer: NodeJS.Timeout | undefined;
    let stop = (): void => undefined;
    const stopped = new Promise<CallOutcome>((resolve) => {
      const end = (reason: string): void => {
        this.hasEnded = true;
        resolve({ kind: 'failed', reason });
      };
      stop = () => end('it was interrupted');
      timer = setTimeout(() => end(`it did not end within ${callMsMax / 1_000} s`), callMsMax);
      interruption.addEventListener('abort', stop);
      if (interruption.aborted) stop();
    });
    try {
      return await Promise.race([ask<CallOutcome>(this.#worker, call, () => undefined), stopped]);
    } catch (error) {
      this.hasEnded = true;
      return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
    } finally {
      clearTimeout(timer);
      interruption.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.#server.close();
    await this.#worker.terminate();
  }
}

/** What a program needs to run at all. Keys and addresses of other services are not passed on. */
const kept = /^(?:PATH|HOME|TMPDIR|TEMP|TMP|TZ|LANG|LC_.*|NODE_ENV|SystemRoot|USERPROFILE)$/i;

function keptOf(env: Host['env']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && kept.test(name) ? [[name, value]] : [])),
  );
}

/** What drivers and ORMs read of it. */
const databaseOf: Readonly<Record<Dialect, (port: number) => Readonly<Record<string, string>>>> = {
  postgres: (port) => ({
    DATABASE_URL: `postgres://moirai:moirai@127.0.0.1:${port}/moirai`,
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    PGUSER: 'moirai',
    PGPASSWORD: 'moirai',
    PGDATABASE: 'moirai',
    PGSSLMODE: 'disable',
  }),
  mysql: (port) => ({
    DATABASE_URL: `mysql://moirai:moirai@127.0.0.1:${port}/moirai`,
    MYSQL_HOST: '127.0.0.1',
    MYSQL_PORT: String(port),
    MYSQL_USER: 'moirai',
    MYSQL_PASSWORD: 'moirai',
    MYSQL_DATABASE: 'moirai',
  }),
};
