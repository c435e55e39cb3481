/** What an exploration of a SQL program is asked for. */
import type { BudgetOptions } from '../../base/index.ts';
import type { Profile, SharedPlans, Ways } from '../../database/index.ts';
import type { JudgingLimits } from '../../program/index.ts';
import type { SharedSchema } from '../../sql-program/index.ts';
import type { ExploreSqlResult, ScheduleEstimate } from './explore-sql-result.ts';
import type { SqlCheckpoint } from './sql-checkpoint.ts';

export interface ExploreSqlOptions extends BudgetOptions {
  readonly profile: Profile;
  /** Access paths of statements, where they are not the likely ones. A replay takes those of its token. */
  readonly ways?: Ways;
  /** Texts of SELECTs that run as if FOR UPDATE stood at their end; those that differ in literals only are one. Default: none. */
  readonly lockedReads?: readonly string[];
  /** Distinct histories to see before the answer is `unknown`. Default: all. */
  readonly historiesMax?: number;
  /** Schedules to run before the answer is `unknown`. Default: all. */
  readonly schedulesMax?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** How long the others wait for a session that awaits something other than the database. Default 1,000. */
  readonly waitMs?: number;
  /** Kinds of failures to keep a run of. Default 5. */
  readonly failuresMax?: number;
  /** End with the first violation. Default false. */
  readonly failsFast?: boolean;
  /** End after so many schedules where one of them violates, else with the first violation beyond them. Default: with none. */
  readonly failsFastAfter?: number;
  /** Leave out schedules that only swap independent steps? Default true. */
  readonly reduces?: boolean;
  /** Is the program known to be a function of what it reads, and do its sessions share nothing? Then no schedule runs twice to check that. Default false. */
  readonly isFunctionOfReads?: boolean;
  /**
   * Ask only whether schedules violate the invariant: distinct histories and outcomes are not counted, what sessions do after the same answers is not
   * compared, and whether the invariant can fail is not checked. Default false.
   */
  readonly violationsOnly?: boolean;
  /** Plans of programs with the same tables: their schemas differ in rows alone. Default: this one plans for itself. */
  readonly sharedPlans?: SharedPlans;
  /** Keeps what the schema of this program comes to. */
  readonly sharedSchema?: SharedSchema;
  /** Only this schedule. */
  readonly replay?: string;
  /** Only schedules that begin with these decisions: a part of the tree, which is explored as if it were all. */
  readonly prefix?: readonly number[];
  /** Estimate how many schedules there are when it is not over after so long: 0 is before the first run. Default: never. */
  readonly estimateAfterMs?: number;
  /** Called with the estimate that `estimateAfterMs` asks for. */
  readonly onEstimate?: (estimate: ScheduleEstimate) => void;
  /**
   * Called before the first run, with what tells at any moment, also from within a run, the result so far, what is under way, and where the
   * exploration stood between runs (not where several make one result).
   */
  readonly onStart?: (soFar: () => ExploreSqlResult, underWay: () => string, checkpoint?: () => SqlCheckpoint) => void;
  /** Continue from here: an exploration of the same program on the same profile by the same `ways`. Budgets may differ. */
  readonly resume?: SqlCheckpoint;
  /** Called every `checkpointEveryMs` and at the end, complete or not. Not with `failsFast` or `replay`. */
  readonly onCheckpoint?: (checkpoint: SqlCheckpoint) => void;
  /** Default 30,000. */
  readonly checkpointEveryMs?: number;
  /** Of final states with changed answers, before a green verdict. */
  readonly judging?: JudgingLimits;
  /** Called now and then. */
  readonly onProgress?: (progress: SqlProgress) => void;
  /** Called before each run, for those who watch. */
  readonly onRun?: () => void;
  /** Called for schedules that are no repetitions: what was seen, as keys that are equal where it was the same. */
  readonly onSeen?: (seen: { readonly histories: readonly string[]; readonly outcomes: readonly string[] }) => void;
}

/** How far an exploration is. */
export interface SqlProgress {
  readonly schedules: number;
  readonly histories: number;
  readonly violations: number;
  /** The share of the tree of schedules that was walked, if every branch were of the same size: between 0 and 1. */
  readonly share: number;
  /** How many there are if nothing is left out: more than will be run. `null`: there is no estimate yet. */
  readonly estimate: ScheduleEstimate | null;
}
