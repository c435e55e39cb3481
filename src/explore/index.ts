export { explore, type Counterexample, type ExploreOptions, type ExploreResult } from './explore.ts';
