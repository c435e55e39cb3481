/**
 * A session that loops without ever giving the thread back cannot be ended by a timer of the same thread. A worker thread counts this
 * thread's heartbeats; when they stop it has this thread say where it is, through the inspector, which interrupts any JavaScript.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { url as inspectorUrl } from 'node:inspector';
import { devNull } from 'node:os';
import { Worker } from 'node:worker_threads';

export interface Watch {
  /** This thread is getting on. */
  readonly beat: () => void;
  /** From now on, this long. */
  readonly limit: (limitMs: number) => void;
  readonly stop: () => void;
}

/** How often the worker looks. */
export const tickMs = 250;

export interface WatchdogData {
  /** Two int32: the heartbeats so far, and how many ticks may pass without one. */
  readonly heart: SharedArrayBuffer;
  /** Evaluated in the watched thread. */
  readonly expression: string;
}

/** The one thing that the inspector can reach in this thread without naming a module. */
const stuck = Symbol.for('moirai.stuck');

/** Costs this thread about 2 ms; the worker starts beside it. */
export function startWatchdog(limitMs: number, describe: () => string): Watch {
  // Somebody with a debugger stops this thread on purpose.
  if (inspectorUrl() !== undefined) return { beat: () => {}, limit: () => {}, stop: () => {} };
  const heart = new Int32Array(new SharedArrayBuffer(8));
  const beat = (): void => void Atomics.add(heart, 0, 1);
  const limit = (ms: number): void => void Atomics.store(heart, 1, Math.ceil(ms / tickMs));
  limit(limitMs);
  Object.defineProperty(globalThis, stuck, { configurable: true, value: () => endProcess(describe()) });
  const workerData: WatchdogData = {
    heart: heart.buffer,
    expression: "globalThis[Symbol.for('moirai.stuck')]()",
  };
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./watchdog-worker.${extension}`, import.meta.url), {
    workerData,
    env: {},
    execArgv: [],
  });
  worker.unref();
  const pulse = setInterval(beat, tickMs).unref();
  return {
    beat,
    limit,
    stop() {
      clearInterval(pulse);
      void worker.terminate();
    },
  };
}

/** Runs while other code of this thread is interrupted for good: no promise and no stream will get on from here. */
function endProcess(line: string): never {
  writeSync(2, `${line}\n`);
  // With a session connected, Node prints on exit that it waits for the debugger; to nobody, then.
  closeSync(2);
  openSync(devNull, 'w');
  process.exit(2);
}
