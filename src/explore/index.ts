export { type BaseLevel, baseLevels } from './base-level.ts';
export { estimateHistories, type EstimateOptions } from './estimate.ts';
export type { Estimate } from './explore-result.ts';
export { type ExploreCheckpoint } from './checkpoint.ts';
export { otherExploration, requireResumable } from './resumable.ts';
export {
  drawCounterexamples,
  formatEstimate,
  formatExploration,
  formatExplorations,
  type ExploreText,
} from './explore-text.ts';
export { explorationReport } from './explore-report.ts';
export { explore } from './explore.ts';
export type { Counterexample, ExploreResult, Stuck } from './explore-result.ts';
export type { ExploreOptions, ExploreProgress } from './explore-options.ts';
export { exploreShared, exploreThread, exploreThreadOptions, type ExploreThreadOptions } from './sharing.ts';
export type { ExploreJob, ExplorePart, ExploreThread } from './explore-part.ts';
