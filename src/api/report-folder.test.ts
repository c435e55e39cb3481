import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { testProgram } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'moirai-report-'));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true }));

const failing = {
  sessions: { a: (session: { write: (key: string, value: number) => unknown }) => session.write('x', 1) },
  invariant: () => 'x is wrong',
};

async function failure(): Promise<string> {
  return testProgram(failing, { runs: 1 }).then(
    () => 'passed',
    (error: unknown) => (error as Error).message,
  );
}

test('a report that cannot be written is a warning below what was found', async () => {
  vi.stubEnv('MOIRAI_REPORT', join(import.meta.filename, 'below'));
  const message = await failure();
  expect(message).toMatch(/^violated in 1 of 1 run at causal: x is wrong\n/);
  expect(message.split('\n').at(-1)).toMatch(/^warning: there is no report: .*its folder is a file/);
});

test('without a folder there is no report; a test that passes has none', async () => {
  vi.stubEnv('MOIRAI_REPORT', '');
  expect(await failure()).not.toMatch(/report/);
  vi.stubEnv('MOIRAI_REPORT', join(folder, 'made'));
  await testProgram({ ...failing, invariant: () => true }, { runs: 1 });
  expect(existsSync(join(folder, 'made'))).toBe(false);
});
