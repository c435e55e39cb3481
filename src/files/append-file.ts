/**
 * A file that is written while something runs, such as a trace that a reader follows. One process writes it at a time. The first failure is remembered: what
 * comes after it is dropped, so that the file ends where it was right, and `close` answers with it. That the file is whole is for the last line of its format to say.
 */
import { closeSync, openSync } from 'node:fs';
import { crc32 } from '../base/index.ts';
import { sync, targetOf, writeAll } from './descriptor.ts';
import { lockFile } from './file-lock.ts';
import { outputError, writeErrorText } from './write-error.ts';

export interface AppendFile {
  /** Reaches the file in pieces. */
  readonly write: (text: string) => void;
  readonly flush: () => void;
  /** The CRC-32 of all bytes written so far. */
  readonly sum: () => number;
  /** Writes what is left and forces it to the disk. @returns why the file is not whole; `null`: it is */
  readonly close: () => string | null;
}

const pieceLengthMax = 1 << 16;

/**
 * @param path `-`: standard output. A file that is there is emptied
 * @param onBroken is called once, with the reason, when nothing more can be written
 * @throws InputError `file/output`, `file/locked`
 */
export function openAppend(path: string, onBroken: (why: string) => void = () => {}): AppendFile {
  const { descriptor, release } = opened(path);
  let piece = '';
  let summed = 0;
  let failure: string | null = null;
  let isClosed = false;
  const attempt = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      if (failure !== null) return;
      failure = writeErrorText(error);
      onBroken(failure);
    }
  };
  const flush = (): void => {
    const bytes = Buffer.from(piece);
    piece = '';
    summed = crc32(bytes, summed);
    if (failure === null && !isClosed) attempt(() => writeAll(descriptor, bytes));
  };
  const close = (): string | null => {
    if (isClosed) return failure;
    flush();
    isClosed = true;
    if (failure === null) attempt(() => sync(descriptor));
    attempt(release);
    return failure;
  };
  return {
    write: (text) => {
      if (failure !== null || isClosed) return;
      piece += text;
      if (piece.length > pieceLengthMax) flush();
    },
    flush,
    sum: () => {
      flush();
      return summed;
    },
    close,
  };
}

interface Opened {
  readonly descriptor: number;
  readonly release: () => void;
}

function opened(path: string): Opened {
  if (path === '-') return { descriptor: 1, release: () => {} };
  try {
    const { file, isRegular } = targetOf(path);
    const unlock = isRegular ? lockFile(file, path) : (): void => {};
    try {
      const descriptor = openSync(path, 'w');
      return { descriptor, release: () => closeAndUnlock(descriptor, unlock) };
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    throw outputError(error, path);
  }
}

function closeAndUnlock(descriptor: number, unlock: () => void): void {
  try {
    closeSync(descriptor);
  } finally {
    unlock();
  }
}
