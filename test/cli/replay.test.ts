/** Failing runs as files: kept by test and explore, replayed by `moirai replay` and by the next test. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FailureFolder } from '../../src/cli/failures/failure-folder.ts';
import type { Host, Ending } from '../../src/cli/host.ts';
import { InputError, seeded } from '../../src/base/index.ts';
import { type FailureRecord, formatFailureRecord, parseFailureRecord } from '../../src/failures/index.ts';
import { program, type SessionHandle } from '../../src/program/index.ts';
import { build, runBuilt, runHere, UserFolder } from '../support/cli.ts';
import { KeptInMemory } from '../support/kept-in-memory.ts';
import { withdrawals } from '../support/withdrawals.ts';

const add =
  (amount: number) =>
  (session: SessionHandle): Promise<void> =>
    session.transaction(async (t) => t.write('x', (await t.read<number>('x')) + amount));
const counter = (body: (session: SessionHandle) => Promise<void>) =>
  program({
    initial: { x: 0 },
    sessions: { a: body, b: body },
    invariant: ({ final }) => final['x'] !== 1 || 'an update is lost',
  });
const lost = { 'counter.ts': counter(add(1)) };
const mended = { 'counter.ts': counter(add(2)) };
const other = { 'counter.ts': counter((session) => session.write('y', 1)) };

const without = {
  'counter.ts': program({ initial: { x: 0 }, sessions: { a: add(1), b: add(1) } }),
};
const weaker = {
  'counter.ts': program({
    initial: { x: 0 },
    sessions: { a: add(1), b: add(1) },
    invariant: ({ final }) => final['x'] !== 0,
  }),
};

const find = async (kept: KeptInMemory, ...args: string[]) =>
  runHere([...args, 'counter.ts', '--level', 'causal'], lost, { failures: kept });
const replay = async (kept: KeptInMemory, files: Readonly<Record<string, unknown>>, ...args: string[]) =>
  runHere(['replay', kept.only, ...args], { ...files, ...kept.inputs() });

describe.each(['test', 'explore'])('a run that moirai %s finds', (tool) => {
  test('is kept, and said where', async () => {
    const kept = new KeptInMemory();
    const { code, out } = await find(kept, tool);
    expect(code).toBe(1);
    expect(out).toMatch(/\nreplay: .*\nkept: kept\/counter-[0-9a-f]{6}\.json\n$/);
    const record = parseFailureRecord([...kept.files.values()][0] ?? '', 'file');
    expect(record).toMatchObject({
      program: { file: 'counter.ts', source: null },
      options: { tool: `${tool}-keys`, level: 'causal' },
      message: 'an update is lost',
      anomaly: 'lost-update',
      shape: expect.arrayContaining(['session "a"', 'session "b"', 'initial state [["x",0]]']),
      steps: expect.arrayContaining(['session "a" writes x']),
    });
    await find(kept, tool);
    expect(kept.files.size).toBe(1);
  });

  test('still fails, is fixed, or is another run', async () => {
    const kept = new KeptInMemory();
    await find(kept, tool);
    const same = await replay(kept, lost);
    expect(same.code).toBe(1);
    expect(same.out).toMatch(/^still fails, by the recorded steps\n/);
    expect(same.out).toContain(`replay: moirai replay ${kept.only}\n`);
    expect(await replay(kept, mended)).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^fixed: the recorded steps ran and this run no longer fails; of other runs\s+nothing is known\n/,
      ),
    });
    const turned = await replay(kept, other);
    expect(turned.code).toBe(2);
    expect(turned.out.replaceAll(/\s+/g, ' ')).toMatch(
      /^incompatible: .*session "\w" reads x, the initial value was recorded, now session "\w" writes y/,
    );
  });

  test('is not fixed by an invariant that is gone, and not quietly by one that has changed', async () => {
    const kept = new KeptInMemory();
    const { out } = await find(kept, tool);
    const gone = await replay(kept, without);
    expect(gone.code).toBe(2);
    expect(gone.out).toMatch(/^incompatible: the recorded steps ran, and the program has no invariant/);
    const token = /--replay (?<token>\S+)/.exec(out)?.groups?.['token'] ?? '';
    const byToken = await runHere([tool, 'counter.ts', '--level', 'causal', '--replay', token], without);
    expect(byToken.code).toBe(2);
    const changed = await replay(kept, weaker, '--json');
    expect(JSON.parse(changed.out)).toMatchObject({
      answer: 'fixed',
      text: expect.stringMatching(/this run no longer fails.*; the invariant has changed since$/),
    });
  });

  test('of a program that never had an invariant can be fixed', async () => {
    const bare = (refused: number) => {
      const body = (own: string, peer: string, mayThrow: boolean) => async (session: SessionHandle) => {
        await session.transaction(async (t) => {
          await t.write('x', (await t.read<number>('x')) + 1);
          await t.write(own, 1);
        });
        const end = await session.transaction(async (t) => [await t.read(peer), await t.read('x')]);
        if (mayThrow && end[0] === 1 && end[1] === refused) throw new Error('refused');
      };
      return {
        'counter.ts': program({ initial: { x: 0 }, sessions: { a: body('a', 'b', true), b: body('b', 'a', false) } }),
      };
    };
    const kept = new KeptInMemory();
    await runHere([tool, 'counter.ts', '--level', 'causal'], bare(1), { failures: kept });
    const [path = ''] = Object.keys(kept.inputs());
    expect(await runHere(['replay', path], { ...bare(1), ...kept.inputs() })).toMatchObject({ code: 1 });
    const fixed = await runHere(['replay', path], { ...bare(7), ...kept.inputs() });
    expect(fixed).toMatchObject({ code: 0, out: expect.stringMatching(/^fixed: /) });
  });

  test('a token names the step as well, where the run is kept', async () => {
    const kept = new KeptInMemory();
    const { out } = await find(kept, tool);
    const token = /--replay (?<token>\S+)/.exec(out)?.groups?.['token'] ?? '';
    const replayed = async (failures: KeptInMemory | null, ...args: string[]) =>
      runHere([tool, 'counter.ts', '--level', 'causal', '--replay', token, ...args], other, { failures });
    const step = /step \d+: session "\w" reads x, the initial value was recorded, now session "\w" writes y/;
    const turned = await replayed(kept);
    expect(turned.code).toBe(2);
    expect(turned.out.replaceAll(/\s+/g, ' ')).toMatch(step);
    expect(JSON.parse((await replayed(kept, '--json')).out)).toMatchObject({
      answer: 'incompatible',
      answerText: expect.stringMatching(step),
    });
    const unknown = await replayed(null);
    expect(unknown.out.replaceAll(/\s+/g, ' ')).toContain('the program takes other steps than the recorded run');
  });

  test('as JSON', async () => {
    const kept = new KeptInMemory();
    await find(kept, tool);
    const answers = [lost, mended, other].map(async (files) => JSON.parse((await replay(kept, files, '--json')).out));
    expect(await Promise.all(answers)).toMatchObject([
      { answer: 'still-fails', message: 'an update is lost', program: 'counter.ts' },
      { answer: 'fixed', message: null },
      { answer: 'incompatible', text: expect.stringContaining('writes y') },
    ]);
  });

  test('as JSON, also where the run is cut', async () => {
    const kept = new KeptInMemory();
    await find(kept, tool);
    const cut: Ending[] = [];
    const changes: Partial<Host> = {
      watch: (_limitMs, endingOf) => ({
        ready: Promise.resolve(),
        beat: () => void cut.push(endingOf('interrupted') as Ending),
        limit: () => {},
        stop: () => {},
      }),
    };
    await runHere(['replay', kept.only, '--json'], { ...lost, ...kept.inputs() }, changes);
    const { out, err, code } = cut[0] as Ending;
    expect({ err, code }).toEqual({ err: 'interrupted\n', code: 2 });
    expect(JSON.parse(out)).toMatchObject({ file: 'counter.ts', verdict: 'unknown', gaps: ['interrupted'] });
  });

  test('is replayed by the next test', async () => {
    const kept = new KeptInMemory();
    await find(kept, tool);
    const next = async (files: Readonly<Record<string, unknown>>, ...args: string[]) =>
      runHere(['test', 'counter.ts', '--level', 'causal', '--runs', '5', ...args], files, { failures: kept });
    const path = kept.only;
    // So rare that five runs need not show it: what was kept is not forgotten.
    const still = await next(lost, '--strategy', 'latest', '--seed', '3');
    expect(still).toMatchObject({ code: 1, out: expect.stringContaining(`${path} still fails: an update is lost\n`) });
    const fixed = await next(mended);
    expect(fixed.out).toMatch(new RegExp(`^${path} fixed: .*\npassed 5 runs`));
    expect(fixed.code).toBe(0);
    const turned = await next(other);
    expect(turned.out).toMatch(new RegExp(`^${path} incompatible: .*\npassed 5 runs`));
    expect(turned.code).toBe(0);
    const another = await runHere(['test', 'counter.ts', '--level', 'prefix', '--runs', '5'], mended, {
      failures: kept,
    });
    expect(another.out).not.toContain(path);
    expect((await next(mended, '--no-failures')).out).not.toContain(path);
  });
});

test.each(['test', 'explore'])('%s --level all keeps one for each level that fails', async (tool) => {
  const kept = new KeptInMemory();
  const { code, out } = await runHere([tool, 'counter.ts', '--level', 'all'], lost, { failures: kept });
  expect(code).toBe(1);
  expect(out).toMatch(/\nkept: 4 failing runs in kept\n$/);
  const levels = [...kept.files.values()].map((text) => parseFailureRecord(text, 'file').options);
  expect(levels).toMatchObject(['read-committed', 'read-atomic', 'causal', 'prefix'].map((level) => ({ level })));
  for (const path of Object.keys(kept.inputs())) {
    expect((await runHere(['replay', path], { ...lost, ...kept.inputs() })).out).toMatch(/^still fails/);
    expect((await runHere(['replay', path], { ...mended, ...kept.inputs() })).out).toMatch(/^fixed/);
    expect((await runHere(['replay', path], { ...other, ...kept.inputs() })).out).toMatch(/^incompatible/);
  }
  const again = await runHere(['test', 'counter.ts', '--level', 'all', '--runs', '5'], lost, { failures: kept });
  expect(again.out.match(/still fails/g)).toHaveLength(4);
});

test('replays keep nothing, and --no-failures keeps nothing', async () => {
  const kept = new KeptInMemory();
  const { out } = await runHere(['test', 'counter.ts'], lost, { failures: kept });
  kept.files.clear();
  const token = /--replay (?<token>\S+)/.exec(out)?.groups?.['token'] ?? '';
  await runHere(['test', 'counter.ts', '--replay', token], lost, { failures: kept });
  await runHere(['test', 'counter.ts', '--no-failures'], lost, { failures: kept });
  await runHere(['explore', 'counter.ts', '--no-failures'], lost, { failures: kept });
  expect(kept.files.size).toBe(0);
});

test('no more than twenty are kept for one program: the oldest go', async () => {
  const kept = new KeptInMemory();
  await runHere(['explore', 'counter.ts'], lost, { failures: kept });
  const record = parseFailureRecord([...kept.files.values()][0] ?? '', 'file');
  for (let i = 0; i < 30; i += 1) kept.files.set(`old-${i}.json`, formatFailureRecord({ ...record, message: `${i}` }));
  kept.files.set('another.json', formatFailureRecord({ ...record, program: { file: 'another.ts', source: null } }));
  await runHere(['test', 'counter.ts', '--level', 'causal'], lost, { failures: kept });
  const names = [...kept.files.keys()];
  expect(names).toHaveLength(21);
  expect(names).toContain('another.json');
  expect(names).toContain('old-29.json');
  expect(names).not.toContain('old-0.json');
});

test('a folder that cannot be written is a warning', async () => {
  const full: FailureFolder = {
    path: 'kept',
    list: async () => [],
    read: async () => '',
    write: async () => Promise.reject(new Error('no space left on the disk')),
    remove: async () => {},
  };
  const { code, out, err } = await runHere(['test', 'counter.ts'], lost, { failures: full });
  expect({ code, err }).toEqual({
    code: 1,
    err: 'warning: failing runs cannot be kept in kept: no space left on the disk\n',
  });
  expect(out).not.toContain('kept:');
});

describe('a file that is not whole', () => {
  const spoil = async (change: (text: string) => string, files: Readonly<Record<string, unknown>> = lost) => {
    const kept = new KeptInMemory();
    await find(kept, 'test');
    const [[name = '', text = ''] = []] = kept.files;
    kept.files.set(name, change(text));
    return { ...(await replay(kept, files)), path: kept.only, kept };
  };

  test('is refused with the place where it ends', async () => {
    const { code, err, path } = await spoil((text) => text.slice(0, 300));
    expect(code).toBe(3);
    expect(err).toMatch(/^\S+:\d+:\d+: the file was cut or damaged: it is no JSON \[replay\/failure-file\]\n$/);
    expect(err.startsWith(`${path}:`)).toBe(true);
  });

  test.each([
    ['edited', (text: string) => text.replace('an update is lost', 'all is well'), 'its checksum is wrong'],
    [
      'of another format',
      (text: string) => text.replace('"format": 1', '"format": 9'),
      'wrote this failure in format 9',
    ],
    ['something else', () => '{"a":1}', 'no failure that moirai has kept'],
    ['no object', () => '7', 'no failure that moirai has kept'],
  ])('is refused: %s', async (_name, change, message) => {
    const { code, err } = await spoil(change);
    expect(code).toBe(3);
    expect(err).toContain(message);
    expect(err).toContain('[replay/failure-file]');
  });

  test('is passed over by the next test, with a warning: what it would have shown is unknown', async () => {
    const { kept } = await spoil((text) => text.slice(0, 300));
    const { code, out, err } = await runHere(['test', 'counter.ts', '--runs', '5'], mended, { failures: kept });
    expect(code).toBe(2);
    expect(out).toMatch(
      /^unknown: kept\/counter-\w+\.json was not replayed: it cannot be read; delete it to forget it\n/,
    );
    const [[name = '', text = ''] = []] = kept.files;
    kept.files.delete(name);
    kept.files.set('another-0a1b2c.json', text);
    expect((await runHere(['test', 'counter.ts', '--runs', '5'], mended, { failures: kept })).code).toBe(0);
    expect(err).toMatch(/^warning: kept\/counter-\w+\.json is passed over: the file was cut or damaged/);
  });
});

test('a record of another version says so, and is replayed', async () => {
  const kept = new KeptInMemory();
  await find(kept, 'test');
  const [[name = '', text = ''] = []] = kept.files;
  kept.files.set(
    name,
    formatFailureRecord({ ...parseFailureRecord(text, name), versions: { moirai: '0.0.9', node: '18.0.0' } }),
  );
  const { code, err } = await replay(kept, lost);
  expect(code).toBe(1);
  expect(err).toMatch(/^recorded by moirai 0\.0\.9 on Node 18\.0\.0; this is moirai \S+ on Node \S+\n$/);
});

describe('a SQL program', () => {
  test('explore --isolation all keeps one for each level that fails', async () => {
    const kept = new KeptInMemory();
    const files = { 'counter.ts': withdrawals() };
    const { code, out } = await runHere(['explore', 'counter.ts', '--isolation', 'all'], files, { failures: kept });
    expect(code).toBe(1);
    expect(out).toMatch(/\nkept: 3 failing runs in kept\n$/);
    const found = [...kept.files.values()].map((text) => parseFailureRecord(text, 'file'));
    expect(
      found.map(({ options, message }) => ['profile' in options && options.profile['isolation'], message]),
    ).toEqual([
      ['read committed', 'overdrawn'],
      ['repeatable read', expect.stringContaining('could not serialize')],
      ['serializable', expect.stringContaining('could not serialize')],
    ]);
    for (const path of Object.keys(kept.inputs()))
      expect((await runHere(['replay', path], { ...files, ...kept.inputs() })).out).toMatch(/^still fails/);
  });

  test.each([
    ['test', '--runs', '30'],
    ['explore', '--max-violations', '1'],
  ])('%s', async (tool, option, value) => {
    const kept = new KeptInMemory();
    const found = await runHere(
      [tool, 'counter.ts', option, value],
      { 'counter.ts': withdrawals() },
      { failures: kept },
    );
    expect(found.out).toContain(`kept: ${kept.only}\n`);
    expect((await replay(kept, { 'counter.ts': withdrawals() })).code).toBe(1);
    expect((await replay(kept, { 'counter.ts': withdrawals({ amount: 40 }) })).code).toBe(0);
    const locked = await replay(kept, { 'counter.ts': withdrawals({ lock: ' for update' }) });
    expect(locked.code).toBe(2);
    expect(locked.out.replaceAll(/\s+/g, ' ')).toMatch(/^incompatible: step \d+: .* for update/);
    const token = /--replay (?<token>\S+)/.exec(found.out)?.groups?.['token'] ?? '';
    const files = { 'counter.ts': withdrawals({ lock: ' for update' }) };
    const named = await runHere([tool, 'counter.ts', '--replay', token], files, { failures: kept });
    expect(named.code).toBe(2);
    expect(named.out.replaceAll(/\s+/g, ' ')).toMatch(/^incompatible: step \d+: .* for update/);
    const keys = await replay(kept, lost);
    expect(keys.code).toBe(2);
    expect(keys.out.replaceAll(/\s+/g, ' ')).toContain(
      'a SQL program for postgres was recorded, now a program of keys',
    );
  });
});

describe('the process', () => {
  const folder = new UserFolder();
  const text = (amount: number): string =>
    `import { program } from 'moirai';
const add = (s) => s.transaction(async (t) => t.write('x', (await t.read('x')) + ${amount}));
export default program({ initial: { x: 0 }, sessions: { a: add, b: add }, invariant: ({ final }) => final.x !== 1 || 'lost' });
`;
  const env = { MOIRAI_FAILURES: '.moirai/failures' };
  beforeAll(async () => {
    folder.write({ 'counter.mjs': text(1) });
    await build();
  }, 120_000);
  afterAll(() => folder.remove());

  test('keeps the program with the failure, and says when the program is gone', { timeout: 60_000 }, async () => {
    const { code, out } = await runBuilt(['explore', 'counter.mjs'], { cwd: folder.path, env });
    expect(code).toBe(1);
    const file = /kept: (?<file>\S+)\n$/.exec(out)?.groups?.['file'] ?? '';
    expect(JSON.parse(readFileSync(join(folder.path, file), 'utf8'))).toMatchObject({
      program: { file: 'counter.mjs', source: text(1) },
    });
    expect((await runBuilt(['replay', file], { cwd: folder.path, env })).code).toBe(1);
    writeFileSync(join(folder.path, 'elsewhere.mjs'), text(2));
    writeFileSync(join(folder.path, 'counter.mjs'), text(2));
    expect((await runBuilt(['replay', file], { cwd: folder.path, env })).code).toBe(0);
    expect(await runBuilt(['replay', 'missing.json'], { cwd: folder.path, env })).toMatchObject({ code: 3, out: '' });
    const moved = new UserFolder();
    moved.write({ 'failure.json': readFileSync(join(folder.path, file), 'utf8'), 'elsewhere.mjs': text(2) });
    const gone = await runBuilt(['replay', 'failure.json'], { cwd: moved.path, env });
    expect(gone).toMatchObject({ code: 3, err: expect.stringContaining('the program of this failure is gone') });
    const named = await runBuilt(['replay', 'failure.json', '--program', 'elsewhere.mjs'], { cwd: moved.path, env });
    expect(named.code).toBe(0);
    moved.remove();
  });
});

describe.each(['keys', 'SQL'] as const)('a kept failure of a program of %s', (kind) => {
  const seed = Number(process.env['MOIRAI_SEED'] ?? 7);
  const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
  const files: Readonly<Record<string, unknown>> = kind === 'keys' ? lost : { 'transfer.ts': withdrawals() };
  const kept = new KeptInMemory();
  let bytes = new Uint8Array();
  let whole: FailureRecord;
  const replayed = async (changed: Uint8Array) => {
    const [name] = kept.files.keys();
    return runHere(['replay', `kept/${name}`], { ...files, [`kept/${name}`]: new TextDecoder().decode(changed) });
  };

  beforeAll(async () => {
    const [file = ''] = Object.keys(files);
    await runHere(['test', file, ...(kind === 'keys' ? ['--level', 'causal'] : [])], files, { failures: kept });
    const [text = ''] = kept.files.values();
    bytes = new TextEncoder().encode(text);
    whole = parseFailureRecord(text, 'file');
  });

  /** Of a file on disk: `null` where it is refused. */
  const recordIn = (changed: Uint8Array): FailureRecord | null => {
    try {
      return parseFailureRecord(new TextDecoder().decode(changed), 'file');
    } catch (error) {
      if (error instanceof InputError && error.code === 'replay/failure-file') return null;
      throw error;
    }
  };

  test(`that is cut or changed anywhere is refused, or is the same failure (seed ${seed})`, async () => {
    const chooser = seeded(seed);
    const place = (): number => chooser.choose(bytes.length);
    const cuts = Array.from(bytes, (_, length) => bytes.slice(0, length));
    const values = isHeavy ? Array.from({ length: 255 }, (_, i) => i + 1) : [1, 0x20, 1 + chooser.choose(255)];
    const changes = Array.from(bytes, (_, at) => values.map((value) => bytes.with(at, (bytes[at] as number) ^ value)));
    const blocks = Array.from({ length: 100 }, () => [
      bytes.slice().fill(0, place()),
      Buffer.concat([bytes.subarray(0, place()), bytes.subarray(place())]),
      Buffer.concat([bytes, bytes.subarray(place())]),
    ]);
    const refused: Uint8Array[] = [];
    for (const changed of [...cuts, ...changes.flat(), ...blocks.flat(), Buffer.concat([bytes, bytes])]) {
      const record = recordIn(changed);
      if (record === null) refused.push(changed);
      else expect(record).toStrictEqual(whole);
    }
    expect(refused.length).toBeGreaterThan(3 * bytes.length);
    for (let i = 0; i < (isHeavy ? 1_000 : 5); i += 1) {
      const { code, out, err } = await replayed(refused[chooser.choose(refused.length)] as Uint8Array);
      expect({ code, out }).toEqual({ code: 3, out: '' });
      expect(err).toMatch(/^[^\n]+ \[replay\/failure-file\]\n$/);
    }
  });

  test(`with another shape under a right checksum, as another version may write it, gets an answer (seed ${seed})`, async () => {
    const outcomes = new Set<number | null>();
    const chooser = seeded(seed);
    for (const [path, value] of otherShapes(whole).filter(() => isHeavy || chooser.choose(7) === 0)) {
      const { code, err } = await replayed(new TextEncoder().encode(formatFailureRecord(replaced(whole, path, value))));
      expect(code, `${path.join('.')} = ${JSON.stringify(value)}: ${err}`).not.toBe(4);
      outcomes.add(code);
    }
    expect(outcomes).toContain(3);
  });
});

/** Each field of a record in each of its objects, gone or with another kind of value. */
function otherShapes(record: object, path: readonly string[] = []): (readonly [readonly string[], unknown])[] {
  return Object.entries(record).flatMap(([name, value]) => {
    const here = [...path, name];
    const inside = typeof value === 'object' && value !== null && !Array.isArray(value) ? otherShapes(value, here) : [];
    return [...[undefined, null, 7, 'x', [], [7], {}].map((instead) => [here, instead] as const), ...inside];
  });
}

function replaced(record: FailureRecord, [name = '', ...rest]: readonly string[], value: unknown): FailureRecord {
  const inner = (record as unknown as Record<string, FailureRecord>)[name];
  return { ...record, [name]: rest.length === 0 || inner === undefined ? value : replaced(inner, rest, value) };
}
