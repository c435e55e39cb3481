/** A run of a SQL program in which nothing but the decisions is open: what `exploreSql` and those around it have in common. */
import type { Budget } from '../../base/index.ts';
import type { Profile, SharedPlans, Ways } from '../../database/index.ts';
import {
  type ArrivalMemory,
  NEW_YEAR,
  seedOf,
  type SharedSchema,
  sqlRunDefaults,
  type SqlRunOptions,
} from '../../sql-program/index.ts';
import type { Decisions } from '../../mockdb/index.ts';

export interface ExploringRunOptions {
  readonly profile: Profile;
  /** Access paths of statements, where they are not the likely ones. */
  readonly ways?: Ways;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** How long the others wait for a session that awaits something other than the database. Default 1,000. */
  readonly waitMs?: number;
  /** What its runs have planned. Default: each plans for itself. */
  readonly sharedPlans?: SharedPlans;
  /** As of `SqlRunOptions`. */
  readonly lockedReads?: readonly string[];
  /** What the schema comes to. Default: each makes it. */
  readonly sharedSchema?: SharedSchema;
  /** What earlier runs have shown about the program's waiting. */
  readonly memory?: ArrivalMemory;
  /** What a verdict takes for granted, as clauses: runs add to it. */
  readonly takenForGranted?: Set<string>;
  /** Of all runs together. */
  readonly budget?: Budget;
}

export function exploringRun(
  decisions: Decisions,
  {
    profile,
    ways,
    lockedReads = [],
    timeoutMs = sqlRunDefaults.timeoutMs,
    waitMs,
    memory,
    takenForGranted,
    budget,
    sharedPlans,
    sharedSchema,
  }: ExploringRunOptions,
): SqlRunOptions {
  return {
    profile,
    decisions,
    // That of the first run of `moirai test`: its replays draw the same.
    seed: seedOf(sqlRunDefaults.seed, 0),
    abortRate: sqlRunDefaults.abortRate,
    timeoutMs,
    lockedReads,
    ...(ways === undefined ? {} : { ways }),
    ...(sharedPlans === undefined ? {} : { sharedPlans }),
    ...(sharedSchema === undefined ? {} : { sharedSchema }),
    ...(waitMs === undefined ? {} : { waitMs }),
    ...(memory === undefined ? {} : { memory }),
    ...(takenForGranted === undefined ? {} : { takenForGranted }),
    ...(budget === undefined ? {} : { budget }),
    // One moment: what a schedule shows must not depend on when it is run.
    clock: () => NEW_YEAR,
  };
}
