export {
  runSqlCampaign,
  sqlCampaignDefaults,
  type SqlCampaignOptions,
  type SqlCampaignResult,
  type SqlFailure,
} from './sql-campaign.ts';
export { formatSqlFailure, formatSqlResult } from './sql-text.ts';
export { type LoggedStatement } from './statement-log.ts';
