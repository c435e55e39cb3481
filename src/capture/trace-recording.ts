/** A recording into a file or pipe, with marks of what is complete, so that a reader can follow while it is written. */
import { InputError, monotonicNanoseconds } from '../base/index.ts';
import { type FollowedClock, followClock } from './clock-source.ts';
import { Recording } from './recording.ts';
import { openTraceFile } from './trace-file.ts';

export interface TraceRecording {
  readonly recording: Recording;
  /** Ends the recording, writes what is left. @returns why the trace is not whole; `null`: it is */
  readonly close: () => InputError | null;
}

export interface TraceRecordingOptions {
  readonly completesReads?: boolean;
  /** Keep every statement with its values and rows. */
  readonly keepsStatements?: boolean;
  /** `HOST:PORT` of `moirai clock`. */
  readonly clockSource?: string | undefined;
}

const markEveryMs = 100;
const keptText =
  'the trace keeps the text of every statement, its values and the rows that came back: passwords and personal data, too';

/** @param path `-`: standard output @throws InputError `file/output`, `file/locked`, `clock/source` */
export async function startTraceRecording(
  path: string,
  warn: (message: string) => void,
  { completesReads = false, keepsStatements = false, clockSource }: TraceRecordingOptions = {},
): Promise<TraceRecording> {
  const clock = clockSource === undefined ? null : await followClock(clockSource, monotonicNanoseconds, warn);
  const file = openTraceFile(path, {
    header: { hasMarks: true, clockError: clock?.errorMax ?? 0 },
    onBroken: (why) => warn(`the trace cannot be written: ${why}; nothing more is recorded`),
  });
  const now = clock?.now ?? monotonicNanoseconds;
  const recording = new Recording({ write: file.write, sum: file.sum, now, warn, completesReads, keepsStatements });
  if (keepsStatements) warn(keptText);
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
      const why = file.close();
      return why === null ? null : notWhole(path, why);
    },
  };
}

/** The application that was recorded is unharmed; the trace ends without its last mark, and a verdict on it is unknown. */
function notWhole(path: string, why: string): InputError {
  const file = path === '-' ? 'standard output' : path;
  return new InputError('record/output', `the trace is not whole: ${why}`, { file });
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
