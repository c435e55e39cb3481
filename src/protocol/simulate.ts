/** Random behaviours of a protocol that is too large to explore: each step is drawn from those that are enabled. */
import { type Chooser, seeded, Breather, monotonicMs } from '../base/index.ts';
import { expanderOf, isDone } from './expand.ts';
import { fingerprint, FingerprintSet } from './fingerprint.ts';
import type { Model } from './model.ts';
import { faultsWithPath } from './protocol-fault.ts';
import type { SearchOptions, SearchResult } from './search.ts';
import { type StateCheck, stateCheckOf } from './state-check.ts';
import type { Violation } from './violation.ts';

export interface SimulateOptions
  extends Pick<SearchOptions, 'levels' | 'timeoutMs' | 'signal' | 'deadlock' | 'progress'> {
  readonly runs: number;
  readonly seed: number;
  /** Steps of one run. Default 1,000. */
  readonly stepsMax?: number;
}

/** A run is drawn from the seed and its number alone, so the same seed finds the same violation. It never proves anything. */
export async function simulate(model: Model, options: SimulateOptions): Promise<SearchResult> {
  const { runs, seed, stepsMax = 1_000, timeoutMs = Infinity } = options;
  const deadline = monotonicMs() + timeoutMs;
  const stateCheck = stateCheckOf(model, options.levels);
  const walk = walker(model, options, stateCheck, stepsMax);
  const counts = { states: 0, generated: 0, depth: 0, queue: 0 };
  let found: { readonly violation: Violation; readonly path: Int32Array[] } | null = null;
  const breather = new Breather();
  let reason: SearchResult['reason'] = null;
  for (let run = 0; run < runs && found === null; run += 1) {
    await breather.breathe();
    if (options.signal?.aborted === true) reason = 'interrupted';
    else if (monotonicMs() > deadline) reason = 'time-limit';
    if (reason !== null) break;
    found = walk(seeded(seed, run), counts);
    if (run % 64 === 0) options.progress?.(counts);
  }
  const { violation = null, path = null } = found ?? {};
  return {
    ...counts,
    verdict: violation === null ? 'unknown' : 'violated',
    violation,
    path,
    reason: violation === null ? (reason ?? 'runs-limit') : null,
    complete: false,
    ends: 0,
    observedMost: stateCheck.observedMost(),
    collisionProbability: 0,
    bytes: 0,
    checkpoint: null,
  };
}

type Walk = (
  chooser: Chooser,
  counts: { states: number; generated: number; depth: number },
) => { readonly violation: Violation; readonly path: Int32Array[] } | null;

function walker(model: Model, options: SimulateOptions, { check }: StateCheck, stepsMax: number): Walk {
  const { words, symmetry } = model;
  const { expand } = expanderOf(model);
  const seen = new FingerprintSet();
  const print = new Int32Array(2);
  return (chooser, counts) => {
    const path: Int32Array[] = [model.initial.slice()];
    for (let depth = 1; ; depth += 1) {
      const state = path.at(-1) as Int32Array;
      words.set(state);
      fingerprint(words, words.length, print);
      counts.depth = Math.max(counts.depth, depth);
      if (seen.add(print[0], print[1])) {
        counts.states += 1;
        const violation = check();
        if (violation !== null) return { violation, path };
      }
      if (depth > stepsMax) return null;
      const successors: Int32Array[] = [];
      const visit = (): boolean => {
        symmetry.canonicalise(words);
        successors.push(words.slice());
        return true;
      };
      faultsWithPath(
        () => void expand(state, visit),
        () => path,
      )();
      counts.generated += successors.length;
      if (successors.length === 0) {
        words.set(state);
        if (isDone(model) || options.deadlock === false) return null;
        return { violation: { kind: 'deadlock', name: 'deadlock' }, path };
      }
      path.push(successors[chooser.choose(successors.length)]);
    }
  };
}
