/** A SQL program on one engine profile, explored as a user asked for it: which access paths, by one thread or by several. */
import type { SqlProgram } from '../../program/index.ts';
import type { ExploreSqlOptions } from './explore-sql-options.ts';
import { type ExplorePlansOptions, exploreSqlPlans, type ExploreWays } from './explore-sql-plans.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import type { SharedSqlOptions } from './explore-sql-shared.ts';
import { exploreSql } from './explore-sql.ts';
import type { LevelCheckpoint } from './levels-saving.ts';
import { requireAlone, requireKind, requireOne, type Saving } from './sql-checkpoint.ts';

export interface ExploreProfileOptions
  extends Omit<SharedSqlOptions, 'schedulesAlone' | keyof Saving<unknown>>,
    Saving<LevelCheckpoint>,
    Pick<ExploreSqlOptions, 'replay'>,
    Pick<ExplorePlansOptions, 'plansMax'> {
  /** Access paths: the likely ones, or every combination of those that a server may take. Default `likely`. */
  readonly plans?: 'likely' | 'all';
}

/**
 * @param share explores with the work shared among threads; `null`: this thread does it alone
 * @throws InputError `program/...`, `explore/checkpoint` where `resume` is of other plans or of another number of threads
 */
export async function exploreSqlProfile(
  program: SqlProgram,
  { plans = 'likely', plansMax, replay, resume, ...options }: ExploreProfileOptions,
  share: ExploreWays | null = null,
): Promise<ExploreSqlResult> {
  const one: ExploreWays = share ?? aloneOf(program, replay);
  if (plans === 'likely') return one({ ...options, ...(resume === undefined ? {} : { resume: requireOne(resume) }) });
  const limits = {
    ...(plansMax === undefined ? {} : { plansMax }),
    ...(resume === undefined ? {} : { resume: requireKind('plans', resume) }),
  };
  return exploreSqlPlans(program, { ...options, ...limits }, one);
}

function aloneOf(program: SqlProgram, replay: string | undefined): ExploreWays {
  return ({ resume, ...options }) =>
    exploreSql(program, {
      ...options,
      ...(resume === undefined ? {} : { resume: requireAlone(resume) }),
      ...(replay === undefined ? {} : { replay }),
    });
}
