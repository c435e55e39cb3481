/**
 * Programs that are wrong, each in one way, with what moirai has to say of them: the commands, exit codes and first lines of output that the
 * head of each file states. `*` stands for any text. They run as a user runs them, in processes of their own: of commands that print the same,
 * each program runs another one than the program before it; with MOIRAI_HEAVY=1 it runs all.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, root, runBuilt, UserFolder } from './support/cli.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const folder = join(root, 'test/fixtures/faulty-programs');
const programs = readdirSync(folder).filter((name) => name.endsWith('.mjs'));

interface Expectation {
  readonly command: string;
  readonly words: readonly string[];
  readonly code: number;
  readonly firstLine: string;
  readonly otherLine: string;
}

/** `// $ moirai test --runs 20`, then `// exit 3: the first line`, then, where one is not enough, `// and: another line`. */
function expectationsOf(source: string): Expectation[] {
  return [...source.matchAll(/^\/\/ \$ moirai (.+)\n\/\/ exit (\d): (.*)(?:\n\/\/ and: (.*))?$/gm)].map(
    ([, command = '', code = '', firstLine = '', otherLine = '*']) => ({
      command,
      words: command.split(' '),
      code: Number(code),
      firstLine,
      otherLine,
    }),
  );
}

/** Without commands of which another one prints the same. @param position of the program */
function taken(expectations: readonly Expectation[], position: number): Expectation[] {
  const printed = ({ code, firstLine, otherLine }: Expectation): string => [code, firstLine, otherLine].join('\n');
  return expectations.filter((each) => {
    const same = expectations.filter((other) => printed(other) === printed(each));
    return same.indexOf(each) === position % same.length;
  });
}

/** `PostgreSQL, read committed: 10 of 20 runs`, which a slow machine prints first. */
function isProgress(line: string): boolean {
  return /: [\d,]+ (?:of [\d,]+ )?(?:runs|schedules|histories|states)(?:, .*left)?$/.test(line);
}

/** Does `*` in the pattern, and nothing else, stand for other text? */
function matches(line: string, pattern: string): boolean {
  const escaped = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join('.*')}$`).test(line);
}

test('there are at least forty of them, and each says what is expected', () => {
  expect(programs.length).toBeGreaterThanOrEqual(40);
  const silent = programs.filter((name) => expectationsOf(readFileSync(join(folder, name), 'utf8')).length === 0);
  expect(silent).toEqual([]);
});

test('a pattern is not a match for everything', () => {
  expect(matches('session "a" failed', 'session * failed')).toBe(true);
  expect(matches('session "a" failed', 'session * passed')).toBe(false);
});

describe.concurrent('a program at fault', () => {
  const elsewhere = new UserFolder();
  beforeAll(build);
  afterAll(() => elsewhere.remove());

  const cases = programs.flatMap((name, position) => {
    const all = expectationsOf(readFileSync(join(folder, name), 'utf8'));
    return (isHeavy ? all : taken(all, position)).map((each) => ({ name, ...each }));
  });
  test.each(cases)('$name: $command', async ({ name, words, code, firstLine, otherLine }) => {
    const [command = '', ...options] = words;
    const ended = await runBuilt([command, join(folder, name), ...options], { cwd: elsewhere.path });
    const printed = (ended.out.trim() === '' ? ended.err : ended.out).trim().split('\n');
    const lines = printed.filter((each) => !isProgress(each));
    const [line = ''] = lines;
    const isExpected = matches(line, firstLine) && lines.some((each) => matches(each, otherLine));
    expect({ code: ended.code, line, isExpected }).toEqual({ code, line, isExpected: true });
  });
});
