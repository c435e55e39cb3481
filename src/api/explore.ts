/**
 * `moirai/explore`: every history of a key-value program that an isolation level permits, each exactly once.
 *
 * Where a campaign (`testProgram`) is evidence, a complete exploration is a proof for the program at that level. The algorithms are those of Bouajjani,
 * Enea and Roman-Calvo, "Dynamic Partial Order Reduction for Checking Correctness against Transaction Isolation Levels" (PLDI 2023). SQL
 * programs are explored by `exploreSql` of `moirai/sql`.
 *
 * @example
 * ```ts
 * import { explore, formatExploration } from 'moirai/explore';
 * import { program, type SessionHandle } from 'moirai/program';
 *
 * const increment = (session: SessionHandle) => session.transaction(async (t) => t.write('x', (await t.read('x')) + 1));
 * const counter = program({
 *   initial: { x: 0 },
 *   sessions: { a: increment, b: increment },
 *   invariant: ({ final }) => final['x'] === 2 || `x is ${final['x']}`,
 * });
 * const weak = await explore(counter, { level: 'causal' });
 * const strong = await explore(counter, { level: 'serializable' });
 * console.log(weak.counterexample?.message, strong.complete, strong.violations);
 * // prints: x is 1 true 0
 * console.log(formatExploration(strong).split('\n')[0]);
 * // prints: all 2 histories satisfy the invariant at serializable: a proof for this program
 * ```
 * @module
 */
import {
  estimateHistories as estimate,
  type Estimate,
  type EstimateOptions as AllEstimateOptions,
  explore as exploreProgram,
  type ExploreOptions as AllExploreOptions,
  type ExploreResult,
} from '../explore/index.ts';
import { checkProgram, type Program } from '../program/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';

export {
  baseLevels,
  drawCounterexamples,
  formatEstimate,
  formatExploration,
  formatExplorations,
  type BaseLevel,
  type Counterexample,
  type Estimate,
  type ExploreProgress,
  type ExploreResult,
  type ExploreText,
  type Stuck,
} from '../explore/index.ts';

/** What is explored, and how far. Every limit that is reached makes the answer `unknown`, with what was seen until then. */
export interface ExploreOptions
  extends Pick<
    AllExploreOptions,
    | 'base'
    | 'estimateAfterMs'
    | 'failsFast'
    | 'historiesMax'
    | 'judging'
    | 'level'
    | 'onEstimate'
    | 'onHistory'
    | 'onProgress'
    | 'replay'
    | 'reruns'
    | 'signal'
    | 'stepsMax'
    | 'timeMaxMs'
    | 'timeoutMs'
    | 'turnsMax'
    | 'violationsMax'
  > {}

const exploreOptions: OptionKinds<ExploreOptions> = {
  base: 'any',
  estimateAfterMs: 'number',
  failsFast: 'boolean',
  historiesMax: 'number',
  judging: 'object',
  level: 'string',
  onEstimate: 'function',
  onHistory: 'function',
  onProgress: 'function',
  replay: 'string',
  reruns: 'boolean',
  signal: 'object',
  stepsMax: 'number',
  timeMaxMs: 'number',
  timeoutMs: 'number',
  turnsMax: 'number',
  violationsMax: 'number',
};

/** What is estimated, and how long. */
export interface EstimateOptions
  extends Pick<
    AllEstimateOptions,
    'base' | 'chooser' | 'level' | 'probes' | 'signal' | 'stepsMax' | 'timeMaxMs' | 'timeoutMs' | 'turnsMax'
  > {}

const estimateOptions: OptionKinds<EstimateOptions> = {
  base: 'any',
  chooser: 'chooser!',
  level: 'string',
  probes: 'number',
  signal: 'object',
  stepsMax: 'number',
  timeMaxMs: 'number',
  timeoutMs: 'number',
  turnsMax: 'number',
};

/**
 * Runs a program once for every history that the level permits.
 * @returns `complete` and no `violations`: the invariant holds in every history. `conclude(result.evidence)` is the verdict of the command line
 * @throws InputError when the program or an option is at fault: `program/...`, `option/...`, `replay/token`
 */
export async function explore(program: Program, options: ExploreOptions = {}): Promise<ExploreResult> {
  requireOptions('explore', options, exploreOptions);
  return exploreProgram(checkProgram(program), options);
}

/**
 * Estimates how many histories and runs an exploration has, by random probes: Knuth, "Estimating the Efficiency of Backtrack Programs" (1975).
 * @returns `null`: the time was over before the first probe was
 * @throws InputError as `explore`
 *
 * @example
 * ```ts
 * import { estimateHistories, explore, formatEstimate, formatExplorations } from 'moirai/explore';
 * import { seeded } from 'moirai/mockdb';
 * import { program, type SessionHandle } from 'moirai/program';
 *
 * const put = (session: SessionHandle) => session.transaction(async (t) => t.write('x', (await t.read('x')) + session.name));
 * const writers = program({ initial: { x: '' }, sessions: { a: put, b: put, c: put } });
 * const estimate = await estimateHistories(writers, { level: 'causal', chooser: seeded(1) });
 * console.log(estimate && formatEstimate('causal', estimate));
 * // prints: causal: about 16 histories to expect (+- 0.3 runs; 100 random probes)
 * const results = [await explore(writers, { level: 'causal' }), await explore(writers, { level: 'serializable' })];
 * console.log(results.map(({ histories }) => histories).join(), formatExplorations(results).split('\n')[0]);
 * // prints: 16,6 level         histories  violations  complete
 * ```
 */
export async function estimateHistories(program: Program, options: EstimateOptions): Promise<Estimate | null> {
  requireOptions('estimateHistories', options, estimateOptions);
  return estimate(checkProgram(program), options);
}
