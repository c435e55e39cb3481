export { estimateHistories, type Estimate, type EstimateOptions } from './estimate.ts';
export {
  drawCounterexamples,
  formatEstimate,
  formatExploration,
  formatExplorations,
  type ExploreText,
} from './explore-text.ts';
export { explore, type Counterexample, type ExploreOptions, type ExploreResult } from './explore.ts';
export { explorePart, exploreShared, type ExploreJob, type ExplorePart, type ExploreThread } from './sharing.ts';
