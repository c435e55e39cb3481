/** Signals at `check`, `verify` and `convert`, as built: what was found and decided until then, within a second, as text and as JSON. */
import { execFileSync } from 'node:child_process';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Host } from '../../src/cli/host.ts';
import { formatTraceHeader, formatTraceMark } from '../../src/trace/record.ts';
import { emptyHeader } from '../../src/trace/trace.ts';
import { writeWhole } from '../../src/files/index.ts';
import { build, runHere, UserFolder } from '../support/cli.ts';
import {
  answerMsMax,
  interruptedAt,
  interruptedAtOutput,
  interruptedUntil,
  type Interrupted,
} from '../support/interrupted.ts';

const folder = new UserFolder();
const cwd = folder.path;

beforeAll(async () => {
  folder.write({
    'open.history': openHistory(),
    'repeated.history': repeatedHistory(),
    'skew.history': 'r x _, w y 1\nr y _, w x 1\n',
    'serial.history': 'w x 1\nr x 1\n',
  });
  mkdirSync(join(cwd, 'many'));
  for (const name of ['a', 'b', 'c']) writeFileSync(join(cwd, 'many', `${name}.history`), openHistory());
  await build();
}, 180_000);
afterAll(() => folder.remove());

/** Numbers that look random, always the same. */
function numbers(): (below: number) => number {
  let state = 7;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor(state / 65_536) % below;
  };
}

/**
 * A serial execution of very many sessions. Causal is decided in a second; at prefix the order of blind writes is a search that has no answer after a
 * minute. (Of 100 sessions, every level is decided in seconds.)
 */
function openHistory(): string {
  return execution({ sessions: 1_000, transactions: 10_000, keys: 50, valueOf: (count) => count });
}

/** Few values: which write each read saw is a search already. */
function repeatedHistory(): string {
  return execution({ sessions: 20, transactions: 200, keys: 3, valueOf: (count) => (count % 3) + 1 });
}

function execution(sizes: {
  readonly sessions: number;
  readonly transactions: number;
  readonly keys: number;
  readonly valueOf: (count: number) => number;
}): string {
  const below = numbers();
  const state = new Map<string, number>();
  const sessions: string[][] = Array.from({ length: sizes.sessions }, () => []);
  let count = 0;
  for (let i = 0; i < sizes.transactions; i += 1) {
    const operations: string[] = [];
    for (const key of new Set([below(sizes.keys), below(sizes.keys), below(sizes.keys)].map((k) => `k${k}`))) {
      if (below(2) === 0) operations.push(`r ${key} ${state.get(key) ?? '_'}`);
      else {
        state.set(key, sizes.valueOf((count += 1)));
        operations.push(`w ${key} ${state.get(key)}`);
      }
    }
    sessions[below(sizes.sessions)]?.push(operations.join(', '));
  }
  return sessions.map((session) => session.join(' | ')).join('\n');
}

const interruptedAfter =
  (args: readonly string[]) =>
  (moment: Promise<unknown>): Promise<Interrupted> =>
    interruptedAt(args, moment, { cwd });

/** Where the machine has much else to do, a command is interrupted several times. */
const timeout = { timeout: 300_000 };
/** No level ends at its share of the time before the signal. */
const patient = ['--max-time', '3600'];

describe('check', () => {
  test('the levels that were decided, and the others as unknown', timeout, async () => {
    const text = await interruptedUntil(interruptedAfter(['check', 'open.history', ...patient]), ({ out }) =>
      /^causal +satisfied/m.test(out),
    );
    expect(text.code).toBe(2);
    expect(text.answerMs).toBeLessThan(answerMsMax);
    expect(text.out).toMatch(/^causal +satisfied\nprefix +unknown: interrupted\n/m);
    expect(text.out).toContain('strongest level: causal\n');
    const json = await interruptedUntil(
      interruptedAfter(['check', 'open.history', '--level', 'serializable', '--json', ...patient]),
      ({ out }) => out.includes('"causal":"satisfied"'),
    );
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({
      transactions: 10_000,
      levels: { causal: 'satisfied', serializable: 'unknown' },
      unknown: { prefix: 'interrupted', serializable: 'interrupted' },
      verdict: 'unknown',
    });
  });

  test('of repeated values, where the search decides the strongest level first', timeout, async () => {
    const args = ['check', 'repeated.history', '--json', ...patient];
    const { code, out, answerMs } = await interruptedUntil(interruptedAfter(args), (ended) =>
      ended.out.includes('"levels"'),
    );
    expect(code).toBe(2);
    expect(answerMs).toBeLessThan(answerMsMax);
    expect(JSON.parse(out)).toMatchObject({ unknown: { serializable: 'interrupted' }, violations: [] });
  });

  test('a violation that was found is the verdict: exit code 1', timeout, async () => {
    const args = ['check', 'skew.history', 'open.history', 'serial.history', '--level', 'serializable', ...patient];
    const { code, out } = await interruptedUntil(interruptedAfter(args), (ended) =>
      ended.out.includes('\nopen.history: '),
    );
    expect(code).toBe(1);
    expect(out).toMatch(/^skew.history: 2 transactions[^]*\nopen.history: [^]*serializable +unknown: interrupted\n/);
    expect(out).toMatch(/\n3 histories, by answer at serializable\ninterrupted +2\nviolated +1\n$/);
    const json = await interruptedUntil(interruptedAfter([...args, '--json']), (ended) => ended.code === 1);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject([
      { file: 'skew.history', verdict: 'violated' },
      { file: 'open.history', verdict: 'unknown' },
      { file: 'serial.history', verdict: 'unknown', unknown: { serializable: 'interrupted' } },
    ]);
  });

  test('at the first report: of the histories after it nothing is known', timeout, async () => {
    const args = ['check', 'skew.history', 'open.history', '--level', 'serializable'];
    const { code, out, answerMs } = await interruptedAtOutput(args, { cwd });
    expect(code).toBe(1);
    expect(answerMs).toBeLessThan(answerMsMax);
    expect(out).not.toMatch(/open.history[^]*\nserializable +(?:satisfied|violated)/);
    expect(out).toMatch(/\n2 histories, by answer at serializable\ninterrupted +1\nviolated +1\n$/);
  });

  test('a folder on threads: each thread says how far it is', timeout, async () => {
    const args = ['check', 'many', '--jobs', '2', '--level', 'serializable', ...patient];
    const isBegun = (out: string): boolean => [...out.matchAll(/^read-committed +satisfied$/gm)].length === 2;
    const { code, out, answerMs } = await interruptedUntil(interruptedAfter(args), (ended) => isBegun(ended.out));
    expect(code).toBe(2);
    expect(answerMs).toBeLessThan(answerMsMax);
    // How far each thread has come depends on the machine; the output says what it has decided, and nothing else.
    expect(out).not.toContain('violated');
    expect(out).not.toMatch(/^serializable +satisfied/m);
    expect(out).toMatch(/\n3 histories, by answer at serializable\ninterrupted +3\n$/);
  });

  test.each([
    ['--dot', /^digraph "skew.history: not serializable" \{/],
    ['--mermaid', /^---\ntitle: .*skew.history: not serializable/],
  ])('%s: the cycles that were found', timeout, async (drawing, begins) => {
    const args = ['check', 'skew.history', 'open.history', '--level', 'serializable', drawing];
    const { code, out, err } = await interruptedUntil(interruptedAfter(args), (ended) => ended.code === 1);
    expect(code).toBe(1);
    expect(out).toMatch(begins);
    expect(err).toBe('interrupted: 1 of 2 histories were checked\n');
  });

  test.each([
    ['--by', 'axioms'],
    ['--by', 'commit-tests'],
  ])('of an input that does not end: %s %s', async (...by) => {
    const interruption = new AbortController();
    const readInput = (): Promise<never> => new Promise(() => {});
    const openInput = async function* (): AsyncGenerator<Uint8Array> {
      yield await readInput();
    };
    const changes = { interruption: interruption.signal, readInput, openInput };
    const checking = runHere(['check', 'endless.jsonl', ...by], {}, changes);
    interruption.abort();
    const { code, out } = await checking;
    expect(code).toBe(2);
    expect(out).toMatch(/^endless\.jsonl: not read to its end\b/);
    expect(out).toMatch(/^strongest level: unknown$/m);
  });

  test('--by commit-tests', timeout, async () => {
    writeFileSync(
      join(cwd, 'tests.history'),
      execution({ sessions: 20, transactions: 400, keys: 8, valueOf: (n) => n }),
    );
    const args = ['check', '--by', 'commit-tests', 'skew.history', 'tests.history', '--level', 'serializable'];
    const text = await interruptedUntil(interruptedAfter(args), ({ out }) => out.includes('\ntests.history: '));
    expect(text.code).toBe(1);
    expect(text.answerMs).toBeLessThan(answerMsMax);
    expect(text.out).toMatch(/^skew.history: [^]*\ntests.history: [^]*\nserializable +unknown: interrupted\n/);
    const json = await interruptedUntil(interruptedAfter([...args, '--json']), ({ code }) => code === 1);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject([
      { file: 'skew.history', levels: { serializable: 'violated' } },
      { file: 'tests.history', levels: { serializable: 'unknown' }, stopped: 'interrupted' },
    ]);
  });
});

/** A pipe under the name of a file: its reader gets what is written, and waits for more. */
async function withPipe<Result>(
  lines: readonly string[],
  use: (path: string, isRead: Promise<unknown>) => Promise<Result>,
): Promise<Result> {
  const path = join(cwd, `pipe-${(pipes += 1)}`);
  execFileSync('mkfifo', [path]);
  const writer = createWriteStream(path);
  const isRead = new Promise((resolve) => writer.write(lines.map((line) => `${line}\n`).join(''), resolve));
  try {
    return await use(path, isRead);
  } finally {
    writer.destroy();
  }
}
let pipes = 0;

/** Interrupts it at the moment, or when its input is open, whichever is later. */
function interruptedAtPipe(
  lines: readonly string[],
  args: (path: string) => string[],
  moment: Promise<unknown> = Promise.resolve(),
): Promise<Interrupted> {
  return withPipe(lines, (path, isRead) => interruptedAt(args(path), Promise.all([isRead, moment]), { cwd }));
}

describe('verify', () => {
  const line = (session: string, transaction: string, op: string, rows: string, start: number): string =>
    `{"session":"${session}","transaction":"${transaction}","op":"${op}",${rows}"start":${start},"end":${start + 1}}`;
  const read = (n: number): string => `"reads":[["x",{"n":${n}}]],`;
  const write = (n: number): string => `"writes":[["x",{"n":${n}}]],`;
  /** The second reads a value that the first has overwritten. */
  const stale = [
    line('a', 'a1', 'write', write(1), 1),
    line('a', 'a1', 'commit', '', 3),
    line('a', 'a2', 'write', write(2), 5),
    line('a', 'a2', 'commit', '', 7),
    line('b', 'b1', 'read', read(1), 11),
    line('b', 'b1', 'commit', '', 13),
  ];
  /** Reads of what another session has yet to tell: in a trace that is whole there is no such value. */
  const early = [line('b', 'b1', 'read', read(9), 11), line('b', 'b1', 'commit', '', 13)];
  const later = Array.from({ length: 20 }, (_, i) => [
    line('a', `c${i}`, 'read', read(2), 21 + 4 * i),
    line('b', `d${i}`, 'read', read(2), 22 + 4 * i),
    line('a', `c${i}`, 'commit', '', 23 + 4 * i),
    line('b', `d${i}`, 'commit', '', 24 + 4 * i),
  ]).flat();
  /** As a recorder writes it that has not ended: all that starts before the mark is there. */
  const recorded = (lines: readonly string[]): string[] => [
    formatTraceHeader({ ...emptyHeader, hasMarks: true }),
    ...lines,
    formatTraceMark(200),
  ];
  const claim = ['--engine', 'postgres', '--isolation', 'read committed'];

  test('of a file: the violations so far', timeout, async () => {
    const args = (path: string): string[] => ['verify', path, ...claim];
    const lines = recorded([...stale, ...later]);
    const text = await withPipe(lines, (path) => interruptedAtOutput(args(path), { cwd }));
    expect(text.code).toBe(1);
    expect(text.answerMs).toBeLessThan(answerMsMax);
    expect(text.out).toMatch(/^violation 1: [^]*\nviolated: 1 violation\n.*: \d+ transactions, \d+ operations;/);
    const json = await interruptedUntil(
      (moment) => interruptedAtPipe(lines, (path) => [...args(path), '--json'], moment),
      ({ code }) => code === 1,
    );
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ verdict: 'violated', violationCount: 1 });
  });

  test('without one it is unknown, and says how much was checked', timeout, async () => {
    const holds = recorded([...stale.slice(0, 4), ...later]);
    const checkedSome = /^unknown: interrupted\n.*: [1-9]\d* transactions, [1-9]\d* operations;/;
    const text = await interruptedUntil(
      (moment) => interruptedAtPipe(holds, (path) => ['verify', path, ...claim], moment),
      ({ out }) => checkedSome.test(out),
    );
    expect(text.code).toBe(2);
    expect(text.out).toMatch(checkedSome);
    const json = await interruptedAtPipe(holds, (path) => ['verify', path, ...claim, '--json']);
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({ verdict: 'unknown', gaps: ['interrupted'], violations: [] });
  });

  test('what has not come yet is not missing', async () => {
    const interruption = new AbortController();
    const { code, out } = await runHere(
      ['verify', 'early.jsonl', ...claim],
      {},
      {
        interruption: interruption.signal,
        openInput: async function* () {
          yield new TextEncoder().encode(early.map((text) => `${text}\n`).join(''));
          interruption.abort();
          await new Promise(() => {});
        },
      },
    );
    expect(code).toBe(2);
    expect(out).toMatch(/^unknown: interrupted\n/);
  });

  test.each([
    ['nothing', ''],
    ['half a line', early.join('\n').slice(0, 40)],
    ['some lines and a half', `${stale.join('\n')}\n${early.join('\n').slice(0, 40)}`],
  ])('of a pipe whose writer dies with it after %s', async (_what, text) => {
    const interruption = new AbortController();
    const { code, out, err } = await runHere(
      ['verify', '-', ...claim],
      {},
      {
        interruption: interruption.signal,
        openInput: async function* () {
          yield new TextEncoder().encode(text);
          interruption.abort();
        },
      },
    );
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(out).toMatch(/^unknown: interrupted[;\n]/);
  });

  test('of standard input that stays open', timeout, async () => {
    const { code, out, answerMs } = await interruptedAtOutput(['verify', '-', ...claim], {
      cwd,
      endsInput: false,
      onStart: (_kill, stdin) => void stdin.write(`${recorded([...stale, ...later]).join('\n')}\n`),
    });
    expect(code).toBe(1);
    expect(answerMs).toBeLessThan(answerMsMax);
    expect(out).toContain('\nviolated: 1 violation\n');
  });
});

describe('convert', () => {
  test('of an input that does not end: the old output stays', timeout, async () => {
    writeFileSync(join(cwd, 'old.jsonl'), 'old');
    const { code, out, err, answerMs } = await interruptedAtPipe(['w x 1', 'r x 1'], (path) => [
      'convert',
      path,
      'old.jsonl',
    ]);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: 'interrupted: old.jsonl was not written\n' });
    expect(answerMs).toBeLessThan(answerMsMax);
    expect(readFileSync(join(cwd, 'old.jsonl'), 'utf8')).toBe('old');
    expect(readdirSync(cwd).filter((name) => /partial|lock/.test(name))).toEqual([]);
  });

  test('in the middle of writing: the writer hears of it and keeps the old output', async () => {
    const files = { 'in.history': Array.from({ length: 20_000 }, (_, i) => `w k${i} ${i}`).join('\n') };
    const target = join(cwd, 'kept.jsonl');
    writeFileSync(target, 'old');
    let endingOf: Parameters<Host['watch']>[1] = () => null;
    let parts = 0;
    const { code, err } = await runHere(['convert', 'in.history', target], files, {
      watch: (_limitMs, given) => {
        endingOf = given;
        return { ready: Promise.resolve(), beat() {}, limit() {}, stop() {} };
      },
      // As the watchdog asks it, between two parts.
      writeOutput: async (path, written) =>
        writeWhole(
          path,
          (function* () {
            for (const part of written) {
              parts += 1;
              yield part;
              if (parts === 1) expect(endingOf('interrupted')).toBe(null);
            }
          })(),
        ),
    });
    expect({ code, parts, err }).toEqual({ code: 2, parts: 1, err: `interrupted: ${target} was not written\n` });
    expect(readFileSync(target, 'utf8')).toBe('old');
    expect(readdirSync(cwd).filter((name) => /partial|lock/.test(name))).toEqual([]);
  });
});
