/** Where a recorder's lines go: a file, a pipe or standard output, in pieces, everything when it ends. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { InputError } from '../base/index.ts';
import { emptyHeader, type TraceHeader } from '../history/trace.ts';
import { formatTraceHeader } from '../history/trace-record.ts';

export interface TraceFile {
  readonly write: (line: string) => void;
  readonly flush: () => void;
  /** Writes what is left and closes it. */
  readonly close: () => void;
}

export interface TraceFileOptions {
  readonly header?: Pick<TraceHeader, 'hasMarks' | 'clockError'>;
  /** Told once: nobody takes what is written any more, or the disk is full. What comes then is dropped. */
  readonly onBroken?: (why: string) => void;
}

const pieceLengthMax = 1 << 16;

/** @param path `-`: standard output @throws InputError `record/output` */
export function openTraceFile(path: string, { header, onBroken = () => {} }: TraceFileOptions = {}): TraceFile {
  const file = path === '-' ? 1 : opened(path);
  let piece = `${formatTraceHeader({ ...emptyHeader, ...header })}\n`;
  let isOver = false;
  const flush = (): void => {
    const bytes = Buffer.from(piece);
    piece = '';
    if (isOver) return;
    try {
      for (let at = 0; at < bytes.length; ) at += written(file, bytes, at);
    } catch (error) {
      isOver = true;
      const { code = '', message } = error as NodeJS.ErrnoException;
      onBroken(code === 'EPIPE' ? 'nobody reads the trace any more' : `the trace cannot be written: ${message}`);
    }
  };
  const timer = setInterval(flush, 200);
  timer.unref();
  return {
    write: (line) => {
      if (isOver) return;
      piece += line;
      if (piece.length > pieceLengthMax) flush();
    },
    flush,
    close: () => {
      clearInterval(timer);
      flush();
      isOver = true;
      if (file !== 1) closeSync(file);
    },
  };
}

function opened(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (error) {
    throw new InputError(
      'record/output',
      `the file cannot be written: ${(error as NodeJS.ErrnoException).code ?? ''}`,
      { file: path },
    );
  }
}

/** A pipe may be full for a moment: whoever is recorded waits for its reader, or memory would grow. */
function written(file: number, bytes: Uint8Array, at: number): number {
  try {
    return writeSync(file, bytes, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return 0;
  }
}
