/** Many runs of a SQL program, each with decisions from the seed. */
export {
  runSqlCampaign,
  sqlCampaignDefaults,
  type SqlCampaignOptions,
  type SqlCampaignResult,
} from './sql-campaign.ts';
export { formatSqlFailure, formatSqlResult } from './sql-text.ts';
export { testSqlProgram, type TestSqlOptions } from './test-sql-program.ts';
