/** A recording into a file or pipe, with marks of what is complete, so that a reader can follow while it is written. */
import { Recording } from '../capture/index.ts';
import { monotonicNanoseconds } from './monotonic-clock.ts';
import { openTraceFile } from './trace-file.ts';

export interface TraceRecording {
  readonly recording: Recording;
  /** Ends the recording, writes what is left. */
  readonly close: () => void;
}

const markEveryMs = 100;

/** @param path `-`: standard output @throws InputError `record/output` */
export function startTraceRecording(
  path: string,
  warn: (message: string) => void,
  { completesReads = false }: { readonly completesReads?: boolean } = {},
): TraceRecording {
  const file = openTraceFile(path, {
    header: { hasMarks: true, clockError: 0 },
    onBroken: (why) => warn(`${why}; nothing more is recorded`),
  });
  const recording = new Recording({ write: file.write, now: monotonicNanoseconds, warn, completesReads });
  const timer = setInterval(() => {
    recording.mark();
    file.flush();
  }, markEveryMs);
  timer.unref();
  return {
    recording,
    close: () => {
      clearInterval(timer);
      recording.end();
      file.close();
    },
  };
}
