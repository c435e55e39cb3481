/**
 * Code that never gives the thread back cannot be ended by a timer or a signal of the same thread. A worker thread counts this thread's
 * heartbeats and hears of signals itself; when the beats stop for too long, or the user has had enough, it has this thread say what it knows and end,
 * through the inspector, which interrupts any JavaScript.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { url as inspectorUrl } from 'node:inspector';
import { devNull } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ownModule } from '../own-files.ts';
import { endProcess } from './end-process.ts';
import type { Watch, Ending, EndReason } from '../host.ts';

/** How often the worker looks. */
export const tickMs = 250;

export interface WatchdogData {
  /** Two int32: the heartbeats so far, and how many ticks may pass without one. */
  readonly heart: SharedArrayBuffer;
  /** The key of a function in the watched thread: it takes an `EndReason`, or an exit code with which to end at once. */
  readonly symbol: string;
}

/** The inspector reaches in this thread only what needs no name of a module. One for each watch: a command may have several. */
let watches = 0;

/**
 * Costs this thread about 2 ms; the worker starts beside it.
 * @param limitMs `Infinity`: only the user ends it
 * @param endingOf `null`: this thread ends by itself soon
 */
export function startWatchdog(limitMs: number, endingOf: (reason: EndReason) => Ending | null): Watch {
  // A debugger stops this thread on purpose.
  if (inspectorUrl() !== undefined) return { ready: Promise.resolve(), beat() {}, limit() {}, stop() {} };
  const heart = new Int32Array(new SharedArrayBuffer(8));
  const beat = (): void => void Atomics.add(heart, 0, 1);
  const limit = (ms: number): void => void Atomics.store(heart, 1, Math.min(2 ** 31 - 1, Math.ceil(ms / tickMs)));
  limit(limitMs);
  let isOver = false;
  const end = (what: EndReason | number): void => {
    if (typeof what === 'number') endSilently(what);
    const ending = isOver ? null : endingOf(what);
    if (ending !== null) endWith(ending);
  };
  watches += 1;
  const symbol = `moirai.end.${watches}`;
  Object.defineProperty(globalThis, Symbol.for(symbol), { configurable: true, value: end });
  const workerData: WatchdogData = { heart: heart.buffer, symbol };
  const worker = new Worker(ownModule('interruption/watchdog-worker'), {
    workerData,
    env: {},
    execArgv: [],
  });
  const ready = new Promise<void>((resolve) => {
    worker.once('message', () => resolve());
    worker.once('exit', () => resolve());
  });
  void ready.then(() => worker.unref());
  const pulse = setInterval(beat, tickMs).unref();
  return {
    ready,
    beat,
    limit,
    stop() {
      isOver = true;
      clearInterval(pulse);
      void worker.terminate();
    },
  };
}

/** Runs while other code of this thread is interrupted for good: no promise and no stream will get on from here. */
function endWith({ out, err, code }: Ending): never {
  writeAll(1, out);
  writeAll(2, err);
  endSilently(code);
}

/** With a session connected, Node prints on exit that it waits for the debugger: it must not reach the user. */
function endSilently(code: number): never {
  closeSync(2);
  openSync(devNull, 'w');
  endProcess(code);
}

/** A full pipe is written again; a pipe whose reader has gone is not. */
function writeAll(descriptor: number, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
    }
  }
}
