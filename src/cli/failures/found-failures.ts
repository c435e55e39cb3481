/** What each tool found, as failing runs to keep. */
import type { CampaignResult } from '../../campaign/index.ts';
import type { ExploreResult } from '../../explore/index.ts';
import { type Program, shapeOfKeys, type SqlProgram } from '../../program/index.ts';
import type { Profile } from '../../database/index.ts';
import type { ExploreSqlResult } from '../../explore/sql/index.ts';
import type { SqlCampaignResult } from '../../campaign/sql/index.ts';
import type { ExploreCommandOptions } from '../explore/explore-options.ts';
import type { FoundFailure } from './kept-failures.ts';
import type { TestOptions } from '../test/test-options.ts';

export function foundByTest(
  program: Program,
  { level, failure }: CampaignResult,
  options: TestOptions,
): FoundFailure[] {
  if (options.replay !== undefined || failure === null) return [];
  const { replay: token, message, anomaly, history, steps } = failure;
  const { conflicts = null, abortRate } = options;
  return [
    {
      options: { tool: 'test-keys', level, conflicts, abortRate },
      token,
      invariant: program.invariantText,
      message,
      anomaly: anomaly?.verdict.anomaly ?? null,
      shape: shapeOfKeys(history, level),
      steps,
    },
  ];
}

/** Of several levels, the first of each. */
export function foundByExplore(
  program: Program,
  results: readonly ExploreResult[],
  options: ExploreCommandOptions,
): FoundFailure[] {
  if (options.replay !== null) return [];
  const { base } = options;
  const each = results.length > 1 ? 1 : Infinity;
  return results.flatMap(({ level, counterexamples }) =>
    counterexamples.slice(0, each).map(({ replay: token, message, anomaly, history, steps }) => ({
      options: { tool: 'explore-keys', level, base },
      token,
      invariant: program.invariantText,
      message,
      anomaly,
      shape: shapeOfKeys(history, null),
      steps,
    })),
  );
}

/** @param shapeOf what a run on a database starts from */
export function foundBySqlTest(
  program: SqlProgram,
  { failure, profile, seed }: SqlCampaignResult,
  options: TestOptions,
  shapeOf: (program: SqlProgram, profile: Profile) => readonly string[],
): FoundFailure[] {
  if (options.replay !== undefined || failure === null) return [];
  const { replay: token, message, steps } = failure;
  const recorded = { tool: 'test-sql', profile: { ...profile }, seed, abortRate: options.abortRate } as const;
  return [
    {
      options: recorded,
      token,
      invariant: program.invariantText,
      message,
      anomaly: null,
      shape: shapeOf(program, profile),
      steps,
    },
  ];
}

/** Of several levels, the first of each. */
export function foundBySqlExplore(
  program: SqlProgram,
  results: readonly ExploreSqlResult[],
  options: ExploreCommandOptions,
  shapeOf: (program: SqlProgram, profile: Profile) => readonly string[],
): FoundFailure[] {
  if (options.replay !== null) return [];
  const each = results.length > 1 ? 1 : Infinity;
  return results.flatMap(({ profile, failures }) =>
    failures.slice(0, each).map(({ replay: token, message, anomaly, steps }) => ({
      options: { tool: 'explore-sql', profile: { ...profile }, seed: 1, abortRate: 0 },
      token,
      invariant: program.invariantText,
      message,
      anomaly,
      shape: shapeOf(program, profile),
      steps,
    })),
  );
}
