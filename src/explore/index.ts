export { formatExploration, formatExplorations, type ExploreText } from './explore-text.ts';
export { explore, type Counterexample, type ExploreOptions, type ExploreResult } from './explore.ts';
