/**
 * `moirai explore`: every history of a program at its level, each exactly once.
 *
 * explore-ce(I0) for read-committed, read-atomic and causal; explore-ce*(causal, I) for prefix, snapshot-isolation and serializable, which
 * are not causally extensible: their histories are the causal ones that pass the level's check. Bouajjani, Enea, Roman-Calvo, PLDI 2023,
 * sections 5 and 6. Stateless: the program runs again for every history, from its prefix; memory is the stack of prefixes, polynomial in
 * the size of the program and flat in the number of histories.
 */
import { exploring, nextPath } from '../base/chooser.ts';
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import type { History } from '../history/index.ts';
import { constrainingLevels, type ConstrainingLevel, parseLevel } from '../isolation/index.ts';
import { errorText, judge, type Marks, type Program, runProgram, type RunOutcome } from '../program/index.ts';
import { ExploringStore } from './exploring-store.ts';
import type { Prefix } from './ordered-history.ts';
import { decodePrefix, encodePrefix } from './token.ts';

export interface ExploreOptions {
  /** Default `causal`. */
  readonly level?: ConstrainingLevel;
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
  /** Only this history: the token of a counterexample. A program that has changed is followed as far as it goes. */
  readonly replay?: string;
  /** Called for each history at its level, in a fixed order. */
  readonly onHistory?: (history: () => History) => void;
  /** Called now and then, at most every 50 ms. */
  readonly onProgress?: (progress: {
    readonly histories: number;
    readonly runs: number;
    readonly violations: number;
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
  readonly stopped: 'histories' | 'time' | 'endless' | 'search' | Stuck | null;
  /** For each `sometimes(name)`: histories in which its condition held. */
  readonly marks: ReadonlyMap<string, number>;
  /** Where a replay took another turn than its token; `null` where it did not. */
  readonly divergence: string | null;
  /** The failing history with the fewest reads that see anything but the newest write in its order. */
  readonly counterexample: Counterexample | null;
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
}

/** @throws InputError when the program or an option is at fault */
export async function explore(program: Program, options: ExploreOptions = {}): Promise<ExploreResult> {
  const exploration = new Exploration(program, options);
  return options.replay === undefined ? exploration.run() : exploration.replay(decodePrefix(options.replay, program));
}

class Exploration {
  readonly #program: Program;
  readonly #options: ExploreOptions;
  readonly #level: ConstrainingLevel;
  readonly #store: ExploringStore;
  readonly #stack: Prefix[] = [[]];
  readonly #marks = new Map<string, number>();
  #histories = 0;
  #violations = 0;
  #runs = 0;
  #stopped: ExploreResult['stopped'] = null;
  #divergence: string | null = null;
  #counterexample: Counterexample | null = null;

  constructor(program: Program, options: ExploreOptions) {
    this.#program = program;
    this.#options = options;
    this.#level = parseLevel(options.level ?? 'causal', constrainingLevels);
    this.#store = new ExploringStore(program, this.#level, options.stepsMax);
    for (const [name, value] of Object.entries({ historiesMax: options.historiesMax, turnsMax: options.turnsMax })) {
      if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)) {
        throw new InputError(`option/${name}`, `${name} must be a whole number of at least 1, not ${value}`);
      }
    }
  }

  async run(): Promise<ExploreResult> {
    const deadline = monotonicMs() + (this.#options.timeMaxMs ?? Infinity);
    let breathedAt = monotonicMs();
    for (let prefix = this.#stack.pop(); prefix !== undefined; prefix = this.#stack.pop()) {
      await this.#runFrom(prefix);
      if (this.#stopped !== null) break;
      if ((this.#runs & 15) !== 0) continue;
      const now = monotonicMs();
      if (now >= deadline) this.#stopped = 'time';
      if (now - breathedAt < 50) continue;
      breathedAt = now;
      await this.#breathe();
    }
    return this.#result();
  }

  async replay(prefix: Prefix): Promise<ExploreResult> {
    await this.#runFrom(prefix);
    this.#divergence = this.#store.divergence;
    this.#stack.length = 0;
    return this.#result();
  }

  async #runFrom(prefix: Prefix): Promise<void> {
    const store = this.#store;
    store.reset(prefix);
    const { turnsMax = 1_000, timeoutMs = 10_000, onTurn } = this.#options;
    const outcome = await runProgram(this.#program, store, {
      nextSession: store.nextSession,
      turnsMax,
      deadlineMs: monotonicMs() + timeoutMs,
      ...(onTurn === undefined ? {} : { onTurn }),
    });
    this.#runs += 1;
    // Popped last to first: the order of discovery.
    for (let i = store.branches.length - 1; i >= 0; i -= 1) this.#stack.push(store.branches[i] as Prefix);
    if (store.divergence !== null && this.#options.replay === undefined) throw nondeterministic(store.divergence);
    if (outcome.kind === 'timeout') {
      const { reason, session, lastOperation } = outcome;
      this.#stopped = reason === 'turns' ? 'endless' : { session, lastOperation };
    } else if (outcome.kind !== 'discarded') {
      if (store.isAtLevel()) await this.#judge(outcome);
      // Whether the history is at its level, or which final states it has, is then not known.
      if (store.gaveUp) this.#stopped ??= 'search';
    }
  }

  async #judge(outcome: Exclude<RunOutcome, { kind: 'timeout' | 'discarded' }>): Promise<void> {
    if (this.#histories === this.#options.historiesMax) {
      this.#stopped = 'histories';
      return;
    }
    this.#histories += 1;
    this.#options.onHistory?.(() => this.#store.history());
    const { message, marks } = await this.#verdictOf(outcome);
    for (const [name, held] of marks) this.#marks.set(name, (this.#marks.get(name) ?? 0) + (held ? 1 : 0));
    if (message === null) return;
    this.#violations += 1;
    const history = this.#store.history();
    const olderReads = this.#store.olderReads();
    if (this.#counterexample !== null && this.#counterexample.olderReads.size <= olderReads.size) return;
    const replay = encodePrefix(this.#store.prefix(), this.#program);
    this.#counterexample = { message, history, olderReads, replay };
  }

  /** The invariant, for every final state that the history allows if it looks at one. */
  async #verdictOf(
    outcome: Exclude<RunOutcome, { kind: 'timeout' | 'discarded' }>,
  ): Promise<{ message: string | null; marks: Marks }> {
    const marks = new Map(outcome.marks);
    if (outcome.kind === 'threw')
      return { message: `session "${outcome.session}" failed: ${errorText(outcome.error)}`, marks };
    const sometimes = (name: string, condition = true): void =>
      void marks.set(name, condition || (marks.get(name) ?? false));
    for (let path: number[] | null = []; path !== null; ) {
      const chooser = exploring(path);
      let final: Record<string, unknown> | null = null;
      const store = this.#store;
      const end = {
        results: outcome.results,
        get final() {
          return (final ??= store.finalState((options) => chooser.choose(options)));
        },
        sometimes,
      };
      const verdict = await judge(this.#program, end);
      if (verdict.kind === 'fails') return { message: verdict.message, marks };
      path = nextPath(chooser.path, chooser.options);
    }
    return { message: null, marks };
  }

  async #breathe(): Promise<void> {
    this.#options.onProgress?.({ histories: this.#histories, runs: this.#runs, violations: this.#violations });
    await new Promise((resolve) => setImmediate(resolve));
  }

  #result(): ExploreResult {
    return {
      level: this.#level,
      histories: this.#histories,
      violations: this.#violations,
      runs: this.#runs,
      complete: this.#stopped === null,
      divergence: this.#divergence,
      stopped: this.#stopped,
      marks: this.#marks,
      counterexample: this.#counterexample,
    };
  }
}

/** While it explores, a program only takes turns that it took before. */
function nondeterministic(divergence: string): InputError {
  return new InputError(
    'program/nondeterministic',
    `with the same choices the program does not do the same: ${divergence}; moirai test names the usual causes`,
  );
}
