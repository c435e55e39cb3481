/** A campaign as an assertion, for vitest, node:test, jest or any other runner: passes, or throws what the command line would print. */
import { InputError } from '../base/index.ts';
import { conclude } from '../evidence/index.ts';
import type { ReportData } from '../report/index.ts';
import { answerOf, type Program, program, type ProgramDefinition, type SessionFunction } from '../program/index.ts';
import { campaignDefaults, type CampaignOptions, type CampaignResult } from './campaign-options.ts';
import { runCampaign } from './campaign.ts';
import { assertionLimits, tooFewRuns } from './assertion-budget.ts';
import { campaignReport } from './campaign-report.ts';
import { cutOf, formatFailure, formatResult, formatTimeout, replayInTest } from './failure-text.ts';
import { weakestPassingLevel } from './levels.ts';

export interface TestProgramOptions extends CampaignOptions {
  /** For all runs, in milliseconds: what was found until then is thrown. Default 4,000, below the 5,000 of vitest and jest. */
  readonly timeBudgetMs?: number;
  /** Absent: a failure has no HTML report. */
  readonly report?: FailureReport;
}

/** What becomes of the HTML report of a test that fails. */
export interface FailureReport {
  readonly heading: string;
  /** @returns a line for the message of the failure */
  readonly write: (data: ReportData) => Promise<string>;
}

/**
 * Runs a program at random at one level, by default 1,000 times at causal.
 * @throws an assertion error when a run violates the invariant or does not end; its message shows the run and how to replay it. Of a replay also
 * when the program takes other steps than the recorded run; and when the evidence has a gap, such as a session that did nothing.
 * It ends soon after the first failing run; fewer runs than were asked for are no pass.
 * @throws InputError when the program or an option is at fault
 */
export async function testProgram<Sessions extends Record<string, SessionFunction>>(
  definition: ProgramDefinition<Sessions> | Program,
  options: TestProgramOptions = {},
): Promise<CampaignResult> {
  const checked = program(definition as ProgramDefinition<Sessions>);
  const { timeMaxMs, budget } = assertionLimits(options);
  const result = await runCampaign(checked, { stopAtFirst: 'then-shorter', ...options, timeMaxMs });
  if (result.failure !== null) {
    const rest = { ...options, timeMaxMs: budget.leftMs };
    throw new ProgramViolation(await failureText(checked, rest, result), result);
  }
  if (cutOf(result) !== null)
    throw new ProgramViolation(tooFewRuns(result.runs, options.runs ?? campaignDefaults.runs, timeMaxMs), result);
  if (result.timeout !== null)
    throw new ProgramViolation(formatTimeout(result.timeout, options.timeoutMs ?? campaignDefaults.timeoutMs), result);
  if (result.replayed === null) requireEvidence(result);
  if (result.replayed !== null && answerOf(result.replayed, 0) === 'incompatible')
    throw new ProgramViolation(formatResult(result), result);
  return result;
}

/** An assertion must not pass where nothing is known. */
function requireEvidence(result: CampaignResult): void {
  const conclusion = conclude(result.evidence);
  if (conclusion.kind === 'at-fault') throw new InputError(conclusion.code, conclusion.message);
  if (conclusion.kind === 'unknown') throw new ProgramViolation(formatResult(result), result);
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

async function failureText(checked: Program, options: TestProgramOptions, result: CampaignResult): Promise<string> {
  const known =
    options.replay === undefined
      ? {
          weakestPassing: await weakestPassingLevel(checked, result.level, options),
          runsAtOtherLevels: options.runs ?? campaignDefaults.runs,
        }
      : {};
  const text = formatFailure(result, known);
  const { report } = options;
  if (report === undefined) return text;
  const data = campaignReport([result], { heading: report.heading, commandOf: replayInTest, ...known });
  return `${text}\n${await report.write(data)}`;
}
