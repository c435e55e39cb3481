/**
 * `moirai explore`: every history of a program at its level, each exactly once.
 *
 * explore-ce(I0) for read-committed, read-atomic and causal; explore-ce*(causal, I) for prefix, snapshot-isolation and serializable, which
 * are not causally extensible: their histories are the causal ones that pass the level's check. Bouajjani, Enea, Roman-Calvo, PLDI 2023,
 * sections 5 and 6. Stateless: the program runs again for every history, from its prefix; memory is the stack of prefixes, polynomial in
 * the size of the program and flat in the number of histories.
 */
import { monotonicMs } from '../base/clock.ts';
import type { History } from '../history/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import type { Program } from '../program/index.ts';
import type { BaseLevel } from './base-level.ts';
import { Exploration } from './exploration.ts';
import { RUNS_BEFORE_GROWTH, smallestViolation } from './growth.ts';
import { sessionOf } from './ordered-history.ts';
import { Runs } from './runs.ts';
import { decodePrefix } from './token.ts';

export interface ExploreOptions {
  /** Default `causal`. */
  readonly level?: ConstrainingLevel;
  /** The level that is explored where `level` cannot be; it changes the number of runs, never the histories. Default `causal`, the best. */
  readonly base?: BaseLevel;
  /** Histories to list before the answer is `unknown`. Default: all. */
  readonly historiesMax?: number;
  /** Time to spend before the answer is `unknown`. Default: any. */
  readonly timeMaxMs?: number;
  /** Decisions that one search for a commit order may take, before the answer is `unknown`. Default 100,000. */
  readonly stepsMax?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** Called whenever a session gets to run, by its index. For those who watch. */
  readonly onTurn?: (session: number, lastOperation: () => string) => void;
  /** Transactions of one run; a program that goes on for ever on some path has no end of histories. Default 1,000. */
  readonly turnsMax?: number;
  /** Kinds of violations, by their anomalies, to keep a counterexample of. Default 5. */
  readonly violationsMax?: number;
  /**
   * End with the first violation. Where a session throws, that is one with the fewest transactions of all: prefixes of the program are tried, the
   * smallest first. One of the invariant, which is judged for the whole program, need not be the smallest. Default false.
   */
  readonly failsFast?: boolean;
  /**
   * Run every session in every run. By default a session that reads what it read before is not run again: it is a function of what it reads, and
   * the invariant one of results and final state (one that takes neither looks elsewhere: then every session runs). Samples are run all the same, and
   * a difference ends the exploration.
   */
  readonly reruns?: boolean;
  /** The samples: this many runs at first, and one of 64 after them. Default 32. */
  readonly samplesFirst?: number;
  /** Steps of sessions, keys and values to remember before all are forgotten, so that memory does not grow with the histories. Default 200,000. */
  readonly rememberedMax?: number;
  /** Only this history: the token of a counterexample. A program that has changed is followed as far as it goes. */
  readonly replay?: string;
  /** Called for each history of the whole program at its level, in a fixed order. */
  readonly onHistory?: (history: () => History) => void;
  /** Called now and then, at most every 50 ms. */
  readonly onProgress?: (progress: {
    readonly histories: number;
    readonly runs: number;
    readonly violations: number;
    /** Runs to expect altogether, if what is left is like what was seen. */
    readonly expectedRuns: number;
  }) => void;
}

export interface ExploreResult {
  readonly level: ConstrainingLevel;
  /** Histories at the level. */
  readonly histories: number;
  /** Those in which the invariant fails, for some final state where it looks at one. */
  readonly violations: number;
  /** Runs of the program: the histories of the level that was explored. */
  readonly runs: number;
  /** Were there no more? */
  readonly complete: boolean;
  /** Why not. */
  readonly stopped: 'histories' | 'time' | 'endless' | 'search' | 'violation' | 'replay' | Stuck | null;
  /** For each `sometimes(name)`: histories in which its condition held. */
  readonly marks: ReadonlyMap<string, number>;
  /** The transactions of the prefix of the program that was explored last, where the violation was found in one; else `null`. */
  readonly prefix: number | null;
  /** Where a replay took another turn than its token; `null` where it did not. */
  readonly divergence: string | null;
  /** The failing history with the fewest reads that see anything but the newest write in its order. */
  readonly counterexample: Counterexample | null;
  /** The smallest of each kind of violation, the smallest first. */
  readonly counterexamples: readonly Counterexample[];
}

/** A session that did not end in time, and what it did last. */
export interface Stuck {
  readonly session: string;
  readonly lastOperation: string;
}

export interface Counterexample {
  readonly message: string;
  readonly history: History;
  /** Reads that saw an older write than the newest that had been committed in the order of the history: `transaction operation`. */
  readonly olderReads: ReadonlySet<string>;
  /** The token of this history for `replay`. */
  readonly replay: string;
  /** What the history shows; `null` where it is serializable or nobody can tell. */
  readonly anomaly: string | null;
}

/** @throws InputError when the program or an option is at fault */
export async function explore(program: Program, options: ExploreOptions = {}): Promise<ExploreResult> {
  const made = new Runs(program, options);
  const exploration = new Exploration(program, options, made);
  if (options.replay !== undefined) return replay(program, options, exploration, made);
  const deadline = monotonicMs() + (options.timeMaxMs ?? Infinity);
  exploration.add([{ prefix: [], mass: 1 }]);
  if (options.failsFast === true) {
    await exploration.run(deadline, RUNS_BEFORE_GROWTH);
    const small = await smallestViolation(program, options, made, exploration, deadline);
    if (small !== null) return small;
  }
  await exploration.run(deadline);
  return exploration.result();
}

/** A session may have thrown in a prefix of the program, of which the rest need not go on as it would here: then the run ends with the token. */
async function replay(
  program: Program,
  options: ExploreOptions,
  whole: Exploration,
  made: Runs,
): Promise<ExploreResult> {
  const prefix = decodePrefix(options.replay ?? '', program);
  const transactions = program.sessions.map((_, i) => prefix.filter(({ name }) => sessionOf(name) === i).length);
  let isCut = false;
  const part = new Exploration(program, options, made, { transactions, onCut: () => (isCut = true) });
  const result = await part.replay(prefix);
  return isCut && result.violations > 0 ? { ...result, prefix: prefix.length } : whole.replay(prefix);
}
