/** A copy of the repository whose tests run without and with a bug. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlantedBug } from './planted-bug.ts';
import { runTests, type TestRun } from './run-tests.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Of one file, or folder, without a bug. */
const baselineLimitMs = 1_200_000;

export class TestedCopy {
  readonly #copy = copyOfRepository();
  readonly #baselines = new Map<string, TestRun>();

  remove(): void {
    rmSync(this.#copy, { recursive: true, force: true });
  }

  /** Without a bug; each runs once. @param target a test file, or a folder that ends with a slash */
  async baselineOf(target: string): Promise<TestRun> {
    const known = this.#baselines.get(target);
    if (known !== undefined) return known;
    const baseline = await runTests(this.#copy, target, baselineLimitMs);
    this.#baselines.set(target, baseline);
    return baseline;
  }

  async runWith({ file, before, after }: PlantedBug, target: string, limitMs: number): Promise<TestRun> {
    const path = join(this.#copy, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replace(before, () => after),
    );
    try {
      return await runTests(this.#copy, target, limitMs);
    } finally {
      writeFileSync(path, text);
    }
  }
}

/** The files that git knows, as they are now. */
function copyOfRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'moirai-mutation-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of files.toString().split('\0').filter(Boolean)) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    copyFileSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}
