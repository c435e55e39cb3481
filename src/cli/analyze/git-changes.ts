/** Which lines a change touches: `git diff` against a commit, and files that git does not track yet. */
import { join } from 'node:path';
import type { CodeRange } from '../../analyze/index.ts';
import { InputError } from '../../base/index.ts';

/** Runs git in the working directory. @returns its standard output; `null` where it fails */
export type Git = (args: readonly string[]) => Promise<string | null>;

const mainBranches = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];

/**
 * Lines as they are now, of files by their path from the working directory; where lines are only removed, those beside them.
 * @param base `null`: where this branch left the main one
 * @throws InputError `analyze/base`
 */
export async function changedLines(git: Git, base: string | null): Promise<readonly CodeRange[]> {
  const from = base ?? (await branchPoint(git));
  const top = await git(['rev-parse', '--show-cdup']);
  const diff = await git([
    '-c',
    'core.quotePath=off',
    'diff',
    '--unified=0',
    '--no-color',
    '--no-ext-diff',
    '--no-renames',
    '--src-prefix=a/',
    '--dst-prefix=b/',
    from,
    '--',
  ]);
  const added = await git(['ls-files', '--others', '--exclude-standard', '-z']);
  if (top === null || diff === null || added === null)
    throw new InputError('analyze/base', `git finds no commit ${from}: give one, as --changed main`);
  const inside = (path: string): string => join(top.trim(), path).replaceAll('\\', '/');
  return [
    ...linesOfDiff(diff).map(({ file, ...lines }) => ({ file: inside(file), ...lines })),
    ...added.split('\0').flatMap((file) => (file === '' ? [] : [{ file, from: 1, to: Number.MAX_SAFE_INTEGER }])),
  ];
}

async function branchPoint(git: Git): Promise<string> {
  for (const branch of mainBranches) {
    const point = await git(['merge-base', 'HEAD', branch]);
    if (point !== null) return point.trim();
  }
  throw new InputError('analyze/base', 'git finds no main branch to compare with: give a commit, as --changed HEAD~1');
}

/** POSIX, diff, "Diff -u Output Format"; a range of no lines is that before which they were. */
function linesOfDiff(diff: string): readonly CodeRange[] {
  let file: string | null = null;
  const found: CodeRange[] = [];
  let left = 0;
  for (const line of diff.split('\n')) {
    const [, old, start, count] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (left > 0) left -= 1;
    else if (start !== undefined) {
      const [from, length] = [Number(start), Number(count ?? 1)];
      left = length + Number(old ?? 1);
      if (file !== null) found.push({ file, from, to: length === 0 ? from + 1 : from + length - 1 });
    } else if (line.startsWith('+++ ')) {
      const name = line.slice('+++ '.length).replace(/\t$/, '');
      file = name.startsWith('b/') ? name.slice(2) : null;
    }
  }
  return found;
}
