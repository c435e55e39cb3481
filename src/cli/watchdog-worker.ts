/** The other half of watchdog.ts, in its own thread. */
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { tickMs, type WatchdogData } from './watchdog.ts';

const { heart, expression } = workerData as WatchdogData;
const beats = new Int32Array(heart);
let seen = -1;
let quietTicks = 0;

// Ticks, not a clock: while the whole process is stopped, nobody is late.
const timer = setInterval(() => {
  const now = Atomics.load(beats, 0);
  quietTicks = now === seen ? quietTicks + 1 : 0;
  seen = now;
  if (quietTicks < Atomics.load(beats, 1)) return;
  clearInterval(timer);
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression });
  setTimeout(killProcess, 2_000);
}, tickMs);

/** The watched thread does not even answer the inspector. */
function killProcess(): void {
  writeSync(2, 'the program did not give the thread back in time\n');
  process.kill(process.pid, 'SIGKILL');
}
