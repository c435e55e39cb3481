/** Files as the commands read them, on every thread. */
import { constants, createReadStream, open } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { InputError } from '../../base/index.ts';
import type { FolderEntry } from '../host.ts';

/** The bytes of a file, or of standard input for `-`. @throws InputError `history/missing-file` */
export async function readInput(path: string): Promise<Uint8Array> {
  if (path === '-') return buffer(process.stdin);
  try {
    return await readFile(path);
  } catch (error) {
    throw fileError(error, path);
  }
}

/** The same in pieces. */
export async function* openInput(path: string): AsyncGenerator<Uint8Array> {
  try {
    const stream = path === '-' ? process.stdin : await openStream(path);
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Node reads files on threads of its own; one that waits for a pipe keeps the process from ending, so pipes are sockets. */
async function openStream(path: string): Promise<Readable> {
  if (!(await stat(path)).isFIFO()) return createReadStream(path, { highWaterMark: 2 ** 20 });
  return new Socket({
    fd: await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK),
    readable: true,
    writable: false,
  });
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
function fileError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: 'there is no such file',
    EISDIR: 'this is a folder',
    EACCES: 'this file may not be read',
  };
  return new InputError('history/missing-file', reasons[code] ?? `the file cannot be read: ${code}`, { file: path });
}
