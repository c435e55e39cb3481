/** Files as the commands read them, on every thread. */
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { InputError } from '../base/index.ts';
import type { FolderEntry } from './host.ts';

/** The bytes of a file, or of standard input for `-`. @throws InputError `history/missing-file` */
export async function readInput(path: string): Promise<Uint8Array> {
  if (path === '-') return buffer(process.stdin);
  try {
    return await readFile(path);
  } catch (error) {
    throw fileError(error, path, 'read');
  }
}

/** The same in pieces. */
export async function* openInput(path: string): AsyncGenerator<Uint8Array> {
  const stream = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 2 ** 20 });
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw fileError(error, path, 'read');
  }
}

/** What is in a folder, without what begins with a dot, sorted; `null`: it is none. A link to a folder is not followed. */
export async function listFolder(path: string): Promise<FolderEntry[] | null> {
  if (path === '-') return null;
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter(
        (entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isFile() || entry.isSymbolicLink()),
      )
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    // Whatever else is wrong with it shows when it is read.
    if (error instanceof Error && 'syscall' in error) return null;
    throw error;
  }
}

/** An error of the file system as bad input. */
export function fileError(error: unknown, path: string, done: 'read' | 'written'): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: done === 'read' ? 'there is no such file' : 'there is no such folder',
    EISDIR: 'this is a folder',
    EACCES: `this file may not be ${done}`,
  };
  const what = done === 'read' ? 'history/missing-file' : 'history/output';
  return new InputError(what, reasons[code] ?? `the file cannot be ${done}: ${code}`, { file: path });
}
