import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

test('folders that are missing are made, and one that is there stays', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'moirai-folder-'));
  try {
    await makeFolder(join(folder, 'a/b/c'));
    await makeFolder(join(folder, 'a/b'));
    expect(statSync(join(folder, 'a/b/c')).isDirectory()).toBe(true);
    writeFileSync(join(folder, 'file'), '');
    await expect(makeFolder(join(folder, 'file/a'))).rejects.toThrow('ENOTDIR');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('where a file system makes no folders that ends, too', async () => {
  await expect(makeFolder('/proc/moirai/failures')).rejects.toThrow('/proc');
});
