/** How far a campaign is, on standard error: a bar on a terminal, a line every few seconds elsewhere. */
import { formatCount } from '../report/index.ts';

export interface Progress {
  /** @param label what is being done, such as a level. @param unit what is counted; runs */
  update(label: string, done: number, total: number, unit?: string): void;
  /** Takes the bar away. */
  stop(): void;
}

export const noProgress: Progress = { update: () => {}, stop: () => {} };

/** Short campaigns print nothing: the first line comes after `everyMs`. */
export function lineProgress(write: (text: string) => void, nowMs: () => number, everyMs = 5_000): Progress {
  let printedMs = nowMs();
  return {
    update(label, done, total, unit = 'runs') {
      if (nowMs() - printedMs < everyMs) return;
      printedMs = nowMs();
      write(`${label}: ${formatCount(done)} of ${formatCount(total)} ${unit}\n`);
    },
    stop: () => {},
  };
}

/** The library is loaded when there is a terminal to draw on, which spares everyone else the time. */
export async function barProgress(stream: NodeJS.WritableStream): Promise<Progress> {
  const { SingleBar } = (await import('cli-progress')).default;
  const format = '{label} [{bar}] {value}/{total} {unit}';
  // Ctrl-C must end the process even when a session never gives this thread back: no handler, and nothing of the terminal to restore.
  const bar = new SingleBar({
    format,
    stream,
    clearOnComplete: true,
    hideCursor: false,
    linewrap: true,
    gracefulExit: false,
    barsize: 30,
  });
  let isShown = false;
  return {
    update(label, done, total, unit = 'runs') {
      if (!isShown) bar.start(total, done, { label, unit });
      isShown = true;
      bar.setTotal(total);
      bar.update(done, { label, unit });
    },
    stop() {
      if (isShown) bar.stop();
      isShown = false;
    },
  };
}
