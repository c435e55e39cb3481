/**
 * How many histories to expect, before the run: Knuth's estimator (Estimating the Efficiency of Backtrack Programs, 1975). A probe goes down
 * the tree of prefixes, at each run to one of the k that it found, drawn evenly, and counts that one k times. The mean over all draws is the
 * exact number; single probes differ widely, most of them lie below it.
 */
import { Breather, Budget, type BudgetOptions, type Chooser, sampleMean } from '../base/index.ts';
import type { Program } from '../program/index.ts';
import { Exploration } from './exploration.ts';
import type { Prefix } from './ordered-history.ts';
import { Runs } from './runs.ts';
import type { ExploreOptions } from './explore-options.ts';
import type { Estimate } from './explore-result.ts';

export interface EstimateOptions
  extends BudgetOptions,
    Pick<ExploreOptions, 'level' | 'base' | 'stepsMax' | 'timeoutMs' | 'turnsMax' | 'onTurn'> {
  readonly chooser: Chooser;
  /** Default 100. With a budget there may be fewer. */
  readonly probes?: number;
}

/** `null`: the budget was over before the first probe was. */
export async function estimateHistories(
  program: Program,
  { chooser, probes = 100, timeMaxMs, signal, ...options }: EstimateOptions,
): Promise<Estimate | null> {
  const budget = new Budget({ ...(timeMaxMs === undefined ? {} : { timeMaxMs }), ...(signal && { signal }) });
  const made = new Runs(program, options, budget);
  const exploration = new Exploration(program, options, made);
  const breather = new Breather();
  const found: Probe[] = [];
  await made.watching(async () => {
    for (let i = 0; i < probes && budget.over === null; i += 1) {
      const probe = await probeOnce(exploration, chooser);
      // A way that was cut off says too little.
      if (exploration.hasStopped) break;
      found.push(probe);
      await breather.breathe();
    }
  });
  if (found.length === 0) return null;
  const { mean: runs, error: runsError } = sampleMean(found.map((probe) => probe.runs));
  const { mean: histories } = sampleMean(found.map((probe) => probe.histories));
  return { runs, histories, runsError, probes: found.length };
}

/** What one way down the tree says. */
type Probe = Pick<Estimate, 'runs' | 'histories'>;

async function probeOnce(exploration: Exploration, chooser: Chooser): Promise<Probe> {
  let [runs, histories, weight] = [0, 0, 1];
  for (let prefix: Prefix | undefined = []; prefix !== undefined; ) {
    const { branches, isAtLevel } = await exploration.probe(prefix);
    runs += weight;
    if (isAtLevel) histories += weight;
    weight *= branches.length;
    prefix = branches.length === 0 ? undefined : branches[chooser.choose(branches.length)];
  }
  return { runs, histories };
}
