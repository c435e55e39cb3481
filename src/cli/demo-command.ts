/** `moirai demo`: a tour for somebody who has five minutes. It runs an example of the package as anyone would run it. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { campaignDefaults, formatFailure, formatResult, runCampaign, weakestPassingLevel } from '../campaign/index.ts';
import type { ExitCode, Host } from './host.ts';
import { invocation, replayCommand, shellWord } from './replay-command.ts';
import { appearance } from './style.ts';

const example = fileURLToPath(new URL('../../examples/shopping-cart.ts', import.meta.url));

/** Ends well when the bug is found at causal and not at serializable: that is what it is there to show. */
export async function demoCommand(options: { readonly color: boolean }, host: Host): Promise<ExitCode> {
  const look = appearance(host, options.color);
  const file = relative(process.cwd(), example);
  const command = (level: string): string => `${invocation(host)} test ${shellWord(file)} --level ${level}`;
  const program = await host.loadProgram(example);
  const say = (...lines: string[]): void => host.out(`${lines.join('\n')}\n`);

  say(
    `The program is ${file}: three devices change one shopping cart, each change in a`,
    'transaction. Once the laptop has removed the lamp, it must not come back.',
    '',
    'On a causal store, as many replicated databases are:',
    look.style('name', `$ ${command('causal')}`),
  );
  const causal = await runCampaign(program, { level: 'causal' });
  const weakestPassing = await weakestPassingLevel(program, 'causal', {});
  const test = { level: 'causal', runs: campaignDefaults.runs, seed: 1, strategy: 'uniform', abortRate: 0 } as const;
  const replay = replayCommand(
    file,
    { ...test, timeoutMs: campaignDefaults.timeoutMs, json: false, color: true },
    causal,
    host,
  );
  say(formatFailure(causal, { ...look, weakestPassing, runsAtOtherLevels: campaignDefaults.runs, command: replay }));

  say(
    '',
    'The same program, the same number of runs, on a serializable store:',
    look.style('name', `$ ${command('serializable')}`),
  );
  const serializable = await runCampaign(program, { level: 'serializable' });
  say(serializable.failure === null ? formatResult(serializable, look) : formatFailure(serializable, look));

  say(
    '',
    'What to do next:',
    `- every level at once: ${command('all')}`,
    `- your own transactions: copy the file, change its sessions and its invariant`,
    '- in a test of yours: import { testProgram } from "moirai"',
  );
  return causal.failure !== null && serializable.failure === null ? 0 : 4;
}
