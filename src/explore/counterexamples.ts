/**
 * The smallest violation of each kind: by the anomaly that its history shows, with the fewest reads that see an older write. To name an anomaly
 * costs a hundred runs, so violations that look alike (the same message and order of transactions, the initial state and older writes seen by the same
 * reads) count as one kind, and only the first of them, by its token, is named, at the end. So it does not matter in which order they were found.
 */
import { monotonicMs } from '../base/index.ts';
import type { History } from '../history/index.ts';
import { weakestViolation } from '../isolation/index.ts';
import { sealToken } from '../program/index.ts';
import { recordedHistory } from './recorded-history.ts';
import type { Counterexample } from './explore-result.ts';

/** One that has no name yet: plain data. */
export interface Example {
  readonly message: string;
  readonly history: History;
  readonly olderReads: ReadonlySet<string>;
  readonly replay: string;
}

export interface Found extends Omit<Example, 'history'> {
  readonly history: () => History;
}

export class Counterexamples {
  readonly #kindsMax: number;
  readonly #bySight = new Map<string, Example>();
  readonly #news = new Map<string, Example>();

  constructor(kindsMax: number) {
    this.#kindsMax = kindsMax;
  }

  add(found: Found): void {
    const sight = this.#sightOf(found);
    if (sight !== null) this.#keep(sight, { ...found, history: found.history() });
  }

  /** Those of another exploration of the same program. */
  merge(examples: readonly Example[]): void {
    for (const example of examples) {
      const sight = this.#sightOf(example);
      if (sight !== null) this.#keep(sight, example);
    }
  }

  /** What it looks like, where it is to be kept. */
  #sightOf(example: Omit<Example, 'history'>): string | null {
    // The order of transactions, and which reads saw the initial state.
    const order = example.replay.replaceAll(/(?<=[:,])[^,+_][^,+]*/g, 'x');
    const sight = [example.message, order, ...example.olderReads].join('\0');
    const known = this.#bySight.get(sight);
    if (known !== undefined) return isBefore(example, known) ? sight : null;
    if (this.#bySight.size < SIGHTS_MAX) return sight;
    return [...this.#bySight.values()].every((each) => isBefore(example, each)) ? sight : null;
  }

  #keep(sight: string, example: Example): void {
    this.#bySight.set(sight, example);
    this.#news.set(sight, example);
  }

  /** All that are kept, in the order in which they were found. */
  examples(): Example[] {
    return [...this.#bySight.values()];
  }

  /** What was kept since the last call. */
  releaseNew(): Example[] {
    const news = [...this.#news.values()];
    this.#news.clear();
    return news;
  }

  /**
   * @param deadlineMs when those that have no name yet are left out, in `monotonicMs`; the first is named whatever it takes
   * @param onName called before each, for those who watch
   */
  all(deadlineMs: number, onName: () => void): Counterexample[] {
    const byKind = new Map<string | null, Counterexample>();
    const sorted = [...this.#bySight.values()].toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
    for (const example of sorted.slice(0, NAMED_MAX)) {
      if (byKind.size > 0 && monotonicMs() >= deadlineMs) break;
      onName();
      const anomaly = weakestViolation(example.history, { abortedReads: 'constrained' })?.verdict.anomaly ?? null;
      if (byKind.has(anomaly)) continue;
      const recorded = recordedHistory(example.history);
      const replay = sealToken(example.replay, recorded);
      byKind.set(anomaly, { ...example, replay, steps: recorded.steps, anomaly });
      if (byKind.size === this.#kindsMax) break;
    }
    return [...byKind.values()];
  }
}

/** Beyond so many that look different, only what would be shown first is kept. */
const SIGHTS_MAX = 200;
const NAMED_MAX = 50;

/** Whatever the order in which they were found, the same one is first. */
function isBefore(a: Omit<Example, 'history'>, b: Omit<Example, 'history'>): boolean {
  if (a.olderReads.size !== b.olderReads.size) return a.olderReads.size < b.olderReads.size;
  return a.replay.length < b.replay.length || (a.replay.length === b.replay.length && a.replay < b.replay);
}
