/**
 * The one way out of the process. A program under test that calls `process.exit` would end it with a code of its own and without a verdict, and 0
 * would read as green: every end that is not ours has exit code 3 and says so.
 */
import { writeSync } from 'node:fs';

let isOurs = false;

/** Ends the process with a verdict. */
export function endProcess(code: number): never {
  isOurs = true;
  process.exit(code);
}

/** Node's own exit code for a module that awaits what never comes: no call of process.exit. */
const UNSETTLED_AWAIT = 13;

/** From here on, an end of the process that is not ours is the fault of the program under test. */
export function refuseOtherEnds(): void {
  process.on('exit', (code) => {
    if (isOurs || code === UNSETTLED_AWAIT) return;
    writeSync(2, `the program called process.exit(${code}): there is no verdict [program/process-exit]\n`);
    process.exitCode = 3;
  });
}
