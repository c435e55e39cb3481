import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlantedBug } from '../mutation/planted-bug.ts';
import { plantedBugs } from '../mutation/planted-bugs.ts';
import { type Report, testRunOf } from '../mutation/run-tests.ts';
import { formatRow, formatSummary, isFailure, type Outcome } from '../mutation/summary.ts';
import { readSources } from './support/source-files.ts';
import { codeOnly, importSpecifiers } from './support/source-text.ts';

const linesMax = 500;

/**
 * What reaches for a clock, randomness, the environment or a file; below the command line these are passed in. A process is also a noun of
 * commit protocols, so of Node's `process` the members are named.
 */
const ambientCode =
  /\b(?:process\.(?:argv|cwd|env|exit|exitCode|hrtime|kill|memoryUsage|nextTick|on|once|pid|platform|std(?:in|out|err))\b|console\.|Date\.now\b|new Date\(\)|performance\.now\b|Math\.random\b)/g;
const ambientModules = /^(?:node:)?(?:fs|fs\/promises|process)$/;

/** Files outside cli that may, and why. */
const exceptions: Readonly<Record<string, { readonly uses: readonly string[]; readonly why: string }>> = {
  'src/api/record.ts': {
    uses: ['process.env', 'process.pid', 'process.argv', 'process.cwd', 'process.once', 'process.stderr'],
    why: 'a program of its own: `node --import` starts it before an application, and its options are in the environment',
  },
  'src/api/report-folder.ts': {
    uses: ['process.env'],
    why: 'a test runner hands no options on: the folder for reports is in the environment',
  },
  'src/files/add-to-file.ts': { uses: ['node:fs'], why: 'writes files, for the command line' },
  'src/files/append-file.ts': { uses: ['node:fs'], why: 'writes files, for the command line' },
  'src/files/descriptor.ts': { uses: ['node:fs'], why: 'writes files, for the command line' },
  'src/files/file-lock.ts': { uses: ['node:fs', 'process.pid', 'process.kill'], why: 'a lock names its process' },
  'src/files/held-file.ts': {
    uses: ['node:fs', 'process.on'],
    why: 'locks files, for the command line, until the process ends',
  },
  'src/files/make-folder.ts': {
    uses: ['node:fs/promises'],
    why: 'makes folders, for the command line and for reports of tests',
  },
  'src/files/report-page.ts': { uses: ['node:fs/promises'], why: 'a file of this installation' },
  'src/files/whole-file.ts': { uses: ['node:fs'], why: 'writes files, for the command line' },
  'src/base/clock.ts': {
    uses: ['performance.now', 'Date.now', 'process.hrtime'],
    why: 'the one clock: it ends runs and searches that take too long, tells SQL the time, and stamps the operations of traces; nothing else',
  },
  'src/base/event-loop.ts': {
    uses: ['process.on'],
    why: 'a driver whose answer nobody awaits rejects a promise that only the process hears of',
  },
  'src/base/user-frame.ts': {
    uses: ['process.cwd'],
    why: "places in the user's code are shown as people would type them",
  },
  'src/program/sources.ts': {
    uses: ['process.hrtime'],
    why: 'what programs under test must not depend on: replaced while they run, never called',
  },
};

const sources = readSources();
const belowCommandLine = [...sources].filter(([file]) => !file.startsWith('src/cli/') && !file.endsWith('.test.ts'));

test('outside cli, choices are passed in', () => {
  expect(belowCommandLine.length).toBeGreaterThan(0);
  const violations = belowCommandLine.flatMap(([file, text]) =>
    ambientUses(text)
      .filter((use) => !exceptions[file]?.uses.includes(use))
      .map((use) => `${file} uses ${use}`),
  );
  expect(violations).toEqual([]);
});

test('every exception is still needed', () => {
  const unused = Object.entries(exceptions).flatMap(([file, { uses }]) => {
    const found = ambientUses(sources.get(file) ?? '');
    return uses.filter((use) => !found.includes(use)).map((use) => `${file} no longer uses ${use}`);
  });
  expect(unused).toEqual([]);
});

test('every planted bug is text of its file, once, and the tests that should see it are there', () => {
  const isThere = (file: string): boolean => existsSync(new URL(`../${file}`, import.meta.url));
  const wrong = plantedBugs.filter(({ file, before, after, tests }) => {
    const places = (sources.get(file) ?? '').split(before).length - 1;
    return places !== 1 || before === after || tests.length === 0 || !tests.every(isThere);
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
});

describe('npm run mutation', () => {
  const failing = (fullName: string, message: string): object => {
    return { fullName, status: 'failed', failureMessages: [message] };
  };
  const late = failing('waits', 'Error: Test timed out in 21000ms.');
  const wrong = failing('counts', 'AssertionError: expected 1 to be 2');
  test.each([
    ['passes', 'passed', [{ fullName: 'counts', status: 'passed' }], { kind: 'passed', tookMs: 5 }],
    ['a failure is caught, with its name', 'failed', [wrong], { kind: 'failed', test: 'a.test.ts: counts' }],
    ['a limit of time is no failure', 'failed', [late], { kind: 'no end' }],
    ['but another test may fail', 'failed', [late, wrong], { kind: 'failed', test: 'a.test.ts: counts' }],
    ['a file that does not load', 'failed', [], { kind: 'failed', test: 'a.test.ts: SyntaxError: x' }],
  ])('of the tests of a file: %s', (_name, status, assertionResults, run) => {
    const file = { name: 'a.test.ts', status, message: 'SyntaxError: x\n  at y', assertionResults };
    expect(testRunOf({ testResults: [file] } as Report, 5)).toEqual(run);
  });

  test('what does not end is neither caught nor survives', () => {
    const result = (outcome: Outcome): { bug: PlantedBug; outcome: Outcome } => {
      return { bug: { ...(plantedBugs[0] as PlantedBug), name: outcome.kind, file: 'src/a.ts' }, outcome };
    };
    const caught = result({ kind: 'caught', by: 'a.test.ts: a | b' });
    const endless = result({ kind: 'no end', in: ['a.test.ts'] });
    expect([caught, endless].map(formatRow)).toEqual([
      '| caught | src/a.ts | a.test.ts: a \\| b |',
      '| no end | src/a.ts | **no end** in a.test.ts |',
    ]);
    expect(formatSummary([caught, endless])).toBe('1 of 2 caught\nno end: 1 (no end)');
    expect(isFailure([caught, endless])).toBe(false);
    expect(isFailure([caught, result({ kind: 'survives' })])).toBe(true);
    expect(isFailure([caught, result({ kind: 'broken test', test: 'a.test.ts fails' })])).toBe(true);
  });
});

test(`no file has more than ${linesMax} lines`, () => {
  const long = [...sources].filter(([, text]) => lineCount(text) > linesMax).map(([file]) => file);
  expect(long).toEqual([]);
  expect(lineCount('a\n'.repeat(linesMax + 1))).toBe(linesMax + 1);
});

describe('ambientUses', () => {
  test.each([
    ['a clock', 'const now = Date.now();', ['Date.now']],
    ['randomness', 'return Math.random() < 0.5;', ['Math.random']],
    ['the environment', `if (process.env['CI']) console.log(1);`, ['process.env', 'console.']],
    ['files', `import { readFileSync } from 'node:fs';`, ['node:fs']],
    ['nothing in comments and strings', `// Date.now()\nconst text = 'console.log';`, []],
    ['nothing in a given date', 'const day = new Date(start);', []],
  ])('finds %s', (_name, text, uses) => expect(ambientUses(text)).toEqual(uses));
});

function ambientUses(text: string): string[] {
  const modules = importSpecifiers(text).filter((specifier) => ambientModules.test(specifier));
  return [...modules, ...(codeOnly(text).match(ambientCode) ?? [])];
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

test('random properties have the same seed in every run; MOIRAI_SEED is another one', () => {
  const seed = Number(process.env['MOIRAI_SEED'] ?? 1);
  expect(fc.readConfigureGlobal()).toMatchObject({ seed });
  const failed = fc.check(fc.property(fc.integer(), () => false));
  expect(failed).toMatchObject({ failed: true, seed });
});
