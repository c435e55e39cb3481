/** The walk of explore-ce over the tree of prefixes: one run for each; what a run finds is pushed on the stack. */
import { Breather, monotonicMs, InputError } from '../base/index.ts';
import { constrainingLevels, type ConstrainingLevel, parseLevel } from '../isolation/index.ts';
import type { Program } from '../program/index.ts';
import type { Ending } from './behaviours.ts';
import { type ExploreCheckpoint, requireSameSubject, type Subject, subjectOf, type Waiting } from './checkpoint.ts';
import { Counterexamples } from './counterexamples.ts';
import { Findings } from './findings.ts';
import type { Prefix } from './ordered-history.ts';
import { type Late, Runs } from './runs.ts';
import { verdictOfPart } from './verdict.ts';
import type { ExploreOptions } from './explore-options.ts';
import type { Counterexample, ExploreResult, Estimate } from './explore-result.ts';
import type { ExplorePart } from './explore-part.ts';

/** How much to do before the caller looks again. */
export interface Slice {
  readonly runsMax?: number;
  readonly timeMs?: number;
}

/** A prefix of each session. */
export interface ProgramPart {
  /** How many transactions each session may begin. */
  readonly transactions: readonly number[];
  /** Called for each session that a history leaves where it would begin one more. */
  readonly onCut: (session: number) => void;
}

export class Exploration {
  readonly #program: Program;
  readonly #options: ExploreOptions;
  readonly #level: ConstrainingLevel;
  /** The runs that were made, with what is remembered of them. */
  readonly #made: Runs;
  readonly #part: ProgramPart | null;
  readonly #stack: Waiting[] = [];
  #doneMass = 0;
  #runs = 0;
  #stopped: ExploreResult['stopped'] = null;
  #divergence: string | null = null;
  #estimate: Estimate | null = null;
  readonly #counterexamples: Counterexamples;
  readonly #found: Findings;
  /** Between the first and the last change that a run, or a part, makes to what is known. */
  #isChanging = false;
  #checkpointedMs = monotonicMs();

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
    this.#found = new Findings(program, made, counterexamples);
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

  /** Gives away what waits. */
  releaseWaiting(): Waiting[] {
    return this.#stack.splice(0);
  }

  /** Is there something to do, and no reason to stop? */
  get canContinue(): boolean {
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

  setEstimate(estimate: Estimate | null): void {
    this.#estimate = estimate;
  }

  /**
   * Where it stands now; `null`: in the middle of a change.
   * @param elsewhere prefixes that threads work on
   */
  checkpoint(elsewhere: readonly Waiting[] = []): ExploreCheckpoint | null {
    if (this.#isChanging) return null;
    return {
      subject: this.#subject(),
      waiting: [...this.#stack, ...elsewhere],
      doneMass: this.#doneMass,
      runs: this.#runs,
      ...this.#found.saved(),
      learned: this.#made.learned(),
    };
  }

  /** Continues from there: before the first run. @throws InputError `explore/checkpoint` */
  restore(checkpoint: ExploreCheckpoint): void {
    requireSameSubject(checkpoint, this.#subject());
    this.add(checkpoint.waiting);
    this.#doneMass = checkpoint.doneMass;
    this.#runs = checkpoint.runs;
    this.#found.restore(checkpoint);
    this.#made.restore(checkpoint.learned);
  }

  #subject(): Subject {
    return subjectOf(this.#program, this.#level, this.#options);
  }

  /** Gives a checkpoint where it is time for one. */
  checkpointIfDue(elsewhere: readonly Waiting[] = []): void {
    const { onCheckpoint, checkpointEveryMs = 30_000 } = this.#options;
    if (onCheckpoint === undefined || monotonicMs() - this.#checkpointedMs < checkpointEveryMs) return;
    const checkpoint = this.checkpoint(elsewhere);
    if (checkpoint !== null) onCheckpoint(checkpoint);
    this.#checkpointedMs = monotonicMs();
  }

  /** A change of what is known that must be seen as a whole. */
  change(act: () => void): void {
    this.#isChanging = true;
    act();
    this.#isChanging = false;
  }

  /** Takes over what another exploration of the same program found. */
  merge(part: ExplorePart): void {
    this.#found.merge(part);
    this.#runs += part.result.runs;
    this.#doneMass += part.doneMass;
    this.#stopped ??= part.result.stopped;
    if (this.#found.histories >= (this.#options.historiesMax ?? Infinity)) this.#stopped ??= 'histories';
    this.#reportProgress();
  }

  /** Runs until nothing waits, the exploration has to stop, or so many runs were made, or for so long. */
  async run({ runsMax = Infinity, timeMs = Infinity }: Slice = {}): Promise<void> {
    const runsEnd = this.#runs + runsMax;
    const timeEnd = monotonicMs() + timeMs;
    const breather = new Breather();
    while (this.canContinue && this.#runs < runsEnd && monotonicMs() < timeEnd) {
      const over = this.#made.budget.over;
      if (over !== null) return this.stop(over);
      await this.#runNext();
      if (this.#options.failsFast === true && this.#found.violations > 0) this.stop('violation');
      if (!(await breather.breathe())) continue;
      this.#reportProgress();
      this.checkpointIfDue();
    }
  }

  /** One run from a prefix, not judged. @returns the prefixes that it found, and whether its history is at its level */
  async probe(prefix: Prefix): Promise<{ readonly branches: readonly Prefix[]; readonly isAtLevel: boolean }> {
    this.#stack.push({ prefix, mass: 0 });
    await this.#runNext(false);
    this.#stack.length = 0;
    const { store } = this.#made;
    return { branches: [...store.branches], isAtLevel: this.#stopped === null && store.isAtLevel() };
  }

  async replay(prefix: Prefix): Promise<ExploreResult> {
    this.#stack.push({ prefix, mass: 1 });
    await this.#runNext();
    this.#divergence = this.#made.store.divergence;
    this.stop('replay');
    return this.result();
  }

  /** The run stays on the stack until it is made and judged: one that ends early is still to be made. */
  async #runNext(judges = true): Promise<void> {
    const waiting = this.#stack.at(-1) as Waiting;
    const ending = await this.#made.from(waiting.prefix, this.#part?.transactions ?? null);
    if (ending.kind === 'timeout') return this.#endLate(stuckOf(ending));
    if (judges && !(await this.#judge(ending))) return this.#endLate({ session: null, lastOperation: 'nothing' });
    this.#isChanging = true;
    this.#stack.pop();
    this.#runs += 1;
    // Popped last to first: the order of discovery.
    const { branches } = this.#made.store;
    const part = waiting.mass / (branches.length + 1);
    this.#doneMass += part;
    for (let i = branches.length - 1; i >= 0; i -= 1) this.#stack.push({ prefix: branches[i] as Prefix, mass: part });
    this.#isChanging = false;
  }

  #endLate(stuck: ExploreResult['stopped']): void {
    this.#stopped ??= this.#made.budget.over ?? stuck;
  }

  /**
   * @returns false where the run is still to be judged: the invariant did not end, the search for a commit order gave up before a violation was
   * found, or the history is one too many
   */
  async #judge(ending: Ending): Promise<boolean> {
    const { store } = this.#made;
    const isAtLevel = store.isAtLevel();
    if (isAtLevel && this.#found.histories >= (this.#options.historiesMax ?? Infinity)) this.#stopped = 'histories';
    if (this.#stopped === 'histories') return false;
    const isCounted = isAtLevel && (await this.#count(ending));
    // Whether the history is at its level, or which final states it has, is then not known.
    if (store.gaveUp) this.#stopped ??= 'search';
    return isCounted || !(isAtLevel || store.gaveUp);
  }

  async #count(ending: Ending): Promise<boolean> {
    const { store } = this.#made;
    const verdict = this.#part === null ? await this.#made.verdictOf(ending) : verdictOfPart(ending);
    if (verdict.isLate === true || (verdict.message === null && store.gaveUp)) return false;
    if (verdict.mistake !== undefined && !(await this.#made.requireTiming())) return false;
    this.#isChanging = true; // until its branches wait
    if (this.#part === null) this.#options.onHistory?.(() => store.history());
    for (const session of store.cut) this.#part?.onCut(session);
    this.#found.add(store, verdict, ending.kind === 'threw');
    return true;
  }

  #reportProgress(): void {
    this.#options.onProgress?.({
      histories: this.#found.histories,
      runs: this.#runs,
      violations: this.#found.violations,
      share: this.#doneMass,
      expectedRuns: this.#estimate === null ? null : this.#runs + (1 - this.#doneMass) * this.#estimate.runs,
    });
  }

  /** From within a run: nothing is proven yet, and not for long. */
  soFar(): ExploreResult {
    return { ...this.result(this.#named(NAMING_MS)), complete: false };
  }

  /** Was a violation an error of a session? */
  get hasThrown(): boolean {
    return this.#found.hasThrown;
  }

  /** What a verdict takes for granted, but for keys: another thread may know them. */
  get assumed(): string[] {
    return this.#found.assumed;
  }

  result(counterexamples = this.#named(this.#made.budget.over === null ? Infinity : NAMING_MS)): ExploreResult {
    const isComplete = this.#stopped === null && this.#stack.length === 0;
    return {
      level: this.#level,
      histories: this.#found.histories,
      violations: this.#found.violations,
      runs: this.#runs,
      complete: isComplete,
      divergence: this.#divergence,
      replayed: null,
      prefix: null,
      stopped: this.#stopped,
      marks: this.#found.marks,
      counterexample: counterexamples[0] ?? null,
      counterexamples,
      estimate: this.#estimate,
      evidence: this.#found.evidence(this.#level, this.#stopped, isComplete),
    };
  }

  /** To name them takes time. */
  #named(timeMs: number): Counterexample[] {
    return this.#counterexamples.all(monotonicMs() + timeMs, () => this.#options.onTurn?.(0, () => 'nothing new'));
  }
}

function stuckOf({ reason, session, lastOperation }: Late): ExploreResult['stopped'] {
  return reason === 'turns' ? 'endless' : { session, lastOperation };
}

/** When the time is over, or the user has had enough. */
const NAMING_MS = 300;
