/** Many runs of a SQL program, each with decisions from the seed. */
export { runSqlCampaign } from './sql-campaign.ts';
export type { SqlCampaignResult } from './sql-campaign-result.ts';
export { sqlCampaignDefaults, type SqlCampaignOptions } from './sql-campaign-options.ts';
export { sqlCampaignReport } from './sql-campaign-report.ts';
export { formatSqlFailure, formatSqlResult } from './sql-text.ts';
export { testSqlProgram, type TestSqlOptions } from './test-sql-program.ts';
