/**
 * `moirai explore`: every history of a program at its level, each exactly once.
 *
 * explore-ce(I0) for read-committed, read-atomic and causal; explore-ce*(causal, I) for prefix, snapshot-isolation and serializable, which
 * are not causally extensible: their histories are the causal ones that pass the level's check. Bouajjani, Enea, Roman-Calvo, PLDI 2023,
 * sections 5 and 6. Stateless: the program runs again for every history, from its prefix; memory is the stack of prefixes, polynomial in
 * the size of the program and flat in the number of histories.
 */
import { Budget, seeded } from '../base/index.ts';
import type { Program } from '../program/index.ts';
import { estimateHistories } from './estimate.ts';
import { Exploration } from './exploration.ts';
import { RUNS_BEFORE_GROWTH, smallestViolation } from './growth.ts';
import { replayHistory } from './replay.ts';
import { requireResumable } from './resumable.ts';
import { Runs } from './runs.ts';
import type { ExploreOptions } from './explore-options.ts';
import type { ExploreResult, Estimate } from './explore-result.ts';

/** @throws InputError when the program or an option is at fault */
export async function explore(program: Program, options: ExploreOptions = {}): Promise<ExploreResult> {
  requireResumable(options, 'one history');
  const budget = new Budget(options);
  const made = new Runs(program, options, budget);
  return made.watching(() => drained(made, exploreBy(program, options, made)));
}

async function exploreBy(program: Program, options: ExploreOptions, made: Runs): Promise<ExploreResult> {
  const exploration = new Exploration(program, options, made);
  options.onStart?.(
    () => exploration.soFar(),
    () => exploration.checkpoint(),
  );
  if (options.replay !== undefined) return replayHistory(program, options, exploration, made);
  begin(exploration, options);
  if (options.failsFast === true) {
    await exploration.run({ runsMax: RUNS_BEFORE_GROWTH });
    const small = await smallestViolation(program, options, made, exploration);
    if (small !== null) return small;
  }
  await exploration.run({ timeMs: options.estimateAfterMs ?? Infinity });
  if (exploration.canContinue) exploration.setEstimate(await estimate(program, options, made.budget));
  await exploration.run();
  await finish(exploration, options, made);
  return exploration.result();
}

/** Before a result is said, what the program left open comes; not where a limit or the user ended it. */
export async function drained(made: Runs, exploring: Promise<ExploreResult>): Promise<ExploreResult> {
  const result = await exploring;
  if (result.stopped === null || result.stopped === 'violation' || result.stopped === 'replay') await made.drain();
  return result;
}

/** From the root of the tree, or where an earlier exploration stopped. @throws InputError `explore/checkpoint` */
export function begin(exploration: Exploration, { resume }: ExploreOptions): void {
  if (resume === undefined) exploration.add([{ prefix: [], mass: 1 }]);
  else exploration.restore(resume);
}

/** A proof needs the same of the program in another order. Gives the checkpoint of where it ended. */
export async function finish(exploration: Exploration, { onCheckpoint }: ExploreOptions, made: Runs): Promise<void> {
  const { complete, violations, stopped } = exploration.result([]);
  if (stopped === null) await made.drain();
  if (complete && violations === 0) {
    await made.lastSessionFirst();
    await made.judgeAgain();
  }
  const checkpoint = onCheckpoint === undefined ? null : exploration.checkpoint();
  if (checkpoint !== null) onCheckpoint?.(checkpoint);
}

/** Probes while there is time. `null`: it ran out before one was made. */
export async function estimate(program: Program, options: ExploreOptions, budget: Budget): Promise<Estimate | null> {
  // One that was asked for takes its time.
  const timeMaxMs = options.estimateAfterMs === 0 ? budget.leftMs : Math.min(ESTIMATE_MS, budget.leftMs);
  const { signal } = budget;
  const { onEstimate, onProgress: _onProgress, ...same } = options;
  const limits = { ...same, timeMaxMs, ...(signal === undefined ? {} : { signal }) };
  const found = await estimateHistories(program, { ...limits, chooser: seeded(1) });
  if (found !== null) onEstimate?.(found);
  return found;
}

const ESTIMATE_MS = 1_000;
