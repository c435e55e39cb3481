/**
 * Steps that were seen to conflict in what they accessed late: with reads of a snapshot after the step that took it, or with what the rest of a run
 * shows of its transaction (`engine/footprint.ts`). Two steps may conflict in one run and not in another. Whether a step of the sleep set may stay
 * there is asked before the rest of the run is known, so it may not where the two have conflicted in any run.
 */
import { areDependent, areDependentAtOnce, type Step } from './happens-before.ts';

export class LateConflicts {
  readonly #pairs = new Set<string>();

  /** The steps of a run that is over. Quadratic in the steps, where some are late. */
  note(steps: readonly Step[]): void {
    for (const [at, second] of steps.entries())
      for (let before = 0; before < at; before += 1) {
        const first = steps[before] as Step;
        if (!first.footprint.hasLateAccesses && !second.footprint.hasLateAccesses) continue;
        if (first.process !== second.process && areDependent(first, second)) this.#pairs.add(pairOf(first, second));
      }
  }

  /** Could the two conflict, whatever comes after them? */
  mayDepend(a: Step, b: Step): boolean {
    return areDependentAtOnce(a, b) || this.#pairs.has(pairOf(a, b));
  }

  /** Plain data. */
  saved(): readonly string[] {
    return [...this.#pairs];
  }

  restore(pairs: readonly string[]): void {
    for (const pair of pairs) this.#pairs.add(pair);
  }
}

function pairOf(a: Step, b: Step): string {
  const [first, second] = a.process < b.process ? [a, b] : [b, a];
  return `${first.process} ${first.ordinal} ${second.process} ${second.ordinal}`;
}
