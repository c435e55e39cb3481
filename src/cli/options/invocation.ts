/** The command that does a run again, so exactly that it can be pasted into a shell. */
import { campaignDefaults, type CampaignResult } from '../../campaign/index.ts';
import type { Host } from '../host.ts';
import type { TestOptions } from '../test/test-options.ts';

/** What `moirai test` does where nothing else is said. */
export const defaults = { ...campaignDefaults, strategy: 'uniform', abortRate: 0 } as const;

/** How moirai was started, as far as a shell can do it again: `npx` finds it where it is not on the path. */
export function invocation({ env }: Host): string {
  return env['npm_command'] === 'exec' ? 'npx moirai' : 'moirai';
}

/** The run again. What a replay does not depend on is left out: the number of runs, the seed and the strategy are in the token. */
export function replayCommand(file: string, options: TestOptions, result: CampaignResult, host: Host): string {
  const { level, failure } = result;
  const { runs, seed, strategy } = defaults;
  return testCommandLine(file, { ...options, level, runs, seed, strategy, replay: failure?.replay ?? '' }, host);
}

/** The command that does the same: the level, and what is not as it would be anyway. */
export function testCommandLine(
  file: string,
  options: Omit<TestOptions, 'json' | 'color' | 'files'>,
  host: Host,
): string {
  const { level, runs, seed, strategy, conflicts, abortRate, timeoutMs, replay } = options;
  const words = [
    file.startsWith('-') ? `./${file}` : file,
    '--level',
    level,
    ...(runs === defaults.runs ? [] : ['--runs', String(runs)]),
    ...(seed === defaults.seed ? [] : ['--seed', String(seed)]),
    ...(strategy === defaults.strategy ? [] : ['--strategy', strategy]),
    ...(conflicts === undefined ? [] : ['--conflicts', conflicts]),
    ...(abortRate === defaults.abortRate ? [] : ['--abort-rate', String(abortRate)]),
    ...(timeoutMs === defaults.timeoutMs ? [] : ['--timeout', String(timeoutMs / 1_000)]),
    ...(replay === undefined ? [] : ['--replay', replay]),
  ];
  return `${invocation(host)} test ${words.map(shellWord).join(' ')}`;
}

/** POSIX, Shell Command Language, 2.2.2: between single quotes everything is itself. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
