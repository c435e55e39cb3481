/** Test files of a copy of the repository, in a process of their own. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const timeoutMs = 600_000;

interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

/** @param files or folders @returns the files in which a test fails; `no end` where they took too long */
export function failuresOf(copy: string, files: readonly string[]): string[] {
  const report = join(copy, '.tests.json');
  rmSync(report, { force: true });
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', ...files, '--bail=1', '--reporter=json', `--outputFile=${report}`];
  const { error } = spawnSync(process.execPath, args, { cwd: copy, timeout: timeoutMs, stdio: 'ignore' });
  if (error !== undefined) return ['no end'];
  if (!existsSync(report)) throw new Error(`no test ran: ${files.join(' ')}`);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(copy, name));
}
