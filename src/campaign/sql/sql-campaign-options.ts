/** What a campaign of a SQL program is asked for. */
import type { BudgetOptions } from '../../base/index.ts';
import type { Profile } from '../../database/index.ts';
import type { JudgingLimits } from '../../program/index.ts';
import { sqlRunDefaults } from '../../sql-program/index.ts';
import type { SqlCampaignResult } from './sql-campaign-result.ts';

export interface SqlCampaignOptions extends BudgetOptions {
  readonly profile: Profile;
  /** Default 100. */
  readonly runs?: number;
  /** Default 1. */
  readonly seed?: number;
  /** The share of statements and commits at repeatable read and above that fail with 40001 although they could continue. Default 0. */
  readonly abortRate?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** How long the others wait for a session that awaits something other than the database. Default 1,000. */
  readonly waitMs?: number;
  /** Only this run: the token that a failing run printed. */
  readonly replay?: string;
  /** Access paths: the likely ones in every run, or drawn for each run of those that a server may take. A replay takes those of its token. Default `likely`. */
  readonly plans?: 'likely' | 'all';
  /** Run the shortest failing run once more, to tell what it did? Default true. */
  readonly explains?: boolean;
  /** Called after each run. */
  readonly onProgress?: (done: {
    readonly runs: number;
    readonly runsMax: number;
    readonly violations: number;
  }) => void;
  /** Stop after a short search for a shorter failing run than the first. Default false: count them. */
  readonly stopAtFirst?: 'then-shorter' | false;
  /** Called before the first run, with what tells the result so far, and what is under way, at any moment, also from within a run. */
  readonly onStart?: (soFar: () => SqlCampaignResult, underWay: () => string) => void;
  /** Of final states with changed answers, before a green verdict. */
  readonly judging?: JudgingLimits;
  /** Called before each run, for those who watch. */
  readonly onRun?: (run: number) => void;
}

export const sqlCampaignDefaults = { runs: 100, ...sqlRunDefaults } as const;
