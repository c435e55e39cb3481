/** Where a recorder's lines go: a file or standard output, in pieces, everything when it ends. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { InputError } from '../base/index.ts';
import { emptyHeader } from '../history/trace.ts';
import { formatTraceHeader } from '../history/trace-record.ts';

export interface TraceFile {
  readonly write: (line: string) => void;
  /** Writes what is left and closes it. */
  readonly close: () => void;
}

const pieceLengthMax = 1 << 16;

/** @param path `-`: standard output @throws InputError `record/output` */
export function openTraceFile(path: string): TraceFile {
  const file = path === '-' ? 1 : opened(path);
  let piece = `${formatTraceHeader(emptyHeader)}\n`;
  let isClosed = false;
  const flush = (): void => {
    const bytes = Buffer.from(piece);
    piece = '';
    for (let at = 0; at < bytes.length; ) at += written(file, bytes, at);
  };
  const timer = setInterval(flush, 200);
  timer.unref();
  return {
    write: (line) => {
      if (isClosed) return;
      piece += line;
      if (piece.length > pieceLengthMax) flush();
    },
    close: () => {
      if (isClosed) return;
      flush();
      isClosed = true;
      clearInterval(timer);
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

/** A pipe may be full for a moment. */
function written(file: number, bytes: Uint8Array, at: number): number {
  try {
    return writeSync(file, bytes, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}
