/** A campaign of a SQL program as an assertion, for vitest, node:test, jest or any other runner. */
import { assertionLimits, type FailureReport, tooFewRuns, cutOf } from '../index.ts';
import { parseProfile, type ProfileOptions } from '../../database/index.ts';
import { conclusionOf, lateText } from '../../sql-program/index.ts';
import type { SqlProgram } from '../../program/index.ts';
import { runSqlCampaign } from './sql-campaign.ts';
import { sqlCampaignReport } from './sql-campaign-report.ts';
import { formatSqlFailure, formatSqlResult } from './sql-text.ts';
import { sqlCampaignDefaults, type SqlCampaignOptions } from './sql-campaign-options.ts';
import type { SqlCampaignResult } from './sql-campaign-result.ts';

export interface TestSqlOptions extends Omit<SqlCampaignOptions, 'profile'>, ProfileOptions {
  /** For all runs, in milliseconds: what was found until then is thrown. Default 4,000, below the 5,000 of vitest and jest. */
  readonly timeBudgetMs?: number;
  /** Absent: a failure has no HTML report. */
  readonly report?: FailureReport;
}

/**
 * Runs a SQL program at random, by default 100 times on its dialect's engine at that engine's default level.
 * @throws an assertion error when a run violates the invariant or does not end, and its message shows the run and how to replay it; or when the
 * runs are no evidence that the invariant holds. Of a replay also when the program takes other steps than the recorded run.
 * @throws InputError when the program or an option is at fault
 */
export async function testSqlProgram(program: SqlProgram, options: TestSqlOptions = {}): Promise<SqlCampaignResult> {
  const { engine, isolation, level, granularity, report, ...campaign } = options;
  const named = level === undefined ? { engine: engine ?? program.dialect } : { engine, dialect: program.dialect };
  const profile = parseProfile({ ...named, isolation, level, granularity });
  const { timeMaxMs } = assertionLimits(options);
  const result = await runSqlCampaign(program, { stopAtFirst: 'then-shorter', ...campaign, profile, timeMaxMs });
  if (result.failure !== null) {
    const command = `testSqlProgram(..., { ..., replay: '${result.failure.replay}' })`;
    const text = formatSqlFailure(result, result.failure, { command });
    if (report === undefined) throw new SqlProgramViolation(text, result);
    const data = sqlCampaignReport(result, { heading: report.heading, replay: command });
    throw new SqlProgramViolation(`${text}\n${await report.write(data)}`, result);
  }
  if (result.failure === null && cutOf(result) !== null)
    throw new SqlProgramViolation(tooFewRuns(result.runs, options.runs ?? sqlCampaignDefaults.runs, timeMaxMs), result);
  const { timeout: late, waiting } = result;
  if (late !== null) throw new SqlProgramViolation(lateText({ late, waiting }), result);
  if (conclusionOf(result).kind !== 'satisfied') throw new SqlProgramViolation(formatSqlResult(result), result);
  return result;
}

/** Looks like node:assert's error, which every test runner prints as a failed assertion and not as a crash. */
class SqlProgramViolation extends Error {
  override readonly name = 'AssertionError';
  readonly code = 'ERR_ASSERTION';
  readonly result: SqlCampaignResult;

  constructor(message: string, result: SqlCampaignResult) {
    super(message);
    this.result = result;
  }
}
