/** Signals at `check`, `verify` and `convert`, as built: what was found and decided until then, within a second, as text and as JSON. */
import { execFileSync } from 'node:child_process';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Host } from '../../src/cli/host.ts';
import { formatTraceHeader, formatTraceMark } from '../../src/history/trace-record.ts';
import { emptyHeader } from '../../src/history/trace.ts';
import { writeWhole } from '../../src/files/index.ts';
import { type Ended, build, runBuilt, runHere, UserFolder } from '../support/cli.ts';

const folder = new UserFolder();
const cwd = folder.path;

/** How long a check of `open.history` takes until only its strong levels are left. */
let causalMs = 0;

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
  const startMs = performance.now();
  await runBuilt(['check', 'open.history', '--level', 'causal'], { cwd });
  causalMs = performance.now() - startMs;
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

/** A serial execution of many sessions: what each read saw follows, and the order of blind writes is a search of minutes. */
function openHistory(): string {
  return execution({ sessions: 100, transactions: 10_000, keys: 50, valueOf: (count) => count });
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

interface Interrupted extends Ended {
  /** From the signal to the end. */
  readonly answerMs: number;
}

/** @param afterMs after its first output, or `null`: after its start */
async function interrupted(args: readonly string[], afterMs: number, isAfterOutput = false): Promise<Interrupted> {
  let signalMs = Infinity;
  let kill = (): void => {};
  const send = (): void => {
    signalMs = performance.now();
    kill();
  };
  let isSet = false;
  const running = runBuilt(args, {
    cwd,
    onStart: (killIt) => {
      kill = () => killIt('SIGINT');
      if (!isAfterOutput) setTimeout(send, afterMs);
    },
    onOutput: () => {
      if (isAfterOutput && !isSet) setTimeout(send, afterMs);
      isSet = true;
    },
  });
  const ended = await running;
  return { ...ended, answerMs: performance.now() - signalMs };
}

const decidedMs = (): number => causalMs + 1_000;
/** A second, and what a machine with much else to do takes to end a process. */
const answerMsMax = 2_500;

describe('check', () => {
  test('the levels that were decided, and the others as unknown', { timeout: 60_000 }, async () => {
    const text = await interrupted(['check', 'open.history'], decidedMs());
    expect(text.code).toBe(2);
    expect(text.answerMs).toBeLessThan(answerMsMax);
    expect(text.out).toMatch(/^causal +satisfied\nprefix +unknown: interrupted\n/m);
    expect(text.out).toContain('strongest level: causal\n');
    const json = await interrupted(['check', 'open.history', '--level', 'serializable', '--json'], decidedMs());
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({
      transactions: 10_000,
      levels: { causal: 'satisfied', serializable: 'unknown' },
      unknown: { prefix: 'interrupted', serializable: 'interrupted' },
      verdict: 'unknown',
    });
  });

  test('of repeated values, where the search decides the strongest level first', { timeout: 60_000 }, async () => {
    const { code, out, answerMs } = await interrupted(['check', 'repeated.history', '--json'], 3_000);
    expect(code).toBe(2);
    expect(answerMs).toBeLessThan(answerMsMax);
    expect(JSON.parse(out)).toMatchObject({ unknown: { serializable: 'interrupted' }, violations: [] });
  });

  test('a violation that was found is the verdict: exit code 1', { timeout: 60_000 }, async () => {
    const args = ['check', 'skew.history', 'open.history', 'serial.history', '--level', 'serializable'];
    const { code, out } = await interrupted(args, decidedMs(), true);
    expect(code).toBe(1);
    expect(out).toMatch(/^skew.history: 2 transactions[^]*\nopen.history: [^]*serializable +unknown: interrupted\n/);
    expect(out).toMatch(/\n3 histories, by answer at serializable\ninterrupted +2\nviolated +1\n$/);
    const json = await interrupted([...args, '--json'], decidedMs());
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject([
      { file: 'skew.history', verdict: 'violated' },
      { file: 'open.history', verdict: 'unknown' },
      { file: 'serial.history', verdict: 'unknown', unknown: { serializable: 'interrupted' } },
    ]);
  });

  test('a folder on threads: each thread says how far it is', { timeout: 60_000 }, async () => {
    const args = ['check', 'many', '--jobs', '2', '--level', 'serializable'];
    const { code, out, answerMs } = await interrupted(args, 3 * decidedMs());
    expect(code).toBe(2);
    expect(answerMs).toBeLessThan(answerMsMax);
    // How far each thread has come depends on the machine; what it has decided is told, and nothing else.
    expect(out).not.toContain('violated');
    expect(out).not.toMatch(/^serializable +satisfied/m);
    expect(out).toMatch(/\n3 histories, by answer at serializable\ninterrupted +3\n$/);
  });

  test.each([
    ['--dot', /^digraph "skew.history: not serializable" \{/],
    ['--mermaid', /^---\ntitle: .*skew.history: not serializable/],
  ])('%s: the cycles that were found', { timeout: 60_000 }, async (drawing, begins) => {
    const args = ['check', 'skew.history', 'open.history', '--level', 'serializable', drawing];
    const { code, out, err } = await interrupted(args, decidedMs());
    expect(code).toBe(1);
    expect(out).toMatch(begins);
    expect(err).toBe('interrupted: 1 of 2 histories were checked\n');
  });

  test('--by commit-tests', { timeout: 60_000 }, async () => {
    writeFileSync(
      join(cwd, 'tests.history'),
      execution({ sessions: 20, transactions: 400, keys: 8, valueOf: (n) => n }),
    );
    const args = ['check', '--by', 'commit-tests', 'skew.history', 'tests.history', '--level', 'serializable'];
    const text = await interrupted(args, 500, true);
    expect(text.code).toBe(1);
    expect(text.answerMs).toBeLessThan(answerMsMax);
    expect(text.out).toMatch(/^skew.history: [^]*\ntests.history: [^]*\nserializable +unknown: interrupted\n/);
    const json = await interrupted([...args, '--json'], 3_000);
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

/** Interrupts it when its input has been read. */
async function interruptedAtPipe(lines: readonly string[], args: (path: string) => string[]): Promise<Interrupted> {
  return withPipe(lines, async (path, isRead) => {
    let signalMs = Infinity;
    const ended = await runBuilt(args(path), {
      cwd,
      onStart: (kill) => {
        void isRead.then(() =>
          setTimeout(() => {
            signalMs = performance.now();
            kill('SIGINT');
          }, 500),
        );
      },
    });
    return { ...ended, answerMs: performance.now() - signalMs };
  });
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

  test('of a file: the violations so far', async () => {
    const args = (path: string): string[] => ['verify', path, ...claim];
    const text = await interruptedAtPipe(recorded([...stale, ...later]), args);
    expect(text.code).toBe(1);
    expect(text.answerMs).toBeLessThan(answerMsMax);
    expect(text.out).toMatch(/^violation 1: [^]*\nviolated: 1 violation\n.*: \d+ transactions, \d+ operations;/);
    const json = await interruptedAtPipe(recorded([...stale, ...later]), (path) => [...args(path), '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ verdict: 'violated', violationCount: 1 });
  });

  test('without one it is unknown, and says how much was checked', async () => {
    const holds = recorded([...stale.slice(0, 4), ...later]);
    const text = await interruptedAtPipe(holds, (path) => ['verify', path, ...claim]);
    expect(text.code).toBe(2);
    expect(text.out).toMatch(/^unknown: interrupted\n.*: [1-9]\d* transactions, [1-9]\d* operations;/);
    const json = await interruptedAtPipe(holds, (path) => ['verify', path, ...claim, '--json']);
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({ verdict: 'unknown', gaps: ['interrupted'], violations: [] });
  });

  test('what has not come yet is not missing', async () => {
    const { code, out } = await interruptedAtPipe(early, (path) => ['verify', path, ...claim]);
    expect(code).toBe(2);
    expect(out).toMatch(/^unknown: interrupted\n/);
  });

  test('of standard input that stays open', async () => {
    let signalMs = Infinity;
    const ended = await runBuilt(['verify', '-', ...claim], {
      cwd,
      endsInput: false,
      onStart: (_kill, stdin) => void stdin.write(`${recorded([...stale, ...later]).join('\n')}\n`),
      onOutput: (kill) => {
        if (signalMs !== Infinity) return;
        signalMs = performance.now();
        kill('SIGINT');
      },
    });
    expect(ended.code).toBe(1);
    expect(performance.now() - signalMs).toBeLessThan(answerMsMax);
    expect(ended.out).toContain('\nviolated: 1 violation\n');
  });
});

describe('convert', () => {
  test('of an input that does not end: the old output stays', async () => {
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
