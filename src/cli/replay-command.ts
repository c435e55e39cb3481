/** The command that does a run again, so exactly that it can be pasted into a shell. */
import type { CampaignResult } from '../campaign/index.ts';
import { campaignDefaults } from '../campaign/index.ts';
import type { Host } from './host.ts';
import type { TestOptions } from './test-command.ts';

/** How moirai was started, as far as a shell can do it again: `npx` finds it where it is not on the path. */
export function invocation({ env }: Host): string {
  return env['npm_command'] === 'exec' ? 'npx moirai' : 'moirai';
}

/** The options that a replay depends on; the number of runs, the seed and the strategy are in the token. */
export function replayCommand(file: string, options: TestOptions, result: CampaignResult, host: Host): string {
  const { conflicts, abortRate, timeoutMs } = options;
  const words = [
    file.startsWith('-') ? `./${file}` : file,
    ...['--level', result.level],
    ...(conflicts === undefined ? [] : ['--conflicts', conflicts]),
    ...(abortRate === 0 ? [] : ['--abort-rate', String(abortRate)]),
    ...(timeoutMs === campaignDefaults.timeoutMs ? [] : ['--timeout', String(timeoutMs / 1_000)]),
    ...['--replay', result.failure?.replay ?? ''],
  ];
  return `${invocation(host)} test ${words.map(shellWord).join(' ')}`;
}

/** POSIX, Shell Command Language, 2.2.2: between single quotes everything is itself. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
