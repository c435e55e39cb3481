/** `moirai completion`: what the shells make of its scripts. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runHere, UserFolder } from '../support/cli.ts';

describe('completion in bash', () => {
  /** What bash offers for the last word. */
  async function offered(...words: readonly string[]): Promise<string[]> {
    const { code, out } = await runHere(['completion', 'bash']);
    expect(code).toBe(0);
    const script = `${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _moirai; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((word) => word !== '');
  }

  test.each([
    [['moirai', 'ch'], ['check']],
    [['moirai', 'help', 'ver'], ['verify']],
    [
      ['moirai', 'serve', '--pass'],
      ['--password', '--password-file'],
    ],
    [['moirai', 'check', '--lev'], ['--level']],
    [['moirai', 'check', 'run'], []],
  ])('%o: %o', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  test('every command', async () => {
    const { out } = await runHere(['--help']);
    const listed = [...out.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name]) => name);
    expect(await offered('moirai', '')).toEqual(expect.arrayContaining(listed.slice(0, 14)));
  });
});

// Each needs its shell: a line is typed into a real one, and what it makes of it is read.
describe('completion in zsh and fish', () => {
  const typed = `
zmodload zsh/zpty
zpty shell 'TERM=dumb zsh -f -i'
zpty -w shell "PS1='RE''ADY> '; autoload -U compinit; compinit -u -D; source '$1'"
zpty -r shell out '*READY> '
zpty -w -n shell "$2"$'\t'
zpty -r shell out "*$3*" && print -r -- "$out"`;

  test.runIf(hasShell('zsh')).each([
    ['moirai chec', 'moirai check '],
    ['moirai help verif', 'moirai help verify '],
    ['moirai check --leve', 'moirai check --level '],
  ])('zsh: %s', async (line, expected) => {
    const folder = new UserFolder();
    folder.write({ _moirai: await script('zsh') });
    const args = ['-f', '-c', typed, 'zsh', join(folder.path, '_moirai'), line, expected];
    const { stdout } = spawnSync('zsh', args, { encoding: 'utf8', timeout: 30_000 });
    folder.remove();
    expect(stdout).toContain(expected);
  });

  test.runIf(hasShell('fish')).each([
    ['moirai ch', ['check']],
    ['moirai help ver', ['verify']],
    ['moirai serve --pass', ['--password', '--password-file']],
    ['moirai check --lev', ['--level']],
  ])('fish: %s', async (line, expected) => {
    const { stdout, stderr } = spawnSync(
      'fish',
      ['-c', `${await script('fish')}\ncomplete -C ${JSON.stringify(line)}`],
      {
        encoding: 'utf8',
      },
    );
    expect(stderr).toBe('');
    expect(stdout.match(/^[a-z-]+(?=\t|$)/gm)).toEqual(expected);
  });

  async function script(shell: string): Promise<string> {
    const { code, out } = await runHere(['completion', shell]);
    expect(code).toBe(0);
    return out;
  }

  test('another shell is refused', async () => {
    const { code, err } = await runHere(['completion', 'tcsh']);
    expect({ code, err }).toEqual({
      code: 3,
      err: '--shell should be one of bash, zsh, fish, not "tcsh" [option/shell]\n',
    });
  });
});

function hasShell(name: string): boolean {
  const isThere = spawnSync(name, ['-c', 'true']).status === 0;
  if (!isThere && process.env['MOIRAI_REQUIRE_SERVERS'] === '1') throw new Error(`${name} is not installed`);
  return isThere;
}
