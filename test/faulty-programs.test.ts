/**
 * Programs that are wrong, each in one way, with what moirai has to say of them: the commands, exit codes and first lines of output that the
 * head of each file states. `*` stands for any text. Of commands that print the same, each program runs another one than the program before it, and
 * most run one after the other in one process: see `isAlone`. With MOIRAI_HEAVY=1 all run, each as a user runs it, in a process of its own.
 */
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, type Ended, root, runBuilt, UserFolder } from './support/cli.ts';
import { CommandProcess } from './support/command-process.ts';

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

/** What ends the process, or leaves something under way in it. */
const needsProcess =
  /\[program\/(?:uncaught|process-exit|statement-under-way)\]|\[store\/transaction-ended\]|did not end|await missing/;

interface Case extends Expectation {
  readonly name: string;
  /** Of the command in the head of the program. */
  readonly position: number;
}

/** Does it run in a process of its own? So does the first of each command and exit code. */
function isAlone(each: Case, all: readonly Case[]): boolean {
  const isSame = ({ words, code }: Case): boolean => words[0] === each.words[0] && code === each.code;
  return isHeavy || needsProcess.test(each.firstLine + each.otherLine) || all.find(isSame) === each;
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
  const together = new CommandProcess();
  /** Commands of one process that run the same program load it from copies, since a module is loaded once. */
  const copy = (position: number): string => join(elsewhere.path, String(position));
  beforeAll(async () => {
    await build();
    symlinkSync(join(root, 'node_modules'), join(elsewhere.path, 'node_modules'));
    for (const position of new Set(cases.map((each) => each.position)))
      cpSync(folder, copy(position), { recursive: true });
  });
  afterAll(async () => {
    await together.stop();
    elsewhere.remove();
  });

  const run = (each: Case): Promise<Ended> => {
    const [command = '', ...options] = each.words;
    const of = (path: string): string[] => [command, join(path, each.name), ...options];
    return isAlone(each, cases)
      ? runBuilt(of(folder), { cwd: elsewhere.path })
      : together.run(of(copy(each.position)), elsewhere.path);
  };

  const cases = programs.flatMap((name, i) => {
    const all = expectationsOf(readFileSync(join(folder, name), 'utf8'));
    return (isHeavy ? all : taken(all, i)).map((each): Case => ({ ...each, name, position: all.indexOf(each) }));
  });
  test.each(cases)('$name: $command', async (each) => {
    const ended = await run(each);
    const printed = (ended.out.trim() === '' ? ended.err : ended.out).trim().split('\n');
    const lines = printed.filter((text) => !isProgress(text));
    const [line = ''] = lines;
    const isExpected = matches(line, each.firstLine) && lines.some((text) => matches(text, each.otherLine));
    expect({ code: ended.code, line, isExpected }).toEqual({ code: each.code, line, isExpected: true });
  });
});
