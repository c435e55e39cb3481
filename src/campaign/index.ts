export { campaignDefaults, type CampaignOptions, type CampaignResult, type Progress } from './campaign-options.ts';
export { runCampaign } from './campaign.ts';
export type { Failure } from './failure.ts';
export { runAtEveryLevel, weakestPassingLevel } from './levels.ts';
export { ProgramRunner, type FinishedRun, type RunLimits, type SingleRun, type Timeout } from './single-run.ts';
export {
  formatFailure,
  formatLevels,
  formatResult,
  formatTimeout,
  cutOf,
  type FailureText,
  type ResultText,
} from './failure-text.ts';
export { campaignReport } from './campaign-report.ts';
export { testProgram, type FailureReport, type TestProgramOptions } from './test-program.ts';
export { ShorterSearch, assertionLimits, tooFewRuns } from './assertion-budget.ts';
