/**
 * Runs of a program from prefixes: by what is remembered of its sessions where that is enough, by the program where it is not. Samples are run
 * by the program all the same; a verdict that differs shows a program whose sessions or invariant look at more than what was read.
 */
import { assert } from '../base/assert.ts';
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import { looksElsewhere, type Program, runProgram, type RunOutcome } from '../program/index.ts';
import { Behaviours, type Ending } from './behaviours.ts';
import type { ExploreOptions } from './explore.ts';
import { ExploringStore } from './exploring-store.ts';
import type { Prefix } from './ordered-history.ts';
import { isSameVerdict, verdictOf } from './verdict.ts';

/** A run that does not end. */
export type Late = RunOutcome & { readonly kind: 'timeout' };

export class Runs {
  /** Holds the run that was made last. */
  readonly store: ExploringStore;
  readonly #program: Program;
  readonly #options: ExploreOptions;
  readonly #behaviours: Behaviours;
  readonly #samplesFirst: number;
  readonly #turnsMax: number;
  /** Is a session that reads what it read before not run again? */
  #reuses: boolean;
  /** Of the whole program. */
  #runs = 0;

  constructor(program: Program, options: ExploreOptions) {
    const { samplesFirst = 32, turnsMax = 1_000, reruns = false, replay } = options;
    this.#program = program;
    this.#options = options;
    this.store = new ExploringStore(program, options);
    this.#behaviours = new Behaviours(program);
    this.#samplesFirst = samplesFirst;
    this.#turnsMax = turnsMax;
    this.#reuses = !reruns && replay === undefined && !looksElsewhere(program);
  }

  /**
   * @param bounds how many transactions each session may begin; where it would begin one more, it stays
   * @throws InputError `program/nondeterministic`, `program/outside-state`, `program/outside-await`
   */
  async from(prefix: Prefix, bounds: readonly number[] | null = null): Promise<Ending | Late> {
    if (bounds === null) this.#runs += 1;
    if (!this.#reuses) return this.#byProgram(prefix, bounds);
    this.#forgetIfLarge();
    this.#options.onTurn?.(0, () => 'nothing new');
    this.store.reset(prefix, bounds);
    const known = this.#behaviours.replay(this.store, this.#turnsMax);
    if (known === null) return this.#byProgram(prefix, bounds);
    const isSample = this.#runs <= this.#samplesFirst || this.#runs % SAMPLES_EVERY === 0;
    return isSample && bounds === null ? this.#sample(prefix, known) : known;
  }

  async #sample(prefix: Prefix, known: Ending): Promise<Ending | Late> {
    const guess = this.store.isAtLevel() ? await verdictOf(this.#program, this.store, known) : null;
    const ending = await this.#byProgram(prefix, null);
    if (guess === null || ending.kind === 'timeout') return ending;
    if (isSameVerdict(guess, await verdictOf(this.#program, this.store, ending))) return ending;
    // So far every verdict came from a run: from here on, all do.
    if (this.#runs > this.#samplesFirst) throw outsideState();
    this.#reuses = false;
    return ending;
  }

  async #byProgram(prefix: Prefix, bounds: readonly number[] | null): Promise<Ending | Late> {
    const { store } = this;
    store.reset(prefix, bounds);
    const { timeoutMs = 10_000, onTurn, replay } = this.#options;
    const recording = this.#behaviours.record(store);
    const outcome = await runProgram(recording.program, recording.store, {
      nextSession: store.nextSession,
      turnsMax: this.#turnsMax,
      deadlineMs: monotonicMs() + timeoutMs,
      ...(onTurn === undefined ? {} : { onTurn }),
    });
    assert(outcome.kind !== 'discarded', 'the store commits everything');
    if (outcome.kind !== 'timeout' && outcome.waitedOutside.length > 0) throw outsideAwait(outcome.waitedOutside);
    const difference = recording.difference() ?? store.divergence;
    if (difference !== null && replay === undefined) throw nondeterministic(difference);
    return outcome;
  }

  /** So that memory does not grow with the histories. */
  #forgetIfLarge(): void {
    const { rememberedMax = 200_000 } = this.#options;
    if (this.#behaviours.size + this.store.size <= rememberedMax) return;
    this.#behaviours.forget();
    this.store.forget();
  }
}

const SAMPLES_EVERY = 64;

function outsideState(): InputError {
  return new InputError(
    'program/outside-state',
    'the verdict changes when sessions run again that read the same values: the invariant, or a session, looks at something that a session ' +
      'leaves outside the store; return it from the session, or let every session run every time (reruns)',
  );
}

function outsideAwait(sessions: readonly string[]): InputError {
  return new InputError(
    'program/outside-await',
    `session ${sessions.map((name) => `"${name}"`).join(', ')} awaits something that is not the store's (a timer, a socket, a file, another ` +
      'session): explore decides the order of transactions and what reads see, and nothing else',
  );
}

/** While it explores, a program only takes turns that it took before. */
function nondeterministic(difference: string): InputError {
  return new InputError(
    'program/nondeterministic',
    `with the same choices the program does not do the same: ${difference}; moirai test names the usual causes`,
  );
}
