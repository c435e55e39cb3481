/** Ctrl-C at the built command line. How far a command is by then depends on the machine: tests name an event, or an answer that must come in time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ended, runBuilt, type SpawnOptions } from './cli.ts';

export interface Interrupted extends Ended {
  /** From the signal to the end of the process; 0 where the process ended before it. */
  readonly answerMs: number;
}

/** A command answers within a second. A machine with much else to do may take longer; bench/ has the figure. */
export const answerMsMax = 15_000;

/** @param moment resolves when the signal is to be sent */
export async function interruptedAt(
  args: readonly string[],
  moment: Promise<unknown>,
  options: SpawnOptions = {},
): Promise<Interrupted> {
  let signalMs: number | null = null;
  let isOver = false;
  const send = (kill: (signal: NodeJS.Signals) => void): void => {
    if (isOver) return;
    signalMs = performance.now();
    kill('SIGINT');
  };
  const ended = await runBuilt(args, {
    ...options,
    onStart: (kill, stdin) => {
      options.onStart?.(kill, stdin);
      void moment.then(() => send(kill));
    },
  });
  isOver = true;
  return { ...ended, answerMs: signalMs === null ? 0 : performance.now() - signalMs };
}

/** Interrupts the command at its first output. */
export function interruptedAtOutput(args: readonly string[], options: SpawnOptions = {}): Promise<Interrupted> {
  let printed = (): void => {};
  const moment = new Promise<void>((resolve) => (printed = resolve));
  return interruptedAt(args, moment, { ...options, onOutput: () => printed() });
}

const [firstMs, lastMs] = [1_000, 64_000];

/**
 * Runs the command and interrupts it later and later, each time after twice as long, until its answer is the one that is waited for.
 * @param run interrupts the command at a moment
 * @throws Error with the last answer, where that one does not come
 */
export async function interruptedUntil(
  run: (moment: Promise<unknown>) => Promise<Interrupted>,
  isAwaited: (ended: Interrupted) => boolean,
): Promise<Interrupted> {
  for (let ms = firstMs; ; ms *= 2) {
    const ended = await run(sleep(ms));
    if (isAwaited(ended)) return ended;
    if (ms >= lastMs) throw new Error(`interrupted after ${ms} ms: ${JSON.stringify(ended)}`);
  }
}
