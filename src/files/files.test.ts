import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  lstatSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { lockFile } from './file-lock.ts';
import { addToFile, checkWritable, holdFile, openAppend, writeWhole } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'moirai-files-'));
const file = join(folder, 'out');
const lock = `${file}.lock`;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const failing = function* (): Generator<Uint8Array> {
  yield bytes('new');
  throw new Error('the rest cannot be made');
};

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a whole file', () => {
  test('takes the place of the one before, and leaves nothing beside it', () => {
    writeFileSync(file, 'the old one');
    chmodSync(file, 0o640);
    writeWhole(file, [bytes('a'), bytes('b')]);
    expect(readFileSync(file, 'utf8')).toBe('ab');
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(['out']);
  });

  test('that fails half way leaves the one before', () => {
    writeFileSync(file, 'old');
    expect(() => writeWhole(file, failing())).toThrow('the rest cannot be made');
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['out']);
  });

  test('that fails half way is not there at all where none was', () => {
    expect(() => writeWhole(file, failing())).toThrow('the rest cannot be made');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is written through a link, which stays', () => {
    writeFileSync(file, 'old');
    symlinkSync(file, join(folder, 'link'));
    writeWhole(join(folder, 'link'), [bytes('new')]);
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('new');
  });

  test('a device is written directly', () => {
    writeWhole('/dev/null', [bytes('a')]);
    expect(statSync('/dev/null').isFile()).toBe(false);
  });

  test.each([
    ['a full disk', '/dev/full', 'it cannot be written: the disk is full (ENOSPC)'],
    ['a folder', folder, 'this is a folder (EISDIR)'],
    ['a folder that is not there', join(folder, 'none', 'out'), 'there is no such folder (ENOENT)'],
  ])('%s', (_name, path, message) => {
    const expected = { code: 'file/output', message: expect.stringContaining(message), place: { file: path } };
    expect(() => writeWhole(path, [bytes('a')])).toThrow(expect.objectContaining(expected));
    if (path !== '/dev/full') expect(() => checkWritable(path)).toThrow(expect.objectContaining(expected));
  });

  test('whether it can be written is known before, and costs nothing', () => {
    writeFileSync(file, 'old');
    checkWritable(file);
    checkWritable(join(folder, 'other'));
    expect(readdirSync(folder)).toEqual(['out']);
    expect(readFileSync(file, 'utf8')).toBe('old');
  });
});

describe('a file that is appended to', () => {
  test('is emptied, then written in order, then given back', () => {
    writeFileSync(file, 'old');
    const { write, flush, close } = openAppend(file);
    write('a\n');
    flush();
    expect(readFileSync(file, 'utf8')).toBe('a\n');
    write('b\n');
    expect([close(), close()]).toEqual([null, null]);
    write('c\n');
    flush();
    expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
    expect(readdirSync(folder)).toEqual(['out']);
  });

  test('a disk that is full is told once, and again at the end', () => {
    const told: string[] = [];
    const { write, flush, close } = openAppend('/dev/full', (why) => told.push(why));
    for (let i = 0; i < 3; i += 1) {
      write('a\n');
      flush();
    }
    expect(told).toEqual(['the disk is full (ENOSPC)']);
    expect(close()).toBe('the disk is full (ENOSPC)');
  });

  test('a disk that is full only at the end is told, too', () => {
    const { write, close } = openAppend('/dev/full');
    write('a\n');
    expect(close()).toBe('the disk is full (ENOSPC)');
  });

  test('has one writer', () => {
    const first = openAppend(file);
    first.write('first\n');
    first.flush();
    const refused = expect.objectContaining({
      code: 'file/locked',
      message: `process ${process.pid} on ${hostname()} is writing it; if that is not so, delete ${lock}`,
      place: { file },
    });
    expect(() => openAppend(file)).toThrow(refused);
    expect(() => writeWhole(file, [bytes('second')])).toThrow(refused);
    expect(readFileSync(file, 'utf8')).toBe('first\n');
    expect(first.close()).toBe(null);
    expect(openAppend(file).close()).toBe(null);
  });
});

describe('a file that is held', () => {
  test('is written by its process alone, until it is released', () => {
    const release = holdFile(file);
    // The lock that another process would find.
    expect(() => lockFile(file, file)).toThrow(`process ${process.pid} on`);
    expect(() => holdFile(file)).toThrow(expect.objectContaining({ code: 'file/locked', place: { file } }));
    for (const text of ['a', 'b']) writeWhole(file, [bytes(text)]);
    checkWritable(file);
    expect(() => lockFile(file, file)).toThrow(`process ${process.pid} on`);
    release();
    release();
    expect(readdirSync(folder)).toEqual(['out']);
    lockFile(file, file)();
  });

  test.each(['/dev/null', join(folder, 'none', 'out')])('%s', (path) => {
    if (path === '/dev/null') holdFile(path)();
    else expect(() => holdFile(path)).toThrow(expect.objectContaining({ code: 'file/output' }));
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('a lock', () => {
  const left = (owner: object): void => writeFileSync(lock, JSON.stringify(owner));
  const deadPid = (): number => spawnSync(process.execPath, ['--version']).pid;

  test('of a process that is dead is taken over', () => {
    left({ pid: deadPid(), host: hostname(), started: '1' });
    const unlock = lockFile(file, file);
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ pid: process.pid });
    unlock();
    expect(readdirSync(folder)).toEqual([]);
  });

  test.runIf(existsSync('/proc/self/stat'))('of a process whose number another has now is taken over', () => {
    left({ pid: process.pid, host: hostname(), started: '1' });
    lockFile(file, file)();
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    [
      'of a process that is alive',
      { pid: process.ppid, host: hostname(), started: null },
      `process ${process.ppid} on`,
    ],
    ['of another host', { pid: 1, host: 'elsewhere.example', started: '1' }, 'process 1 on elsewhere.example'],
    ['that says nothing', {}, 'another process is writing it'],
  ])('%s holds', (_name, owner, message) => {
    left(owner);
    expect(() => lockFile(file, file)).toThrow(message);
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toEqual(owner);
  });
});

test('what is added to a file stands behind what it has', () => {
  addToFile(file, bytes('a'));
  addToFile(file, bytes('b'));
  expect(readFileSync(file, 'utf8')).toBe('ab');
  expect(() => addToFile(join(folder, 'none', 'out'), bytes('a'))).toThrow('there is no such folder (ENOENT)');
  expect(() => addToFile(folder, bytes('a'))).toThrow('this is a folder (EISDIR)');
});
