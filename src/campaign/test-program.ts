/** A campaign as an assertion, for vitest, node:test, jest or any other runner: passes, or throws what the command line would print. */
import { type Program, program, type ProgramDefinition, type SessionFunction } from '../program/index.ts';
import { campaignDefaults, type CampaignOptions, type CampaignResult, runCampaign } from './campaign.ts';
import { formatFailure, formatTimeout } from './failure-text.ts';
import { weakestPassingLevel } from './levels.ts';

/**
 * Runs a program at random at one level, by default 1,000 times at causal.
 * @throws an assertion error when a run violates the invariant or does not end; its message shows the run and how to replay it
 * @throws InputError when the program or an option is at fault
 */
export async function testProgram<Sessions extends Record<string, SessionFunction>>(
  definition: ProgramDefinition<Sessions> | Program,
  options: CampaignOptions = {},
): Promise<CampaignResult> {
  const checked = program(definition as ProgramDefinition<Sessions>);
  const result = await runCampaign(checked, options);
  if (result.failure !== null) throw new ProgramViolation(await failureText(checked, options, result), result);
  if (result.timeout !== null)
    throw new ProgramViolation(formatTimeout(result.timeout, options.timeoutMs ?? campaignDefaults.timeoutMs), result);
  return result;
}

/** Looks like node:assert's error, which every test runner prints as a failed assertion and not as a crash. */
class ProgramViolation extends Error {
  override readonly name = 'AssertionError';
  readonly code = 'ERR_ASSERTION';
  readonly result: CampaignResult;

  constructor(message: string, result: CampaignResult) {
    super(message);
    this.result = result;
  }
}

async function failureText(checked: Program, options: CampaignOptions, result: CampaignResult): Promise<string> {
  if (options.replay !== undefined) return formatFailure(result);
  const weakestPassing = await weakestPassingLevel(checked, result.level, options);
  return formatFailure(result, { weakestPassing, runsAtOtherLevels: options.runs ?? campaignDefaults.runs });
}
