/** The smallest violation of each kind: by the anomaly that its history shows, with the fewest reads that see an older write. */
import type { History } from '../history/index.ts';
import { weakestViolation } from '../isolation/index.ts';
import type { Counterexample } from './explore.ts';

export interface Found {
  readonly message: string;
  readonly history: () => History;
  readonly olderReads: ReadonlySet<string>;
  readonly replay: () => string;
}

export class Counterexamples {
  readonly #kindsMax: number;
  readonly #byKind = new Map<string | null, Counterexample>();
  #named = 0;

  constructor(kindsMax: number) {
    this.#kindsMax = kindsMax;
  }

  add(found: Found): void {
    const { message, olderReads } = found;
    const smallest = this.all()[0];
    const isSmaller = smallest === undefined || olderReads.size <= smallest.olderReads.size;
    // Naming costs more than a run: after the first thousands only what would be shown first is named.
    if (this.#named >= NAMED_MAX && !isSmaller) return;
    this.#named += 1;
    const history = found.history();
    const anomaly = weakestViolation(history, { abortedReads: 'constrained' })?.verdict.anomaly ?? null;
    const known = this.#byKind.get(anomaly);
    if (known !== undefined && known.olderReads.size < olderReads.size) return;
    const example = { message, history, olderReads, replay: found.replay(), anomaly };
    if (known === undefined || isBefore(example, known)) this.#byKind.set(anomaly, example);
  }

  /** Those of another exploration of the same program. */
  merge(examples: readonly Counterexample[]): void {
    for (const example of examples) {
      const known = this.#byKind.get(example.anomaly);
      if (known === undefined || isBefore(example, known)) this.#byKind.set(example.anomaly, example);
    }
  }

  all(): Counterexample[] {
    return [...this.#byKind.values()].toSorted((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, this.#kindsMax);
  }
}

const NAMED_MAX = 2_000;

/** Whatever the order in which they were found, the same one is first. */
function isBefore(a: Counterexample, b: Counterexample): boolean {
  return a.olderReads.size === b.olderReads.size
    ? a.replay.length < b.replay.length || (a.replay.length === b.replay.length && a.replay < b.replay)
    : a.olderReads.size < b.olderReads.size;
}
