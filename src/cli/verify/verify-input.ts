/** The traces of `moirai verify`: read from files or a pipe, merged, shown while they come in. */
import { InputError } from '../../base/index.ts';
import { formatCount } from '../../report/index.ts';
import type { readTraces, TraceResult, TraceState } from '../../verify/index.ts';
import { ofKind } from '../files/file-kind.ts';
import type { Host } from '../host.ts';

interface Verification {
  readonly state: TraceState;
  push(bytes: Uint8Array): void;
  finish(): TraceResult;
}

const progressEveryMs = 5_000;

/** Where it is interrupted, a trace in which nothing has come by then is no fault. @param read `readTraces`, which the command has loaded */
export async function readAll(
  files: readonly string[],
  verification: Verification,
  host: Host,
  read: typeof readTraces,
): Promise<TraceResult> {
  const stopShowing = showEvery(progressEveryMs, verification, host);
  try {
    const traces = files.map((file) => ofKind('trace', host.openInput(file), file));
    return await read(traces, verification, () => host.interruption.aborted);
  } catch (error) {
    throw error instanceof InputError && error.place?.file === undefined ? error.in(namesOf(files)) : error;
  } finally {
    stopShowing();
  }
}

/** A line every so often, also while nothing comes. @returns ends it */
function showEvery(everyMs: number, verification: Verification, host: Host): () => void {
  let [shownMs, operationsShown] = [performance.now(), 0];
  const timer = setInterval(() => {
    const { counts, pipeline, lag, isRecorded } = verification.state;
    const nowMs = performance.now();
    const rate = Math.round(((counts.operations - operationsShown) / (nowMs - shownMs)) * 1_000);
    const parts = [
      `${formatCount(counts.operations)} operations`,
      `${formatCount(rate)}/s`,
      `${formatCount(pipeline.waiting)} waiting, lag ${isRecorded ? `${(lag / 1e9).toFixed(3)} s` : formatCount(lag)}`,
      `${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`,
      `${formatCount(counts.violations)} violations`,
      `dependencies: ${shareText(counts.deduced, counts.uncertain)}`,
    ];
    host.err(`${parts.join(', ')}\n`);
    [shownMs, operationsShown] = [nowMs, counts.operations];
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

export function namesOf(files: readonly string[]): string {
  return files.map((file) => (file === '-' ? 'standard input' : file)).join(', ');
}

export function shareText(deduced: number, uncertain: number): string {
  const share = deduced + uncertain === 0 ? 0 : uncertain / (deduced + uncertain);
  return `${formatCount(deduced)} deduced, ${formatCount(uncertain)} uncertain (${(100 * share).toFixed(2)} %)`;
}
