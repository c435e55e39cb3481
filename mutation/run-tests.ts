/** Test files of a copy of the repository, in a process of their own. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

export type TestRun =
  | { readonly kind: 'passed'; readonly tookMs: number }
  /** `test`: its file and its name. */
  | { readonly kind: 'failed'; readonly test: string }
  | { readonly kind: 'no end' };

/** What Vitest's JSON reporter writes, as far as it is read here. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/** @param target a file or folder @param limitMs of the whole run; it takes the place of Vitest's limit of a test @throws where no test ran */
export async function runTests(copy: string, target: string, limitMs: number): Promise<TestRun> {
  const report = join(copy, '.tests.json');
  rmSync(report, { force: true });
  const start = performance.now();
  const limit = String(limitMs);
  const args = ['run', target, '--bail=1', `--testTimeout=${limit}`, `--hookTimeout=${limit}`];
  if (!(await ends(copy, [...args, '--reporter=json', `--outputFile=${report}`], limitMs))) return { kind: 'no end' };
  if (!existsSync(report)) throw new Error(`no test ran: ${target}`);
  const run = testRunOf(JSON.parse(readFileSync(report, 'utf8')) as Report, performance.now() - start);
  return run.kind === 'failed' ? { ...run, test: relative(copy, run.test) } : run;
}

/** A test that reaches a limit of time has shown nothing; only another failure is one. */
export function testRunOf({ testResults }: Report, tookMs: number): TestRun {
  let isLate = false;
  for (const { name, status, message, assertionResults } of testResults) {
    if (status !== 'failed') continue;
    const failed = assertionResults.filter((result) => result.status === 'failed');
    const shown = failed.find(({ failureMessages = [] }) => !failureMessages.every(isTimeout));
    if (shown !== undefined) return { kind: 'failed', test: `${name}: ${shown.fullName}` };
    if (failed.length === 0 && !isTimeout(message)) return { kind: 'failed', test: `${name}: ${firstLine(message)}` };
    isLate = true;
  }
  return isLate ? { kind: 'no end' } : { kind: 'passed', tookMs };
}

const isTimeout = (message: string): boolean => /\b(?:Test|Hook) timed out in \d+ ?ms/.test(message);

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? '';

/**
 * The tests have a process group of their own: what they started ends with them, at the limit and when the user has had enough.
 * @returns whether they ended by themselves @throws after Ctrl-C, when they have ended
 */
function ends(copy: string, args: readonly string[], limitMs: number): Promise<boolean> {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, ...args], { cwd: copy, stdio: 'ignore', detached: true });
  let cut: 'late' | 'interrupted' | null = null;
  const endAs = (why: 'late' | 'interrupted') => (): void => {
    cut = why;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(endAs('late'), limitMs);
  const interrupt = endAs('interrupted');
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(timer);
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
      if (cut === 'interrupted') reject(new Error('interrupted'));
      else resolve(cut === null);
    });
  });
}
