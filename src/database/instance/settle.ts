/** How long the scheduler waits for statements on their way before it decides. */
// Those of the module: the global ones are watched while programs are tested.
import { clearImmediate, setImmediate } from 'node:timers';
import type { Settle } from './scheduler.ts';

/** Three turns: a client in this process has read its answer and sent its next statement by then. */
export function settleInProcess(callback: () => void): () => void {
  let turns = 0;
  let immediate = setImmediate(turn);
  function turn(): void {
    turns += 1;
    if (turns === SETTLE_TURNS) callback();
    else immediate = setImmediate(turn);
  }
  return () => clearImmediate(immediate);
}

const SETTLE_TURNS = 3;

/** For clients behind sockets: a window, in milliseconds; 0: none. */
export function settleWithin(windowMs: number): Settle | null {
  if (windowMs === 0) return null;
  return (callback) => {
    const timer = setTimeout(callback, windowMs);
    return () => clearTimeout(timer);
  };
}
