import { readFile } from 'node:fs/promises';
import { InputError } from '../../base/index.ts';

/** A file that an option names. @throws InputError `serve/file` */
export async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new InputError('serve/file', `the file cannot be read: ${(error as NodeJS.ErrnoException).code ?? ''}`, {
      file,
    });
  }
}
