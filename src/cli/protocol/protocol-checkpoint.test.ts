/** Checkpoints as files: what was written comes back, and nothing else does. */
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeWhole } from '../../files/index.ts';
import { checkProtocol, namedSet, processes, protocol, range } from '../../protocol/index.ts';
import { checkpointBytes, readCheckpoint } from './protocol-checkpoint.ts';
import { changedFiles, sourceOf } from '../modules/source-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'moirai-checkpoint-'));
const file = join(folder, 'search.checkpoint');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Two counters: 40 * 40 states. */
const counters = protocol({
  name: 'counters',
  parameters: {},
  define: () => ({
    processes: [
      processes(namedSet('c', 2), {
        start: 'go',
        variables: { n: range(0, 39) },
        steps: { go: { await: ({ n }) => n < 39, do: (self) => void (self.n += 1) } },
      }),
    ],
  }),
});
const options = { deadlock: false, statesMax: 1_000 } as const;
const source = [{ file: 'counters.ts', sha256: '0'.repeat(64) }];

function written(): Buffer {
  const { checkpoint } = checkProtocol(counters, options);
  if (checkpoint === null) throw new Error('it should have stopped');
  writeWhole(file, checkpointBytes(checkpoint, source));
  return readFileSync(file);
}

/** What a search from the file finds. */
function resumed(): number {
  return checkProtocol(counters, { deadlock: false, resume: readCheckpoint(file, source) }).states;
}

const refusal = (text: string): object =>
  expect.objectContaining({ code: 'protocol/checkpoint', message: expect.stringContaining(text), place: { file } });

test('what was written comes back', () => {
  written();
  expect(resumed()).toBe(1_600);
});

describe('damage is refused', () => {
  const whole = written();
  const damaged = 'the checkpoint is damaged';

  test('every byte, one at a time, with one of its bits changed', () => {
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
    expect(resumed()).toBe(1_600);
  });

  test('every length it could be cut off at, and bytes behind it', () => {
    for (let length = whole.length - 1; length >= 0; length -= 37) {
      writeFileSync(file, whole);
      truncateSync(file, length);
      expect(isAccepted(), `${length}`).toBe(false);
    }
    writeFileSync(file, Buffer.concat([whole, Buffer.alloc(4)]));
    expect(resumed).toThrow(refusal(damaged));
  });

  test('zeros where a power loss leaves them, and two pages that changed places', () => {
    const zeroed = Buffer.from(whole);
    zeroed.fill(0, zeroed.length - 4_096);
    writeFileSync(file, zeroed);
    expect(resumed).toThrow(refusal(damaged));
    writeFileSync(
      file,
      Buffer.concat([
        whole.subarray(0, 2_048),
        whole.subarray(4_096, 6_144),
        whole.subarray(2_048, 4_096),
        whole.subarray(6_144),
      ]),
    );
    expect(resumed).toThrow(refusal(damaged));
  });

  const edits: [string, RegExp, string][] = [
    ['no JSON', /"position":/, '"a":'],
    ['null', /checkpoint \{.*/, 'checkpoint null'],
    ['a negative width', /"words":\d+/, '"words":-5'],
    ['a huge width', /"words":\d+/, '"words":1e9'],
    ['a negative position', /"head":\d+/, '"head":-1'],
    ['another position', /"head":\d+/, '"head":3079'],
  ];
  test.each(edits)('a header with %s', (_name, pattern, replacement) => {
    const header = whole.subarray(0, whole.indexOf(10)).toString();
    expect(header).toMatch(pattern);
    writeFileSync(
      file,
      Buffer.concat([Buffer.from(header.replace(pattern, replacement)), whole.subarray(header.length)]),
    );
    expect(resumed).toThrow(refusal(damaged));
  });

  test('other files', () => {
    writeFileSync(file, 'moirai checkpoint 1 {"subject":"[]"}\n');
    expect(resumed).toThrow(refusal('of an older version'));
    for (const text of ['', '\n', 'moirai', '{"a":1}\n']) {
      writeFileSync(file, text);
      expect(resumed).toThrow(refusal('this is no checkpoint of moirai'));
    }
    rmSync(file);
    expect(resumed).toThrow(refusal('the checkpoint cannot be read: ENOENT'));
    mkdirSync(file);
    expect(resumed).toThrow(refusal('this is no checkpoint of moirai'));
    rmSync(file, { recursive: true });
  });

  test('of another version of moirai, whole as it is', () => {
    const header = whole.subarray(0, whole.indexOf(10)).toString();
    const other = Buffer.concat([
      Buffer.from(header.replace(/"moirai":"[^"]+"/, '"moirai":"99.0.0"')),
      whole.subarray(header.length, -32),
    ]);
    writeFileSync(file, Buffer.concat([other, createHash('sha256').update(other).digest()]));
    expect(resumed).toThrow(refusal('written by moirai 99.0.0, and this is moirai '));
  });

  function isAccepted(): boolean {
    try {
      readCheckpoint(file, source);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'protocol/checkpoint' });
      return false;
    }
  }
});

describe('the source of a protocol', () => {
  const project = join(folder, 'project');
  const main = join(project, 'main.ts');
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(project, name, '..'), { recursive: true });
      writeFileSync(join(project, name), text);
    }
  };
  const files = {
    'main.ts': `import { protocol } from 'moirai/protocol';\nimport { steps } from './parts/steps.ts';\nimport sizes from './sizes.json';\nexport default { steps, sizes, protocol };\n`,
    'parts/steps.ts': `import { limit } from '../limit.js';\nexport const steps = [limit];\n`,
    'limit.ts': 'export const limit: number = 3;\n',
    'sizes.json': '{"size":2}',
    'other.ts': 'export const unused = 1;\n',
  };

  test('is its module, first, and the local ones that it imports', async () => {
    write(files);
    expect((await sourceOf(main)).map((each) => each.file)).toEqual([
      'main.ts',
      'limit.ts',
      'parts/steps.ts',
      'sizes.json',
    ]);
  });

  test.each<[string, string, string[]]>([
    ['its module', 'main.ts', ['main.ts']],
    ['an imported one', 'parts/steps.ts', ['parts/steps.ts']],
    ['one that that one imports', 'limit.ts', ['limit.ts']],
    ['data', 'sizes.json', ['sizes.json']],
    ['one that it does not import', 'other.ts', []],
  ])('changes with %s', async (_name, edited, changed) => {
    write(files);
    const before = await sourceOf(main);
    write({ [edited]: edited.endsWith('.json') ? '{"size":3}' : `${files[edited as 'main.ts']}// edited\n` });
    expect(changedFiles(before, await sourceOf(main))).toEqual(changed);
  });

  test('changes with an import that is new, and not with the folder', async () => {
    write(files);
    const before = await sourceOf(main);
    cpSync(project, join(folder, 'moved'), { recursive: true });
    expect(changedFiles(before, await sourceOf(join(folder, 'moved/main.ts')))).toEqual([]);
    write({ 'main.ts': `${files['main.ts']}import './other.ts';\n` });
    expect(changedFiles(before, await sourceOf(main))).toEqual(['main.ts', 'other.ts']);
  });

  test('is its module alone where an import cannot be followed', async () => {
    write({ 'main.ts': `import './none.ts';\nexport default 1;\n` });
    expect((await sourceOf(main)).map((each) => each.file)).toEqual(['main.ts']);
  });

  test('that was edited: the checkpoint is refused with its name', async () => {
    write(files);
    const { checkpoint } = checkProtocol(counters, options);
    if (checkpoint === null) throw new Error('it should have stopped');
    writeWhole(file, checkpointBytes(checkpoint, await sourceOf(main)));
    write({ 'limit.ts': 'export const limit: number = 4;\n' });
    const now = await sourceOf(main);
    expect(() => readCheckpoint(file, now)).toThrow(
      refusal('the protocol was edited since the checkpoint was written: limit.ts'),
    );
  });
});
