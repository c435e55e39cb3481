/** The other half of watchdog.ts, in its own thread. */
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { constants } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { exitCodes, sameRequestMs } from './interruption.ts';
import { tickMs, type WatchdogData } from './watchdog.ts';
import type { EndReason } from '../host.ts';

const { heart, symbol } = workerData as WatchdogData;
const beats = new Int32Array(heart);
let seen = -1;
let quietTicks = 0;
/** Since the user had enough; `null`: not yet. */
let interruptedTicks: number | null = null;
let interruptedMs = 0;

/** For what the watched thread says before it ends; at once, it says nothing. */
const killMs = { said: 5_000, atOnce: 250 };

/** After an interruption: without a heartbeat, and at all. A thread that gets on ends by itself before that. */
const ticksMax = { quiet: 2, interrupted: 3 };

// Ticks, not a clock: while the whole process is stopped, nothing is late.
const timer = setInterval(() => {
  const now = Atomics.load(beats, 0);
  quietTicks = now === seen ? quietTicks + 1 : 0;
  seen = now;
  if (interruptedTicks !== null) interruptedTicks += 1;
  if (interruptedTicks !== null && (quietTicks >= ticksMax.quiet || interruptedTicks >= ticksMax.interrupted))
    end('interrupted');
  else if (quietTicks >= Atomics.load(beats, 1)) end('stuck');
}, tickMs);

listen();
parentPort?.postMessage('ready', []);

function end(what: EndReason | number): void {
  clearInterval(timer);
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression: `globalThis[Symbol.for('${symbol}')](${JSON.stringify(what)})` });
  setTimeout(killProcess, typeof what === 'number' ? killMs.atOnce : killMs.said);
}

/**
 * `process.on` hears of signals in the main thread only, which may never come back. Node's own handle for signals works in any thread; where a
 * version does not have it any more, a thread that does not come back ends at its limit.
 */
function listen(): void {
  try {
    process.noDeprecation = true;
    const { Signal } = (process as unknown as { binding: (name: string) => SignalBinding }).binding('signal_wrap');
    for (const [name, code] of Object.entries(exitCodes)) {
      const handle = new Signal();
      handle.unref();
      handle.onsignal = () => interrupted(code);
      handle.start(constants.signals[name as keyof typeof exitCodes]);
    }
  } catch {
    // As above.
  }
}

interface SignalBinding {
  readonly Signal: new () => { onsignal: () => void; unref: () => void; start: (number: number) => number };
}

function interrupted(code: number): void {
  const now = performance.now();
  if (interruptedTicks === null) {
    interruptedTicks = 0;
    interruptedMs = now;
  } else if (now - interruptedMs > sameRequestMs) end(code);
}

/** The watched thread does not even answer the inspector. */
function killProcess(): void {
  writeSync(2, 'the program did not give the thread back in time\n');
  process.kill(process.pid, 'SIGKILL');
}
