/**
 * `moirai explore --plans all`: a program under every combination of access paths that a server may take, where that makes a difference to what
 * statements lock or what a serializable transaction remembers. One exploration for each combination: exponential in the number of places
 * that have a choice.
 */
import { assert } from '../base/assert.ts';
import { Budget } from '../base/budget.ts';
import { counted, formatCount } from '../report/index.ts';
import { assumedClauses, type Ways } from '../serve/index.ts';
import type { ExploreSqlResult, SqlProgress } from './explore-sql.ts';
import type { SharedSqlOptions } from './explore-sql-shared.ts';
import { mergedResults } from './merged-results.ts';
import { PlanCombinations } from './plan-combinations.ts';

export interface ExplorePlansOptions extends Omit<SharedSqlOptions, 'ways'> {
  /** Combinations to explore before the answer is `unknown`. Default 64. */
  readonly plansMax?: number;
}

/** Explores one combination: `exploreSql`, or `exploreSqlShared`. */
export type ExploreWays = (options: SharedSqlOptions) => Promise<ExploreSqlResult>;

/** `historiesMax` and `schedulesMax` end it before the next combination, and each combination by itself. */
export async function exploreSqlPlans(options: ExplorePlansOptions, explore: ExploreWays): Promise<ExploreSqlResult> {
  return new PlansExploration(options, explore).run();
}

class PlansExploration {
  readonly #options: ExplorePlansOptions;
  readonly #explore: ExploreWays;
  readonly #budget: Budget;
  readonly #combinations = new PlanCombinations();
  readonly #histories = new Set<string>();
  readonly #outcomes = new Set<string>();
  /** One for each combination so far. */
  readonly #results: ExploreSqlResult[] = [];
  #stopped: ExploreSqlResult['stopped'] = null;

  constructor(options: ExplorePlansOptions, explore: ExploreWays) {
    this.#options = options;
    this.#explore = explore;
    this.#budget = new Budget(options);
  }

  async run(): Promise<ExploreSqlResult> {
    while (this.#stopped === null) {
      const ways = this.#combinations.take();
      if (ways === null) break;
      const result = await this.#explore(this.#optionsOf(ways));
      this.#results.push(result);
      this.#combinations.add(ways, result.accesses);
      this.#stopped = result.stopped ?? this.#limitReached();
    }
    return this.#resultOf(this.#results);
  }

  #limitReached(): ExploreSqlResult['stopped'] {
    const { plansMax = 64, historiesMax = Infinity, schedulesMax = Infinity } = this.#options;
    if (!this.#combinations.hasNext) return null;
    if (this.#results.length >= plansMax) return 'plans';
    if (this.#histories.size >= historiesMax) return 'histories';
    return this.#sum('schedules') >= schedulesMax ? 'schedules' : this.#budget.over;
  }

  #optionsOf(ways: Ways): SharedSqlOptions {
    const { onStart, onSeen, onProgress, plansMax: _, estimateAfterMs, ...options } = this.#options;
    const earlier = [...this.#results];
    return {
      ...options,
      ways,
      timeMaxMs: this.#budget.leftMs,
      // A kind of failure is counted over all combinations.
      failuresMax: Infinity,
      ...(earlier.length === 0 && estimateAfterMs !== undefined ? { estimateAfterMs } : {}),
      onStart: (soFar, underWay) =>
        onStart?.(() => ({ ...this.#resultOf([...earlier, soFar()]), complete: false }), underWay),
      onProgress: (progress) => onProgress?.(this.#progressOf(progress)),
      onSeen: (seen) => {
        for (const history of seen.histories) this.#histories.add(history);
        for (const outcome of seen.outcomes) this.#outcomes.add(outcome);
        onSeen?.(seen);
      },
    };
  }

  /** Of all combinations as far as they are known; an estimate of one is none of all. */
  #progressOf({ schedules, violations, share }: SqlProgress): SqlProgress {
    return {
      schedules: this.#sum('schedules') + schedules,
      histories: this.#histories.size,
      violations: this.#sum('violations') + violations,
      share: (this.#results.length + share) / Math.max(this.#combinations.countMax, this.#results.length + 1),
      estimate: null,
    };
  }

  #sum(count: 'schedules' | 'violations'): number {
    return this.#results.reduce((sum, result) => sum + result[count], 0);
  }

  #resultOf([first, ...others]: readonly ExploreSqlResult[]): ExploreSqlResult {
    assert(first !== undefined, 'no combination of access paths was explored');
    const merged = mergedResults([first, ...others], {
      stopped: this.#stopped,
      failuresMax: this.#options.failuresMax,
    });
    const { evidence, accesses } = merged;
    const taken = new Set(assumedClauses(accesses));
    return {
      ...merged,
      plans: others.length + 1,
      histories: this.#histories.size,
      outcomes: this.#outcomes.size,
      evidence: {
        ...evidence,
        cut: [...evidence.cut, ...this.#notExplored(others.length + 1)],
        assumed: evidence.assumed.filter((clause) => !taken.has(clause)),
      },
    };
  }

  #notExplored(plans: number): string[] {
    if (!this.#combinations.hasNext) return [];
    const all = counted(this.#combinations.countMax, 'combination');
    return [`${formatCount(plans)} of at most ${all} of access paths were explored`];
  }
}
