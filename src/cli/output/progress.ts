/** How far a command is, on standard error: a bar on a terminal, a line every few seconds elsewhere. */
import { formatCount, formatEstimated } from '../../report/index.ts';

/** How many there will be: as many as were asked for, about as many as were estimated, or fewer than an estimate; `null`: not known yet. */
export type Total = number | { readonly about: number | null } | { readonly atMost: number | null };

export interface Progress {
  /** @param label what is being done, such as a level. @param unit what is counted; runs */
  update(label: string, done: number, total: Total, unit?: string): void;
  /** Takes the bar away. */
  stop(): void;
}

export const noProgress: Progress = { update: () => {}, stop: () => {} };

/** Short campaigns print nothing: the first line comes after `everyMs`. */
export function lineProgress(write: (text: string) => void, nowMs: () => number, everyMs = 5_000): Progress {
  const elapsed = stopwatch(nowMs);
  let printedMs = nowMs();
  return {
    update(label, done, total, unit = 'runs') {
      const elapsedMs = elapsed(label);
      if (nowMs() - printedMs < everyMs) return;
      printedMs = nowMs();
      write(`${label}: ${progressText(done, total, unit, elapsedMs)}\n`);
    },
    stop: () => {},
  };
}

/** `29,312 runs, about 8,500,000,000 expected, more than 40 days left`. */
function progressText(done: number, total: Total, unit: string, elapsedMs: number): string {
  if (typeof total === 'number') return `${formatCount(done)} of ${formatCount(total)} ${unit}`;
  const isLimit = 'atMost' in total;
  const expected = isLimit ? total.atMost : total.about;
  if (expected === null) return `${formatCount(done)} ${unit}`;
  const most = isLimit ? 'at most ' : '';
  const leftMs = done === 0 ? Infinity : (Math.max(0, expected - done) / done) * elapsedMs;
  return `${formatCount(done)} ${unit}, ${most}about ${formatEstimated(expected)} expected, ${most}${timeText(leftMs)} left`;
}

/** To be read at a glance, and never more exact than an estimate is. */
function timeText(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 60) return 'a minute';
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} minutes`;
  if (seconds < 36 * 3_600) return `${Math.round(seconds / 3_600)} hours`;
  const days = seconds / 86_400;
  return days <= DAYS_TOLD ? `${Math.round(days)} days` : `more than ${DAYS_TOLD} days`;
}

const DAYS_TOLD = 40;

/** The library is loaded when there is a terminal to draw on, which spares everyone else the time. */
export async function barProgress(stream: NodeJS.WritableStream): Promise<Progress> {
  const { SingleBar } = (await import('cli-progress')).default;
  // Ctrl-C is heard elsewhere, and there is nothing of the terminal to restore: no handler.
  const bar = new SingleBar({
    format: '{label} [{bar}] {text}',
    stream,
    clearOnComplete: true,
    hideCursor: false,
    linewrap: true,
    gracefulExit: false,
    barsize: 30,
  });
  const elapsed = stopwatch(() => performance.now());
  let isShown = false;
  return {
    update(label, done, total, unit = 'runs') {
      const text = progressText(done, total, unit, elapsed(label));
      const end = Math.max(1, done, Math.round(endOf(total) ?? Infinity));
      const most = Number.isFinite(end) ? end : Number.MAX_SAFE_INTEGER;
      if (!isShown) bar.start(most, done, { label, text });
      isShown = true;
      bar.setTotal(most);
      bar.update(done, { label, text });
    },
    stop() {
      if (isShown) bar.stop();
      isShown = false;
    },
  };
}

/** How long a label has been worked on. */
function stopwatch(nowMs: () => number): (label: string) => number {
  let [current, startedMs] = ['', nowMs()];
  return (label) => {
    if (label !== current && current !== '') startedMs = nowMs();
    current = label;
    return nowMs() - startedMs;
  };
}

function endOf(total: Total): number | null {
  if (typeof total === 'number') return total;
  return 'atMost' in total ? total.atMost : total.about;
}
