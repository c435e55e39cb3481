/** A recording into a file or pipe, with marks of what is complete, so that a reader can follow while it is written. */
import { Recording } from '../capture/index.ts';
import { type FollowedClock, followClock } from './clock-source.ts';
import { monotonicNanoseconds } from './monotonic-clock.ts';
import { openTraceFile } from './trace-file.ts';

export interface TraceRecording {
  readonly recording: Recording;
  /** Ends the recording, writes what is left. */
  readonly close: () => void;
}

export interface TraceRecordingOptions {
  readonly completesReads?: boolean;
  /** `HOST:PORT` of `moirai clock`. */
  readonly clockSource?: string | undefined;
}

const markEveryMs = 100;

/** @param path `-`: standard output @throws InputError `record/output`, `clock/source` */
export async function startTraceRecording(
  path: string,
  warn: (message: string) => void,
  { completesReads = false, clockSource }: TraceRecordingOptions = {},
): Promise<TraceRecording> {
  const clock = clockSource === undefined ? null : await followClock(clockSource, monotonicNanoseconds, warn);
  const file = openTraceFile(path, {
    header: { hasMarks: true, clockError: clock?.errorMax ?? 0 },
    onBroken: (why) => warn(`${why}; nothing more is recorded`),
  });
  const recording = new Recording({ write: file.write, now: clock?.now ?? monotonicNanoseconds, warn, completesReads });
  const watch = clock === null ? () => {} : errorWatch(clock, recording, warn);
  const timer = setInterval(() => {
    watch();
    recording.mark();
    file.flush();
  }, markEveryMs);
  timer.unref();
  return {
    recording,
    close: () => {
      clearInterval(timer);
      watch();
      clock?.close();
      recording.end();
      file.close();
    },
  };
}

/** What the error grows by until the next look, twice. */
const slackNs = 50_000;

/** A trace whose clock is off by more than it says must say so. */
function errorWatch(clock: FollowedClock, recording: Recording, warn: (message: string) => void): () => void {
  let said = clock.errorMax;
  return () => {
    const error = clock.error();
    if (error <= said - slackNs) return;
    said = 4 * error;
    recording.declareClockError(said);
    warn(`the clock that is followed says nothing; times may be off by ${(said / 1e6).toFixed(1)} ms from now on`);
  };
}
