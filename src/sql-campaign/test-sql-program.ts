/** A campaign of a SQL program as an assertion, for vitest, node:test, jest or any other runner. */
import { parseProfile, type ProfileOptions } from '../serve/index.ts';
import type { SqlProgram } from '../program/index.ts';
import { runSqlCampaign, type SqlCampaignOptions, type SqlCampaignResult } from './sql-campaign.ts';
import { formatSqlFailure } from './sql-text.ts';

export interface TestSqlOptions extends Omit<SqlCampaignOptions, 'profile'>, ProfileOptions {}

/**
 * Runs a SQL program at random, by default 100 times on its dialect's engine at that engine's default level.
 * @throws an assertion error when a run violates the invariant or does not end; its message shows the run and how to replay it
 * @throws InputError when the program or an option is at fault
 */
export async function testSqlProgram(program: SqlProgram, options: TestSqlOptions = {}): Promise<SqlCampaignResult> {
  const { engine, isolation, level, granularity, ...campaign } = options;
  const named = level === undefined ? { engine: engine ?? program.dialect } : { engine, dialect: program.dialect };
  const profile = parseProfile({ ...named, isolation, level, granularity });
  const result = await runSqlCampaign(program, { ...campaign, profile });
  if (result.failure !== null) {
    const command = `testSqlProgram(..., { ..., replay: '${result.failure.replay}' })`;
    throw new SqlProgramViolation(formatSqlFailure(result, result.failure, { command }), result);
  }
  if (result.timeout !== null) throw new SqlProgramViolation(`session "${result.timeout}" did not end in time`, result);
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
