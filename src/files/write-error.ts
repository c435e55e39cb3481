/** What kept a file from being written, in words and with the code of the operating system. */
import { InputError } from '../base/index.ts';

/** A clause: `the disk is full (ENOSPC)`. */
export function writeErrorText(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const text = texts[code];
  return text === undefined ? message : `${text} (${code})`;
}

/** An error of the file system as bad input; every other error as it is. */
export function outputError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  return new InputError('file/output', `it cannot be written: ${writeErrorText(error)}`, { file: path });
}

const texts: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it is larger than a file may be',
  EIO: 'the disk reports an error',
  EISDIR: 'this is a folder',
  ENOENT: 'there is no such folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'its folder is a file',
  EPERM: 'permission is denied',
  EPIPE: 'its reader is gone',
  EROFS: 'the file system is read-only',
};
