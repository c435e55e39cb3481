/** Checkpoints of `explore` as files: what was written comes back, and nothing else does. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explore, type ExploreCheckpoint } from '../../explore/index.ts';
import { writeWhole } from '../../files/index.ts';
import { program, type SessionHandle } from '../../program/index.ts';
import { checkpointBytes, readExploration } from './explore-checkpoint.ts';

const folder = mkdtempSync(join(tmpdir(), 'moirai-explore-checkpoint-'));
const file = join(folder, 'explore.checkpoint');
const source = [{ file: 'counter.ts', sha256: '0'.repeat(64) }];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const increment = (session: SessionHandle): Promise<unknown> =>
  session.transaction(async (t) => t.write('n', (await t.read<number>('n')) + 1));
const counter = program({
  initial: { n: 0 },
  sessions: { a: increment, b: increment, c: increment },
  invariant: ({ final }) => final['n'] === 3 || 'an increment is lost',
});

let written: ExploreCheckpoint;
let whole: Buffer;
beforeAll(async () => {
  await explore(counter, { historiesMax: 9, onCheckpoint: (checkpoint) => (written = checkpoint) });
  writeWhole(file, checkpointBytes(written, source));
  whole = readFileSync(file);
});

test('what was written comes back', async () => {
  expect(written.waiting.length).toBeGreaterThan(0);
  expect(written.examples.length).toBeGreaterThan(0);
  expect(readExploration(file, source)).toEqual(written);
  const uninterrupted = await explore(counter);
  const resume = readExploration(file, source) as ExploreCheckpoint;
  const { histories, violations, complete } = await explore(counter, { resume });
  expect({ histories, violations, complete }).toEqual({
    histories: uninterrupted.histories,
    violations: uninterrupted.violations,
    complete: true,
  });
});

test('of another program, or of one that was edited', () => {
  const refusal = (message: string): object =>
    expect.objectContaining({ code: 'explore/checkpoint', message: expect.stringContaining(message) as string });
  const now = (name: string): (() => unknown) => {
    const files = [name, 'lib.ts'].map((each) => ({ file: each, sha256: '1'.repeat(64) }));
    return () => readExploration(file, files);
  };
  writeFileSync(file, whole);
  expect(now('order.ts')).toThrow(refusal('is of another program: of counter.ts, and this is order.ts'));
  expect(now('counter.ts')).toThrow(refusal('the program was edited since the checkpoint was written: counter.ts'));
});

describe('damage is refused', () => {
  test('every byte, with one of its bits changed', () => {
    writeFileSync(file, whole);
    const descriptor = openSync(file, 'r+');
    const accepted: number[] = [];
    for (let at = 0; at < whole.length; at += 1) {
      const flipped = (whole[at] as number) ^ (1 << (at % 8));
      writeSync(descriptor, new Uint8Array([flipped]), 0, 1, at);
      if (isAccepted()) accepted.push(at);
      writeSync(descriptor, whole, at, 1, at);
    }
    closeSync(descriptor);
    expect(accepted).toEqual([]);
    expect(readExploration(file, source)).toEqual(written);
  });

  test('lengths that it could be cut off at, and bytes behind it', () => {
    for (let length = 0; length < whole.length; length += 37) {
      writeFileSync(file, whole.subarray(0, length));
      expect(isAccepted(), `${length}`).toBe(false);
    }
    writeFileSync(file, Buffer.concat([whole, Buffer.alloc(1)]));
    expect(isAccepted()).toBe(false);
  });

  function isAccepted(): boolean {
    try {
      readExploration(file, source);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'explore/checkpoint', place: { file } });
      return false;
    }
  }
});
