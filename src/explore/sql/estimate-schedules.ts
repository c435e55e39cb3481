/**
 * How many schedules there are, before they are run: Knuth's estimator (Estimating the Efficiency of Backtrack Programs, 1975). A probe is a
 * run with every decision drawn evenly; the product of the numbers of ways is right on average, and most often too low. What is
 * estimated is the whole tree: how much of it only swaps independent steps is not known before it was walked.
 */
import { Budget, type Chooser, monotonicMs, sampleMean, seeded } from '../../base/index.ts';
import { checkedRun } from '../../sql-program/index.ts';
import type { SqlProgram } from '../../program/index.ts';
import type { ExploreSqlOptions } from './explore-sql-options.ts';
import { exploringRun, type ExploringRunOptions } from './exploring-run.ts';
import { counting } from './prefix.ts';
import type { ScheduleEstimate } from './explore-sql-result.ts';

export interface EstimateSchedulesOptions extends ExploringRunOptions {
  readonly chooser: Chooser;
  /** After this time no probe begins. The one under way ends: a program cannot be stopped midway without leaving its memory as it then is. */
  readonly timeMaxMs?: number;
  /** Default 100. */
  readonly probes?: number;
  /** Called before each run, for those who watch. */
  readonly onRun?: () => void;
}

/** @throws InputError `program/schema` */
export async function estimateSchedules(
  program: SqlProgram,
  { chooser, probes = 100, onRun, timeMaxMs = Infinity, ...options }: EstimateSchedulesOptions,
): Promise<ScheduleEstimate> {
  const sizes: number[] = [];
  let decisionsMax = 0;
  const { budget = new Budget({}) } = options;
  const endMs = monotonicMs() + timeMaxMs;
  for (let i = 0; i < probes && budget.over === null && monotonicMs() < endMs; i += 1) {
    onRun?.();
    const decisions = counting((_, count) => chooser.choose(count));
    const run = await checkedRun(program, exploringRun(decisions, options));
    if (run.kind === 'timeout') break;
    sizes.push(decisions.options.reduce((product, count) => product * count, 1));
    decisionsMax = Math.max(decisionsMax, decisions.options.length);
  }
  const { mean: schedules, error } = sampleMean(sizes);
  return { schedules, error, decisionsMax, probes: sizes.length };
}

/** While an exploration is under way: not for long, unless it was asked for before the first run. */
export function estimateMeanwhile(
  program: SqlProgram,
  { estimateAfterMs, profile, timeoutMs, onRun }: ExploreSqlOptions,
  known: Pick<ExploringRunOptions, 'ways' | 'budget' | 'memory'>,
): Promise<ScheduleEstimate> {
  return estimateSchedules(program, {
    ...known,
    profile,
    chooser: seeded(1),
    ...(estimateAfterMs === 0 ? {} : { timeMaxMs: ESTIMATE_MS }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(onRun === undefined ? {} : { onRun }),
  });
}

const ESTIMATE_MS = 1_000;
