/** Files on a disk that fails at one call: what is there afterwards, and that what counts as written was forced to the disk before. */
import type * as fs from 'node:fs';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { lockFile } from './file-lock.ts';
import { openAppend, writeWhole } from './index.ts';

const disk = vi.hoisted(() => ({
  calls: [] as string[],
  /** The call that fails, counted from 1. */
  failsAt: { call: '', count: 0 },
}));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>();
  const watched =
    <Args extends unknown[], Result>(call: string, run: (...args: Args) => Result) =>
    (...args: Args): Result => {
      disk.calls.push(call);
      const { failsAt } = disk;
      if (failsAt.call !== call || disk.calls.filter((each) => each === call).length !== failsAt.count)
        return run(...args);
      throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: call });
    };
  return {
    ...real,
    writeSync: watched('write', real.writeSync as (...args: unknown[]) => number),
    fsyncSync: watched('sync', real.fsyncSync),
    renameSync: watched('rename', real.renameSync),
    // As on a full disk: the file is there, and its text is not.
    writeFileSync: (...args: Parameters<typeof real.writeFileSync>) => {
      const write = watched('lock', real.writeFileSync);
      try {
        write(...args);
      } catch (error) {
        if (disk.failsAt.call === 'lock') real.writeFileSync(args[0], '');
        throw error;
      }
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), 'moirai-disk-'));
const file = join(folder, 'out');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const failing = (call: string, count: number): void => {
  disk.calls = [];
  disk.failsAt = { call, count };
};

beforeEach(() => {
  failing('', 0);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a whole file is on the disk before it has its name, and its name is before it counts', () => {
  writeWhole(file, [bytes('a'), bytes('b')]);
  expect(disk.calls).toEqual(['lock', 'write', 'write', 'sync', 'rename', 'sync']);
});

test.each([
  ['write', 1],
  ['write', 2],
  ['sync', 1],
  ['rename', 1],
])('a whole file where the %s number %i fails: the one before is there, and nothing beside it', (call, count) => {
  writeFileSync(file, 'old');
  failing(call, count);
  expect(() => writeWhole(file, [bytes('a'), bytes('b')])).toThrow('it cannot be written: the disk is full (ENOSPC)');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['out']);
});

test('what another process left half written takes no part', () => {
  writeFileSync(`${file}.partial`, 'a long text of another process');
  writeWhole(file, [bytes('new')]);
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['out']);
});

test('a file that is appended to ends where a write has failed, also where the next would succeed', () => {
  const reported: string[] = [];
  const { write, flush, close } = openAppend(file, (why) => reported.push(why));
  failing('write', 2);
  for (const text of ['a\n', 'b\n', 'c\n']) {
    write(text);
    flush();
  }
  // Between the failure and its report, more may have been given.
  expect([close(), reported]).toEqual(['the disk is full (ENOSPC)', ['the disk is full (ENOSPC)']]);
  expect(readFileSync(file, 'utf8')).toBe('a\n');
});

test('a file that is appended to is on the disk before it is closed, or says why not', () => {
  const { write, close } = openAppend(file);
  write('a\n');
  expect(close()).toBe(null);
  expect(disk.calls).toEqual(['lock', 'write', 'sync']);
  failing('sync', 1);
  expect(openAppend(file).close()).toBe('the disk is full (ENOSPC)');
});

test('a lock that finds no room is no lock', () => {
  failing('lock', 1);
  expect(() => lockFile(file, file)).toThrow('no space');
  expect(existsSync(`${file}.lock`)).toBe(false);
});
