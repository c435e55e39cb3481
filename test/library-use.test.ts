/** The examples of library use, run by the test runners that they are for, as a user would start them. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { build, UserFolder } from './support/cli.ts';
import { dataIn } from './support/report-data.ts';

const root = new URL('..', import.meta.url).pathname;
const run = promisify(execFile);
const bin = (file: string): string => join(root, 'node_modules', file);
/** A runner inside a runner must not take this one's settings for its own. */
const env = { ...process.env, NODE_OPTIONS: '', VITEST: undefined, NO_COLOR: '1', FORCE_COLOR: undefined };

test('vitest', { timeout: 60_000 }, async () => {
  const { stdout } = await run(
    process.execPath,
    [
      bin('vitest/vitest.mjs'),
      'run',
      '--root',
      root,
      'examples/vitest',
      '--config',
      'examples/vitest/vitest.config.ts',
    ],
    { cwd: root, env },
  );
  expect(stdout).toMatch(/Tests\s+6 passed \(6\)/);
});

/** Of a fixture with one failing test: what its message says where the report is. */
function reportNamed(text: string): string {
  return /^\s*report: (\S+)$/m.exec(text)?.[1] ?? `no report in ${text}`;
}

const reports = new UserFolder();
beforeAll(() => build(), 120_000);
afterAll(() => reports.remove());

test('vitest with its own time limit: the findings are the errors, not a timeout', { timeout: 60_000 }, async () => {
  const config = 'test/fixtures/vitest-limit/vitest.config.ts';
  const args = [bin('vitest/vitest.mjs'), 'run', '--root', root, '--config', config];
  const folder = join(reports.path, 'made/vitest/');
  const withReports = { ...env, MOIRAI_REPORT: folder };
  const failed = run(process.execPath, args, { cwd: root, env: withReports });
  const ended: unknown = await failed.catch((error: unknown) => error);
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringMatching(/Tests\s+3 failed \(3\)/) });
  const { stderr } = ended as { readonly stderr: string };
  expect(stderr.match(/was taken and \d+ is left of 100/g)?.length).toBeGreaterThanOrEqual(2);
  expect(stderr).toContain('a deleted item came back');
  expect(stderr).not.toMatch(/timed out/i);
  const named = [...stderr.matchAll(/^\s*report: (\S+)$/gm)].map(([, path]) => path);
  expect(new Set(named)).toEqual(new Set(readdirSync(folder).map((name) => `${folder}${name}`)));
  const found = readdirSync(folder).map((name) => [name, dataIn(readFileSync(join(folder, name), 'utf8'))] as const);
  expect(found).toHaveLength(3);
  for (const [name, { heading, verdict, runs }] of found) {
    const [, what, line] = /^(\w+) at test\/fixtures\/vitest-limit\/finds\.limit\.ts:(\d+)$/.exec(heading) ?? [];
    expect(name).toMatch(new RegExp(`^finds\\.limit-${line}-[0-9a-f]{6}\\.html$`));
    expect(verdict.kind).toBe('violated');
    expect(runs[0]?.replay?.startsWith(`${what}(..., { `)).toBe(true);
  }
});

test('node:test and jest: a failing test has a report', { timeout: 60_000 }, async () => {
  const file = join(root, 'test/fixtures/failing-test/booking.test.mjs');
  const jest = ['--experimental-vm-modules', '--no-warnings', bin('jest/bin/jest.js')];
  const config = join(root, 'test/fixtures/failing-test/jest.config.json');
  const runners = { node: ['--test', '--test-reporter=tap', file], jest: [...jest, '--config', config] };
  for (const [name, args] of Object.entries(runners)) {
    const folder = join(reports.path, name);
    const withReports = { ...env, MOIRAI_REPORT: folder };
    const ended: unknown = await run(process.execPath, args, { cwd: root, env: withReports }).catch((error) => error);
    const { stdout, stderr } = ended as { readonly stdout: string; readonly stderr: string };
    const path = reportNamed(stdout + stderr);
    expect(path.startsWith(`${folder}/booking.test-`)).toBe(true);
    const { heading, runs } = dataIn(readFileSync(path, 'utf8'));
    expect(heading).toMatch(/^testProgram at test\/fixtures\/failing-test\/booking\.test\.mjs:\d+$/);
    expect(runs[0]?.message).toBe('the last seat was sold twice');
  }
});

test('node:test', { timeout: 60_000 }, async () => {
  const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', 'examples/node-test/'], {
    cwd: root,
    env,
  });
  expect(stdout).toContain('# pass 2');
  expect(stdout).toContain('# fail 0');
});

test('jest', { timeout: 60_000 }, async () => {
  const args = [
    '--experimental-vm-modules',
    '--no-warnings',
    bin('jest/bin/jest.js'),
    '--config',
    'examples/jest/jest.config.json',
  ];
  const { stderr } = await run(process.execPath, args, { cwd: root, env });
  expect(stderr).toMatch(/Tests:\s+2 passed, 2 total/);
});
