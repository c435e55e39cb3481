/** The walk of explore-ce over the tree of prefixes: one run for each; what a run finds goes on the stack. */
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import { constrainingLevels, type ConstrainingLevel, parseLevel } from '../isolation/index.ts';
import { countMarks, type Program } from '../program/index.ts';
import type { Ending } from './behaviours.ts';
import { Counterexamples } from './counterexamples.ts';
import type { ExploreOptions, ExploreResult } from './explore.ts';
import type { Prefix } from './ordered-history.ts';
import { Runs } from './runs.ts';
import type { ExplorePart } from './sharing.ts';
import { encodePrefix } from './token.ts';
import { verdictOf, verdictOfPart } from './verdict.ts';

/** A prefix that waits, and its share of the tree if every branch were of the same size. */
export interface Waiting {
  readonly prefix: Prefix;
  readonly mass: number;
}

/** A prefix of each session. */
export interface ProgramPart {
  /** How many transactions each session may begin. */
  readonly transactions: readonly number[];
  /** Called for each session that a history leaves where it would begin one more. */
  readonly onCut: (session: number) => void;
}

export class Exploration {
  /** Was a violation an error of a session? */
  hasThrown = false;
  readonly #program: Program;
  readonly #options: ExploreOptions;
  readonly #level: ConstrainingLevel;
  /** The runs that were made, with what is remembered of them. */
  readonly #made: Runs;
  readonly #part: ProgramPart | null;
  readonly #stack: Waiting[] = [];
  #doneMass = 0;
  readonly #marks = new Map<string, number>();
  #histories = 0;
  #violations = 0;
  #runs = 0;
  #stopped: ExploreResult['stopped'] = null;
  #divergence: string | null = null;
  readonly #counterexamples: Counterexamples;

  /**
   * @param made runs of the same program with the same options, whose memory is shared
   * @param part of the program: then only errors of sessions are violations
   */
  constructor(
    program: Program,
    options: ExploreOptions,
    made: Runs = new Runs(program, options),
    part: ProgramPart | null = null,
    counterexamples = new Counterexamples(options.violationsMax ?? 5),
  ) {
    this.#program = program;
    this.#options = options;
    this.#level = parseLevel(options.level ?? 'causal', constrainingLevels);
    this.#made = made;
    this.#part = part;
    this.#counterexamples = counterexamples;
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

  get hasStopped(): boolean {
    return this.#stopped !== null;
  }

  /** The share of the tree that was walked, if every branch were of the same size. */
  get doneMass(): number {
    return this.#doneMass;
  }

  stop(reason: ExploreResult['stopped']): void {
    this.#stopped ??= reason;
  }

  /** Takes over what another exploration of the same program found. */
  merge({ result, doneMass, examples }: ExplorePart): void {
    this.#histories += result.histories;
    this.#violations += result.violations;
    this.#runs += result.runs;
    this.#doneMass += doneMass;
    countMarks(this.#marks, result.marks);
    this.#counterexamples.merge(examples);
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
    const { store } = this.#made;
    return { branches: [...store.branches], isAtLevel: this.#stopped === null && store.isAtLevel() };
  }

  async replay(prefix: Prefix): Promise<ExploreResult> {
    await this.#runFrom(prefix, 1);
    this.#divergence = this.#made.store.divergence;
    this.stop('replay');
    return this.result();
  }

  async #runFrom(prefix: Prefix, mass: number, judges = true): Promise<void> {
    this.#runs += 1;
    const ending = await this.#made.from(prefix, this.#part?.transactions ?? null);
    const { branches } = this.#made.store;
    // Popped last to first: the order of discovery.
    const part = mass / (branches.length + 1);
    this.#doneMass += part;
    for (let i = branches.length - 1; i >= 0; i -= 1) this.#stack.push({ prefix: branches[i] as Prefix, mass: part });
    if (ending.kind === 'timeout') {
      const { reason, session, lastOperation } = ending;
      this.#stopped = reason === 'turns' ? 'endless' : { session, lastOperation };
    } else if (judges) await this.#judge(ending);
  }

  async #judge(ending: Ending): Promise<void> {
    const { store } = this.#made;
    const isAtLevel = store.isAtLevel();
    if (isAtLevel && this.#histories === this.#options.historiesMax) this.#stopped = 'histories';
    else if (isAtLevel) await this.#count(ending);
    // Whether the history is at its level, or which final states it has, is then not known.
    if (store.gaveUp) this.#stopped ??= 'search';
  }

  async #count(ending: Ending): Promise<void> {
    const { store } = this.#made;
    this.#histories += 1;
    if (this.#part === null) this.#options.onHistory?.(() => store.history());
    const { message, marks } =
      this.#part === null ? await verdictOf(this.#program, store, ending) : verdictOfPart(ending);
    for (const session of store.cut) this.#part?.onCut(session);
    countMarks(this.#marks, marks);
    if (message === null) return;
    this.#violations += 1;
    this.hasThrown ||= ending.kind === 'threw';
    this.#counterexamples.add({
      message,
      history: () => store.history(),
      olderReads: store.olderReads(),
      replay: encodePrefix(store.prefix(), this.#program),
    });
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

  /** @param names are counterexamples wanted? That takes time. */
  result(names = true): ExploreResult {
    const counterexamples = names ? this.#counterexamples.all() : [];
    return {
      level: this.#level,
      histories: this.#histories,
      violations: this.#violations,
      runs: this.#runs,
      complete: this.#stopped === null && this.#stack.length === 0,
      divergence: this.#divergence,
      prefix: null,
      stopped: this.#stopped,
      marks: this.#marks,
      counterexample: counterexamples[0] ?? null,
      counterexamples,
    };
  }
}
