/**
 * A file that is there whole or not at all: it is written as `FILE.partial` in the same folder, forced to the disk and renamed. Whatever fails (a full
 * disk, a kill, a power loss) leaves the file that was there before. A pipe or a device is written directly.
 */
import { closeSync, fchmodSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { sync, syncFolder, targetOf, writeAll } from './descriptor.ts';
import { lockUnlessHeld } from './held-file.ts';
import { outputError } from './write-error.ts';

/** @throws InputError `file/output`, `file/locked` */
export function writeWhole(path: string, parts: Iterable<Uint8Array>): void {
  try {
    const { file, isRegular, mode } = targetOf(path);
    if (!isRegular) return writeParts(openSync(path, 'w'), parts, null);
    const unlock = lockUnlessHeld(file, path);
    try {
      replaceFile(file, parts, mode);
    } finally {
      unlock();
    }
  } catch (error) {
    throw outputError(error, path);
  }
}

/** Better said at the start than after hours. @throws InputError `file/output`, `file/locked` */
export function checkWritable(path: string): void {
  try {
    const { file, isRegular } = targetOf(path);
    if (isRegular) lockUnlessHeld(file, path)();
    else closeSync(openSync(path, 'r+'));
  } catch (error) {
    throw outputError(error, path);
  }
}

function replaceFile(file: string, parts: Iterable<Uint8Array>, mode: number | null): void {
  const partial = `${file}.partial`;
  const descriptor = openSync(partial, 'w');
  try {
    writeParts(descriptor, parts, mode);
    renameSync(partial, file);
  } catch (error) {
    unlinkSync(partial);
    throw error;
  }
  syncFolder(dirname(file));
}

/** @param mode of the file that this one replaces */
function writeParts(descriptor: number, parts: Iterable<Uint8Array>, mode: number | null): void {
  try {
    if (mode !== null) fchmodSync(descriptor, mode);
    for (const part of parts) writeAll(descriptor, part);
    sync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
