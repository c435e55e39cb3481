/** Where a recorder's lines go: a file, a pipe or standard output, in pieces, everything when it ends. */
import { type AppendFile, openAppend } from '../files/index.ts';
import { emptyHeader, type TraceHeader, formatTraceHeader } from '../trace/index.ts';

export interface TraceFileOptions {
  readonly header?: Pick<TraceHeader, 'hasMarks' | 'clockError'>;
  /** Called once, with the reason, when nothing more can be written. What comes then is dropped. */
  readonly onBroken?: (why: string) => void;
}

const flushEveryMs = 200;

/** @param path `-`: standard output @throws InputError `file/output`, `file/locked` */
export function openTraceFile(path: string, { header, onBroken = () => {} }: TraceFileOptions = {}): AppendFile {
  const file = openAppend(path, onBroken);
  file.write(`${formatTraceHeader({ ...emptyHeader, ...header })}\n`);
  const timer = setInterval(file.flush, flushEveryMs);
  timer.unref();
  return {
    ...file,
    close: () => {
      clearInterval(timer);
      return file.close();
    },
  };
}
