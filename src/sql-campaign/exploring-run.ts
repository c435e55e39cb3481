/** A run of a SQL program in which nothing but the decisions is open: what `exploreSql` and those around it have in common. */
import type { Decisions } from '../mockdb/index.ts';
import type { Profile } from '../serve/index.ts';
import { seedOf, sqlCampaignDefaults } from './sql-campaign.ts';
import type { SqlRunOptions } from './sql-run.ts';

export interface ExploringRunOptions {
  readonly profile: Profile;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
}

export function exploringRun(
  decisions: Decisions,
  { profile, timeoutMs = sqlCampaignDefaults.timeoutMs }: ExploringRunOptions,
): SqlRunOptions {
  return {
    profile,
    decisions,
    // That of the first run of `moirai test`: its replays draw the same.
    seed: seedOf(sqlCampaignDefaults.seed, 0),
    abortRate: sqlCampaignDefaults.abortRate,
    timeoutMs,
    isThorough: true,
    // One moment: what a schedule shows must not depend on when it is run.
    clock: () => 1_767_225_600_000_000n,
  };
}
