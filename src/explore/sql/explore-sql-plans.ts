/**
 * `moirai explore --plans all`: a program under every combination of access paths that a server may take, where that makes a difference to what
 * statements lock or what a serializable transaction remembers. One exploration for each combination: exponential in the number of places
 * that have a choice.
 */
import { assert, Budget } from '../../base/index.ts';
import { assumedClauses, type Ways } from '../../database/index.ts';
import { shapeOfSql } from '../../sql-program/index.ts';
import type { SqlProgram } from '../../program/index.ts';
import { counted, formatCount } from '../../report/index.ts';
import type { SqlProgress } from './explore-sql-options.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import type { SharedSqlOptions } from './explore-sql-shared.ts';
import { mergedResults } from './merged-results.ts';
import { PlanCombinations } from './plan-combinations.ts';
import { type OneCheckpoint, type PlansCheckpoint, requireSameShapes, type Saving } from './sql-checkpoint.ts';

export interface ExplorePlansOptions
  extends Omit<SharedSqlOptions, 'ways' | keyof Saving<unknown>>,
    Saving<PlansCheckpoint> {
  /** Combinations to explore before the answer is `unknown`. Default 64. */
  readonly plansMax?: number;
}

/** Explores one combination: `exploreSql`, or `exploreSqlShared`. */
export type ExploreWays = (options: SharedSqlOptions) => Promise<ExploreSqlResult>;

/**
 * `historiesMax` and `schedulesMax` end it before the next combination, and each combination by itself.
 * @throws InputError `explore/checkpoint`
 */
export async function exploreSqlPlans(
  program: SqlProgram,
  options: ExplorePlansOptions,
  explore: ExploreWays,
): Promise<ExploreSqlResult> {
  return new PlansExploration(program, options, explore).run();
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
  readonly #shapes: PlansCheckpoint['shapes'];
  /** Of the next combination, where an earlier exploration has begun it. */
  #resume: OneCheckpoint | null = null;
  #stopped: ExploreSqlResult['stopped'] = null;

  constructor(program: SqlProgram, options: ExplorePlansOptions, explore: ExploreWays) {
    this.#shapes = [shapeOfSql(program, options.profile)];
    this.#options = options;
    this.#explore = explore;
    this.#budget = new Budget(options);
  }

  async run(): Promise<ExploreSqlResult> {
    if (this.#options.resume !== undefined) this.#restore(this.#options.resume);
    while (this.#stopped === null) {
      const ways = this.#combinations.take();
      if (ways === null) break;
      const result = await this.#explore(this.#optionsOf(ways));
      this.#resume = null;
      this.#results.push(result);
      this.#combinations.add(ways, result.accesses);
      this.#stopped = result.stopped ?? this.#limitReached();
    }
    if (this.#stopped === null) this.#options.onCheckpoint?.(this.#standingBefore(null, true)());
    return this.#resultOf(this.#results);
  }

  #restore(resume: PlansCheckpoint): void {
    requireSameShapes(resume, this.#shapes);
    for (const result of resume.results) {
      const ways = this.#combinations.take();
      assert(ways !== null, 'more combinations of access paths are over than there are');
      this.#results.push(result);
      this.#combinations.add(ways, result.accesses);
    }
    this.#resume = resume.current;
    this.#see(resume);
  }

  /** Where it stands, as far as combinations are over now. */
  #standingBefore(current: OneCheckpoint | null, isComplete = false): () => PlansCheckpoint {
    const [shapes, results] = [this.#shapes, [...this.#results]];
    const [histories, outcomes] = [[...this.#histories], [...this.#outcomes]];
    return () => ({ kind: 'plans', shapes, results, histories, outcomes, current, isComplete });
  }

  #see({ histories, outcomes }: Pick<PlansCheckpoint, 'histories' | 'outcomes'>): void {
    for (const history of histories) this.#histories.add(history);
    for (const outcome of outcomes) this.#outcomes.add(outcome);
    this.#options.onSeen?.({ histories, outcomes });
  }

  #limitReached(): ExploreSqlResult['stopped'] {
    const { plansMax = 64, historiesMax = Infinity, schedulesMax = Infinity } = this.#options;
    if (!this.#combinations.hasNext) return null;
    if (this.#results.length >= plansMax) return 'plans';
    if (this.#histories.size >= historiesMax) return 'histories';
    return this.#sum('schedules') >= schedulesMax ? 'schedules' : this.#budget.over;
  }

  #optionsOf(ways: Ways): SharedSqlOptions {
    const { onStart, onSeen: _seen, onProgress, onCheckpoint, plansMax: _, estimateAfterMs, ...given } = this.#options;
    const { resume: _resume, ...options } = given;
    const earlier = [...this.#results];
    const standing = this.#standingBefore(null);
    const [resume] = [this.#resume];
    return {
      ...options,
      ways,
      ...(resume === null ? {} : { resume }),
      ...(onCheckpoint === undefined
        ? {}
        : { onCheckpoint: (current: OneCheckpoint) => onCheckpoint({ ...standing(), current }) }),
      timeMaxMs: this.#budget.leftMs,
      // A kind of failure is counted over all combinations.
      failuresMax: Infinity,
      ...(earlier.length === 0 && estimateAfterMs !== undefined ? { estimateAfterMs } : {}),
      onStart: (soFar, underWay, current) =>
        onStart?.(
          () => ({ ...this.#resultOf([...earlier, soFar()]), complete: false }),
          underWay,
          () => ({ ...standing(), current: current?.() ?? resume }),
        ),
      onProgress: (progress) => onProgress?.(this.#progressOf(progress)),
      onSeen: (seen) => this.#see(seen),
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
