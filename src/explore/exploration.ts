/** The walk of explore-ce over the tree of prefixes: one run for each; what a run finds goes on the stack. */
import { assert } from '../base/assert.ts';
import { exploring, nextPath } from '../base/chooser.ts';
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import { constrainingLevels, type ConstrainingLevel, parseLevel } from '../isolation/index.ts';
import { errorText, judge, type Marks, type Program, runProgram } from '../program/index.ts';
import { Behaviours, type Ending, type Recording } from './behaviours.ts';
import { Counterexamples } from './counterexamples.ts';
import type { ExploreOptions, ExploreResult } from './explore.ts';
import { ExploringStore } from './exploring-store.ts';
import type { Prefix } from './ordered-history.ts';
import type { ExplorePart } from './sharing.ts';
import { encodePrefix } from './token.ts';

/** A prefix that waits, and its share of the tree if every branch were of the same size. */
export interface Waiting {
  readonly prefix: Prefix;
  readonly mass: number;
}

export class Exploration {
  readonly #program: Program;
  readonly #options: ExploreOptions;
  readonly #level: ConstrainingLevel;
  readonly #store: ExploringStore;
  readonly #behaviours: Behaviours;
  /** Is a session that reads what it read before not run again? */
  #reuses: boolean;
  readonly #stack: Waiting[] = [];
  #doneMass = 0;
  readonly #marks = new Map<string, number>();
  #histories = 0;
  #violations = 0;
  #runs = 0;
  #stopped: ExploreResult['stopped'] = null;
  #divergence: string | null = null;
  readonly #counterexamples: Counterexamples;

  constructor(program: Program, options: ExploreOptions) {
    this.#program = program;
    this.#options = options;
    this.#level = parseLevel(options.level ?? 'causal', constrainingLevels);
    this.#store = new ExploringStore(program, this.#level, options.stepsMax);
    this.#behaviours = new Behaviours(program);
    this.#reuses = options.reruns !== true && options.replay === undefined;
    this.#counterexamples = new Counterexamples(options.violationsMax ?? 5);
    const { historiesMax, turnsMax, violationsMax } = options;
    for (const [name, value] of Object.entries({ historiesMax, turnsMax, violationsMax })) {
      if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)) {
        throw new InputError(`option/${name}`, `${name} must be a whole number of at least 1, not ${value}`);
      }
    }
  }

  add(waiting: readonly Waiting[]): void {
    this.#stack.push(...waiting);
  }

  /** What waits; it is given away. */
  take(): Waiting[] {
    return this.#stack.splice(0);
  }

  /** Is there something to do, and no reason to stop? */
  get goesOn(): boolean {
    return this.#stack.length > 0 && this.#stopped === null;
  }

  get mayGoOn(): boolean {
    return this.#stopped === null;
  }

  /** The share of the tree that was walked, if every branch were of the same size. */
  get doneMass(): number {
    return this.#doneMass;
  }

  stop(reason: ExploreResult['stopped']): void {
    this.#stopped ??= reason;
  }

  /** Takes over what another exploration of the same program found. */
  merge({ result, doneMass }: ExplorePart): void {
    this.#histories += result.histories;
    this.#violations += result.violations;
    this.#runs += result.runs;
    this.#doneMass += doneMass;
    for (const [name, held] of result.marks) this.#marks.set(name, (this.#marks.get(name) ?? 0) + held);
    this.#counterexamples.merge(result.counterexamples);
    this.#stopped ??= result.stopped;
    if (this.#histories >= (this.#options.historiesMax ?? Infinity)) this.#stopped ??= 'histories';
    this.#tell();
  }

  /** Goes on until nothing waits, the exploration has to stop, or so many runs were made. */
  async run(deadlineMs: number, runsMax = Infinity): Promise<void> {
    const end = this.#runs + runsMax;
    let breathedAt = monotonicMs();
    while (this.#stack.length > 0 && this.#stopped === null && this.#runs < end) {
      const { prefix, mass } = this.#stack.pop() as Waiting;
      await this.#runFrom(prefix, mass);
      if (this.#options.failsFast === true && this.#violations > 0) this.stop('violation');
      if ((this.#runs & 15) !== 0) continue;
      const now = monotonicMs();
      if (now >= deadlineMs) this.#stopped ??= 'time';
      if (now - breathedAt < 50) continue;
      breathedAt = now;
      await this.#breathe();
    }
  }

  /** One run from a prefix, not judged. @returns the prefixes that it found, and whether its history is at its level */
  async probe(prefix: Prefix): Promise<{ readonly branches: readonly Prefix[]; readonly isAtLevel: boolean }> {
    await this.#runFrom(prefix, 0, false);
    this.#stack.length = 0;
    return { branches: [...this.#store.branches], isAtLevel: this.#stopped === null && this.#store.isAtLevel() };
  }

  async replay(prefix: Prefix): Promise<ExploreResult> {
    await this.#runFrom(prefix, 1);
    this.#divergence = this.#store.divergence;
    this.#stack.length = 0;
    return this.result();
  }

  async #runFrom(prefix: Prefix, mass: number, judges = true): Promise<void> {
    const ending = await this.#endFrom(prefix, judges);
    const { branches } = this.#store;
    // Popped last to first: the order of discovery.
    const part = mass / (branches.length + 1);
    this.#doneMass += part;
    for (let i = branches.length - 1; i >= 0; i -= 1) this.#stack.push({ prefix: branches[i] as Prefix, mass: part });
    if (ending !== null && judges) await this.#judge(ending);
  }

  /** How the run from a prefix ends; `null` where it does not, and the exploration stops. */
  async #endFrom(prefix: Prefix, judges: boolean): Promise<Ending | null> {
    this.#runs += 1;
    if (!this.#reuses) return this.#runProgram(prefix, null);
    if (this.#behaviours.size + this.#store.size > REMEMBERED_MAX) {
      this.#behaviours.forget();
      this.#store.forget();
    }
    const { turnsMax = TURNS_MAX, onTurn } = this.#options;
    onTurn?.(0, () => 'nothing new');
    this.#store.reset(prefix);
    const known = this.#behaviours.replay(this.#store, turnsMax);
    const { samplesFirst = SAMPLED_FIRST } = this.#options;
    const isSampled = this.#runs <= samplesFirst || this.#runs % SAMPLED_EVERY === 0;
    if (known !== null && !(isSampled && judges)) return known;
    const guess = known === null || !this.#store.isAtLevel() ? null : await this.#verdictOf(known);
    const ending = await this.#runProgram(prefix, this.#behaviours.record(this.#store));
    if (guess !== null && ending !== null && !isSameVerdict(guess, await this.#verdictOf(ending))) {
      // From here on, everything runs every time. What was judged before these first runs were over was judged after a run.
      if (this.#runs > samplesFirst) throw outsideState();
      this.#reuses = false;
    }
    return ending;
  }

  async #runProgram(prefix: Prefix, recording: Recording | null): Promise<Ending | null> {
    const store = this.#store;
    store.reset(prefix);
    const { turnsMax = TURNS_MAX, timeoutMs = 10_000, onTurn } = this.#options;
    const outcome = await runProgram(recording?.program ?? this.#program, recording?.store ?? store, {
      nextSession: store.nextSession,
      turnsMax,
      deadlineMs: monotonicMs() + timeoutMs,
      ...(onTurn === undefined ? {} : { onTurn }),
    });
    const difference = recording?.difference() ?? store.divergence;
    if (difference !== null && this.#options.replay === undefined) throw nondeterministic(difference);
    assert(outcome.kind !== 'discarded', 'the store commits everything');
    if (outcome.kind !== 'timeout') return outcome;
    const { reason, session, lastOperation } = outcome;
    this.#stopped = reason === 'turns' ? 'endless' : { session, lastOperation };
    return null;
  }

  async #judge(ending: Ending): Promise<void> {
    const isAtLevel = this.#store.isAtLevel();
    if (isAtLevel && this.#histories === this.#options.historiesMax) this.#stopped = 'histories';
    else if (isAtLevel) await this.#count(ending);
    // Whether the history is at its level, or which final states it has, is then not known.
    if (this.#store.gaveUp) this.#stopped ??= 'search';
  }

  async #count(ending: Ending): Promise<void> {
    this.#histories += 1;
    this.#options.onHistory?.(() => this.#store.history());
    const { message, marks } = await this.#verdictOf(ending);
    for (const [name, held] of marks) this.#marks.set(name, (this.#marks.get(name) ?? 0) + (held ? 1 : 0));
    if (message === null) return;
    this.#violations += 1;
    this.#counterexamples.add({
      message,
      history: () => this.#store.history(),
      olderReads: this.#store.olderReads(),
      replay: () => encodePrefix(this.#store.prefix(), this.#program),
    });
  }

  /** The invariant, for every final state that the history allows if it looks at one. */
  async #verdictOf(ending: Ending): Promise<HistoryVerdict> {
    const marks = new Map(ending.marks);
    if (ending.kind === 'threw')
      return { message: `session "${ending.session}" failed: ${errorText(ending.error)}`, marks };
    const sometimes = (name: string, condition = true): void =>
      void marks.set(name, condition || (marks.get(name) ?? false));
    for (let path: number[] | null = []; path !== null; ) {
      const chooser = exploring(path);
      let final: Record<string, unknown> | null = null;
      const store = this.#store;
      const end = {
        results: ending.results,
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
    this.#tell();
    await new Promise((resolve) => setImmediate(resolve));
  }

  #tell(): void {
    this.#options.onProgress?.({
      histories: this.#histories,
      runs: this.#runs,
      violations: this.#violations,
      expectedRuns: this.#runs / this.#doneMass,
    });
  }

  result(): ExploreResult {
    const counterexamples = this.#counterexamples.all();
    return {
      level: this.#level,
      histories: this.#histories,
      violations: this.#violations,
      runs: this.#runs,
      complete: this.#stopped === null && this.#stack.length === 0,
      divergence: this.#divergence,
      stopped: this.#stopped,
      marks: this.#marks,
      counterexample: counterexamples[0] ?? null,
      counterexamples,
    };
  }
}

const TURNS_MAX = 1_000;

/** Steps, keys and values that are remembered, so that memory does not grow with the histories. */
const REMEMBERED_MAX = 200_000;

/** So many runs at first, and one of so many after that, are made by the program even where it is known what it does. */
const SAMPLED_FIRST = 64;
const SAMPLED_EVERY = 64;

interface HistoryVerdict {
  readonly message: string | null;
  readonly marks: Marks;
}

function isSameVerdict(a: HistoryVerdict, b: HistoryVerdict): boolean {
  if (a.message !== b.message || a.marks.size !== b.marks.size) return false;
  for (const [name, held] of a.marks) if (b.marks.get(name) !== held) return false;
  return true;
}

function outsideState(): InputError {
  return new InputError(
    'program/outside-state',
    'the verdict changes when sessions run again that read the same values: the invariant, or a session, looks at something that a session ' +
      'leaves outside the store; return it from the session, or let every session run every time (--rerun)',
  );
}

/** While it explores, a program only takes turns that it took before. */
function nondeterministic(divergence: string): InputError {
  return new InputError(
    'program/nondeterministic',
    `with the same choices the program does not do the same: ${divergence}; moirai test names the usual causes`,
  );
}
