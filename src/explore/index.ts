export { type BaseLevel, baseLevels } from './base-level.ts';
export { estimateHistories, type Estimate, type EstimateOptions } from './estimate.ts';
export { type ExploreCheckpoint } from './checkpoint.ts';
export { otherExploration, requireResumable } from './resumable.ts';
export {
  drawCounterexamples,
  formatEstimate,
  formatExploration,
  formatExplorations,
  type ExploreText,
} from './explore-text.ts';
export {
  explore,
  type Counterexample,
  type ExploreOptions,
  type ExploreProgress,
  type ExploreResult,
  type Stuck,
} from './explore.ts';
export {
  exploreShared,
  exploreThread,
  exploreThreadOptions,
  type ExploreJob,
  type ExplorePart,
  type ExploreThread,
  type ExploreThreadOptions,
} from './sharing.ts';
