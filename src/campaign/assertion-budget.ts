/**
 * How long a campaign in a test runs: to the first failure and a little beyond, for a shorter failing run, and not until the test runner gives it up,
 * which would lose what was found.
 */
import { Budget, type BudgetOptions, monotonicMs } from '../base/index.ts';
import { counted, formatCount } from '../report/index.ts';

/** Below the 5,000 ms that vitest and jest give a test: what is found is still to be explained. */
const timeBudgetMsDefault = 4_000;

/** Of the search for a shorter failing run: as many runs again, and no longer than this. */
const shorterMs = 1_000;

export class ShorterSearch {
  #runsMax = Infinity;
  #endMs = Infinity;

  /** A run failed, the first of them as run `runs`. */
  begin(runs: number): void {
    if (this.#runsMax !== Infinity) return;
    this.#runsMax = 2 * runs;
    this.#endMs = monotonicMs() + shorterMs;
  }

  isOver(runs: number): boolean {
    return runs >= this.#runsMax || monotonicMs() >= this.#endMs;
  }
}

/** What is left of the budget when a campaign of a test begins. A replay is one run, and has its own timeout. */
export function assertionLimits({
  timeBudgetMs = timeBudgetMsDefault,
  timeMaxMs = Infinity,
  replay,
}: {
  readonly timeBudgetMs?: number;
  readonly replay?: string;
} & BudgetOptions): { readonly timeMaxMs: number; readonly budget: Budget } {
  const limit = replay === undefined ? Math.min(timeMaxMs, timeBudgetMs) : timeMaxMs;
  return { timeMaxMs: limit, budget: new Budget({ timeMaxMs: limit }) };
}

/** Why a campaign in which nothing failed is no pass: fewer runs were made than were asked for. */
export function tooFewRuns(runs: number, runsMax: number, timeMaxMs: number): string {
  return (
    `only ${formatCount(runs)} of ${counted(runsMax, 'run')} were made in ${timeMaxMs / 1_000} s (0 failed): ` +
    'raise the timeout of the test and timeBudgetMs, or ask for fewer runs'
  );
}
