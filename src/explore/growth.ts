/**
 * The smallest violation first: prefixes of the program, by their number of transactions.
 *
 * A prefix lets each session begin so many transactions and stops it at the next. Errors of sessions are looked for in the histories of ever
 * larger prefixes, so the first that is found has the fewest transactions of all. It is a violation of the whole program, because a history
 * of a prefix extends to one of the program: at read-committed, read-atomic and causal they are causally extensible (PLDI 2023, Theorem
 * 3.4); at every level, mixed ones included, what is left can run serially after it, each transaction last in co and reading what is newest
 * in co, so that no axiom demands anything of its reads, and none of theirs is demanded of earlier reads since `visible` implies co. What was
 * thrown stays thrown. An error after the last transaction of a session belongs to the prefix in which the session ends.
 *
 * Nothing is missed: a history of the program, taken in an order that extends so U wr, is at its level after each of its transactions (all
 * levels are prefix-closed), and after each of them the session that goes next waits at its bound. So a prefix is only grown by sessions that
 * were seen to wait in it. The invariant says nothing about prefixes: it is judged for the whole program, after all of them.
 */
import type { Program } from '../program/index.ts';
import { Exploration } from './exploration.ts';
import type { Runs } from './runs.ts';
import type { ExploreOptions } from './explore-options.ts';
import type { ExploreResult } from './explore-result.ts';

/** Of the whole program, before prefixes are tried. */
export const RUNS_BEFORE_GROWTH = 10_000;

/**
 * For `failsFast`, when `whole` has run for a while: most programs are done by then, or the invariant has failed, and nothing is to be grown.
 * @returns the result, if that is the end
 */
export async function smallestViolation(
  program: Program,
  options: ExploreOptions,
  made: Runs,
  whole: Exploration,
): Promise<ExploreResult | null> {
  if (!whole.canContinue && !whole.hasThrown) return null;
  const small = await growPrefixes(program, options, made);
  return small !== null && (small.violations > 0 || !whole.hasThrown) ? small : null;
}

/** @returns what the last prefix showed, where it has a violation or a limit ended it; `null` where no session of any prefix throws */
async function growPrefixes(program: Program, options: ExploreOptions, made: Runs): Promise<ExploreResult | null> {
  const { historiesMax = Infinity, turnsMax = 1_000 } = options;
  let [histories, runs] = [0, 0];
  let prefixes: readonly Bounds[] = [program.sessions.map(() => 0)];
  for (let prefix = 0; prefixes.length > 0; prefix += 1) {
    const larger = new Map<string, Bounds>();
    for (const bounds of prefixes) {
      const cut = new Set<number>();
      const part = { transactions: bounds, onCut: (session: number) => cut.add(session) };
      const limits =
        historiesMax === Infinity ? options : { ...options, historiesMax: Math.max(1, historiesMax - histories) };
      const exploration = new Exploration(program, limits, made, part);
      exploration.add([{ prefix: [], mass: 1 }]);
      if (histories === historiesMax) exploration.stop('histories');
      if (prefix > turnsMax) exploration.stop('endless');
      await exploration.run();
      const result = exploration.result();
      histories += result.histories;
      runs += result.runs;
      if (!result.complete) return { ...result, histories, runs, prefix };
      for (const session of cut) {
        const next = bounds.map((bound, i) => (i === session ? bound + 1 : bound));
        larger.set(next.join(), next);
      }
    }
    prefixes = [...larger.values()];
  }
  return null;
}

/** How many transactions each session may begin. */
type Bounds = readonly number[];
