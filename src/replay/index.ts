/** Replays the failing run of a SQL program on a real server. */
export {
  exploreOn,
  type ExploredOn,
  type ExploreOnOptions,
  type Search,
} from './explore-on.ts';
export { exploredOnJson, formatExploredOn, verdictOfExplored } from './explore-on-text.ts';
export { replayOn, type ReplayedLevel, type ReplayedOn, type ReplayOnOptions } from './replay.ts';
export { replayedPage } from './replay-page.ts';
export { formatReplayedOn, replayedOnJson, verdictOfLevels } from './replay-text.ts';
export type { RealServer } from './server.ts';
