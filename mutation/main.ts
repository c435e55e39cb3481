/**
 * `npm run mutation [-- TEXT ...]`: plants each bug of `planted-bugs.ts` (of those whose name or file has one of the texts) in a copy of the repository, runs
 * the tests that should see it, then those of its folder, and prints a table. Exit code 1: more than one in twenty survives, or a test fails without a
 * bug; 3: nothing to do.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlantedBug } from './planted-bug.ts';
import { plantedBugs } from './planted-bugs.ts';
import { failuresOf } from './run-tests.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const texts = process.argv.slice(2);
const chosen = plantedBugs.filter(
  ({ name, file }) => texts.length === 0 || texts.some((text) => name.includes(text) || file.includes(text)),
);

if (chosen.length === 0) {
  console.error('no planted bug has this in its name or file');
  process.exitCode = 3;
} else process.exitCode = runAll(chosen);

function runAll(bugs: readonly PlantedBug[]): 0 | 1 {
  const copy = copyOfRepository();
  try {
    const broken = failuresOf(copy, [...new Set(bugs.flatMap(({ tests }) => tests))]);
    if (broken.length > 0) {
      console.error(`fails without a bug: ${broken.join(', ')}`);
      return 1;
    }
    console.log('| bug | file | caught by |\n| --- | --- | --- |');
    let survivors = 0;
    for (const bug of bugs) {
      const found = plantedIn(copy, bug, () => {
        const named = failuresOf(copy, bug.tests);
        return named.length > 0 ? named : failuresOf(copy, [`${dirname(bug.file)}/`]);
      });
      if (found.length === 0) survivors += 1;
      console.log(`| ${bug.name} | ${bug.file} | ${found.length === 0 ? '**survives**' : found.join(', ')} |`);
    }
    console.log(`\n${bugs.length - survivors} of ${bugs.length} caught`);
    return 20 * survivors > bugs.length ? 1 : 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function plantedIn<T>(copy: string, { file, before, after }: PlantedBug, use: () => T): T {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(before, () => after),
  );
  try {
    return use();
  } finally {
    writeFileSync(path, text);
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
