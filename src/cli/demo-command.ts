/** `moirai demo`: a tour of five minutes. It runs an example of the package as a user would. */
import { noReportFiles } from './page/report-file.ts';
import type { Command } from '@commander-js/extra-typings';
import { fileURLToPath } from 'node:url';
import { formatFailure, formatResult, runCampaign, weakestPassingLevel } from '../campaign/index.ts';
import { explore, formatExploration } from '../explore/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import { shownPath } from '../base/index.ts';
import type { ExitCode, Host } from './host.ts';
import { defaults, invocation, replayCommand, shellWord, testCommandLine } from './options/invocation.ts';
import { appearance } from './output/style.ts';
import { packageFile } from './own-files.ts';
import { requireKeyValue } from './modules/user-program.ts';

export function addDemo(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('demo')
    .description('The five-minute tour: a shopping cart that loses a removal, and why.')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .action(async ({ color }) => {
      end(await demoCommand({ color }, host));
    });
}

const example = fileURLToPath(packageFile('examples/cart.ts'));

/** Ends well when the bug is found at causal and not at serializable: that is what it is there to show. */
async function demoCommand(options: { readonly color: boolean }, host: Host): Promise<ExitCode> {
  const look = appearance(host, options.color);
  const file = shownPath(example);
  const program = requireKeyValue(await host.loadProgram(example), file);
  const say = (...lines: string[]): void => host.out(`${lines.join('\n')}\n`);
  const command = (level: ConstrainingLevel | 'all'): string => testCommandLine(file, { ...defaults, level }, host);
  const prompt = (level: ConstrainingLevel): string => look.style('name', `$ ${command(level)}`);

  say(`A shopping cart, changed by two sessions and read by a third (${file}):`, '');
  say(new TextDecoder().decode(await host.readInput(example)));
  say('At causal, which many replicated databases give:', '', prompt('causal'));
  const causal = await runCampaign(program, { level: 'causal' });
  const weakestPassing = await weakestPassingLevel(program, 'causal', {});
  const replay = replayCommand(file, { ...defaults, files: noReportFiles, json: false, color: true }, causal, host);
  say(formatFailure(causal, { ...look, weakestPassing, runsAtOtherLevels: defaults.runs, command: replay }), '');

  say('The same program at serializable:', '', prompt('serializable'));
  const serializable = await runCampaign(program, { level: 'serializable' });
  say(serializable.failure === null ? formatResult(serializable, look) : formatFailure(serializable, look), '');

  say('A thousand runs are evidence. Every history that serializable allows, each exactly once, is a proof:', '');
  const words = `${invocation(host)} explore ${shellWord(file)}`;
  say(look.style('name', `$ ${words} --level serializable`));
  const proof = await explore(program, { level: 'serializable' });
  say(formatExploration(proof, look), '');

  say(
    'What next?',
    `  ${command('all')}    every level in one table`,
    `  ${words} --level all    the same, as proofs`,
    '  Copy the file, put your own transactions into the sessions, and say in the invariant what must hold.',
    "  In a test: import { testProgram } from 'moirai'",
  );
  return causal.failure !== null && proof.complete && proof.violations === 0 ? 0 : 4;
}
