/** The examples of library use, run by the test runners that they are for, as a user would start them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

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

test('vitest with its own time limit: the findings are the errors, not a timeout', { timeout: 60_000 }, async () => {
  const config = 'test/fixtures/vitest-limit/vitest.config.ts';
  const args = [bin('vitest/vitest.mjs'), 'run', '--root', root, '--config', config];
  const ended: unknown = await run(process.execPath, args, { cwd: root, env }).catch((error: unknown) => error);
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringMatching(/Tests\s+3 failed \(3\)/) });
  const { stderr } = ended as { readonly stderr: string };
  expect(stderr.match(/was taken and \d+ is left of 100/g)?.length).toBeGreaterThanOrEqual(2);
  expect(stderr).toContain('a deleted item came back');
  expect(stderr).not.toMatch(/timed out/i);
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
