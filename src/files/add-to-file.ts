/** A file that several commands add to, each in one write at its end: the summary of a job. */
import { closeSync, openSync } from 'node:fs';
import { sync, writeAll } from './descriptor.ts';
import { outputError } from './write-error.ts';

/** @throws InputError `file/output` */
export function addToFile(path: string, bytes: Uint8Array): void {
  try {
    const descriptor = openSync(path, 'a');
    try {
      writeAll(descriptor, bytes);
      sync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw outputError(error, path);
  }
}
