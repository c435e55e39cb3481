import { execFile } from 'node:child_process';

/** @returns what git prints in the folder; `null` where it fails or is not installed */
export function runGit(args: readonly string[], folder?: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('git', [...args], { maxBuffer: 2 ** 29, ...(folder === undefined ? {} : { cwd: folder }) }, (error, out) =>
      resolve(error === null ? out : null),
    );
  });
}
