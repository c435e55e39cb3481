/**
 * Runs of a program from prefixes: by what is remembered of its sessions where that is enough, by the program where it is not. Samples are run
 * by the program all the same; a verdict that differs shows a program whose sessions or invariant look at more than what was read.
 */
import { assert, Budget, InputError } from '../base/index.ts';
import type { RolledBack } from '../evidence/index.ts';
import { mockDatabase, serial } from '../mockdb/index.ts';
import {
  ControlledSources,
  endOf,
  fact,
  type Fact,
  factsOf,
  inEveryOrder,
  InvariantKeys,
  invariantThrew,
  judge,
  JudgedAgain,
  type JudgeLimits,
  LeftBehind,
  queuedText,
  looksElsewhere,
  type Program,
  type Repeated,
  requireFunctionOfReads,
  requireNoForcedDifference,
  runProgram,
  type RunOutcome,
  type SerialOutcome,
  type SessionRun,
  type Store,
  type Trial,
} from '../program/index.ts';
import { Behaviours, type Ending, type HistoryVerdict } from './behaviours.ts';
import type { Learned } from './checkpoint.ts';
import { ExploringStore } from './exploring-store.ts';
import type { Prefix } from './ordered-history.ts';
import { isSameVerdict, verdictOf, verdictOfPart } from './verdict.ts';
import type { ExploreOptions } from './explore-options.ts';

/** A run that does not end. */
export type Late = RunOutcome & { readonly kind: 'timeout' };

export class Runs {
  /** Holds the run that was made last. */
  readonly store: ExploringStore;
  /** Of all of them together. */
  readonly budget: Budget;
  /** What the invariant asked for, and the sessions read and wrote. */
  readonly keys: InvariantKeys;
  /** What it says where one value is changed. */
  readonly judgedAgain: JudgedAgain;
  readonly #original: Program;
  readonly #sources: ControlledSources<Program>;
  /** Its sources of randomness and time are controlled. */
  readonly #program: Program;
  readonly #options: ExploreOptions;
  readonly #behaviours: Behaviours;
  readonly #samplesFirst: number;
  readonly #turnsMax: number;
  readonly #leftBehind = new LeftBehind();
  /** Sessions that started a transaction while another of theirs was under way. */
  readonly #queued = new Set<string>();
  /** Is a session that reads what it read before not run again? */
  #reuses: boolean;
  /** Of the whole program. */
  #runs = 0;
  /** The sessions that failed in every run of the program so far, with the first of the errors. */
  readonly #failures: (string | null | undefined)[] = [];
  /** Those of which an error rolled back a transaction in every run, with the first of the errors. */
  readonly #rolledBack: (RolledBack | null | undefined)[] = [];
  /** Does the invariant judge some serial run? */
  #isOfTiming = false;
  /** Was a run of the program repeated to see that it is a function of what it reads? */
  #isRepeated = false;

  /** @throws InputError `explore/conflicts` */
  constructor(program: Program, options: ExploreOptions, budget = new Budget({})) {
    requireRetries(program);
    const { samplesFirst = 32, turnsMax = 1_000, reruns = false, replay } = options;
    this.#original = program;
    this.#sources = new ControlledSources(program);
    this.keys = new InvariantKeys(program);
    this.judgedAgain = new JudgedAgain(this.#sources.program);
    this.#program = this.judgedAgain.around(this.keys.around(this.#sources.program));
    this.#options = options;
    this.budget = budget;
    this.store = new ExploringStore(program, options);
    this.#behaviours = new Behaviours(this.#program);
    this.#samplesFirst = samplesFirst;
    this.#turnsMax = turnsMax;
    this.#reuses = !reruns && replay === undefined && !looksElsewhere(program);
  }

  /**
   * Runs from prefixes are made in `run`: a later one in which a source of nondeterminism is called is repeated, too.
   * @throws InputError `program/uncaught`
   */
  async watching<T>(run: () => Promise<T>): Promise<T> {
    this.#sources.begin('when-called');
    this.#leftBehind.begin();
    try {
      const made = await run();
      await this.#leftBehind.settle();
      return made;
    } finally {
      this.#leftBehind.end();
      this.#sources.end();
    }
  }

  /** What the program started and did not await comes to its end, within a bound. @throws InputError `program/uncaught` */
  drain(): Promise<void> {
    return this.#leftBehind.drain();
  }

  /**
   * @param bounds how many transactions each session may begin; where it would begin one more, it stays
   * @throws InputError `program/nondeterministic`, `program/outside-state`, `program/outside-await`, `program/uncaught`
   */
  async from(prefix: Prefix, bounds: Bounds = null): Promise<Ending | Late> {
    this.#leftBehind.requireNone();
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

  /**
   * A run in which the last session goes first. Histories do not tell the order of independent transactions, and one order of each was run: a session
   * that looks at memory which another one changes may do something else here after the same values.
   * @throws InputError `program/nondeterministic`
   */
  async lastSessionFirst(): Promise<void> {
    const { store } = this;
    const difference = await this.#sources.made(async () => {
      store.reset([], null);
      const { program, store: noting, difference: found } = this.#behaviours.record(store);
      await this.#run(program, noting, { nextSession: (waiting) => waiting.at(-1) ?? null });
      return found();
    });
    if (difference !== null) throw nondeterministic(difference);
  }

  /** Whether the invariant can fail at all: for a proof. */
  judgeAgain(): Promise<void> {
    return this.#leftBehind.ignoring(() => this.judgedAgain.judge(this.#limits(), this.#options.judging));
  }

  async #sample(prefix: Prefix, known: Ending): Promise<Ending | Late> {
    const guess = this.store.isAtLevel() ? await this.verdictOf(known) : null;
    const ending = await this.#byProgram(prefix, null);
    if (guess === null || guess.isLate === true || ending.kind === 'timeout') return ending;
    const verdict = await this.verdictOf(ending);
    if (verdict.isLate === true || isSameVerdict(guess, verdict)) return ending;
    // So far every verdict came from a run: from here on, all do.
    if (this.#runs > this.#samplesFirst) throw outsideState();
    this.#reuses = false;
    return ending;
  }

  /** On the run that the store holds. */
  verdictOf(ending: Ending): Promise<HistoryVerdict> {
    this.#options.onTurn?.(null, () => 'nothing');
    return this.#sources.made(() => verdictOf(this.#program, this.store, ending, this.#limits()));
  }

  /** Of a run, or of a verdict, that begins now. */
  #limits(): JudgeLimits & { readonly deadlineMs: number } {
    const { signal } = this.budget;
    const deadlineMs = this.budget.deadlineOf(this.#options.timeoutMs ?? 10_000);
    return signal === undefined ? { deadlineMs } : { deadlineMs, signal };
  }

  /**
   * An invariant that threw an error of its own code does not do so in every serial run.
   * @returns false where there was no time left to know
   * @throws InputError `program/invariant-threw`
   */
  async requireTiming(): Promise<boolean> {
    if (this.#isOfTiming) return true;
    const outcome = await inEveryOrder(this.#original.sessions.length, (order) =>
      this.#sources.made(() => this.#mistakeIn(order)),
    );
    if (outcome.kind === 'fails') throw invariantThrew(outcome.failure);
    this.#isOfTiming = outcome.kind === 'fine';
    return this.#isOfTiming;
  }

  /** In a run in which the sessions go one after another. */
  async #mistakeIn(order: readonly number[]): Promise<SerialOutcome<Error>> {
    const { program } = this.#sources;
    const { initial, sessionNames } = program;
    const decisions = serial(order);
    const database = mockDatabase({ level: 'serializable', initial, sessionNames, decisions });
    const outcome = await this.#run(program, database, { nextSession: decisions.session });
    if (outcome.kind === 'timeout' && this.budget.over !== null) return { kind: 'late' };
    if (outcome.kind !== 'finished') return { kind: 'fine' };
    const end = endOf(outcome.results, new Map(outcome.marks), () => database.finalState());
    const verdict = await judge(program, end, this.#limits());
    if (verdict.kind === 'late' && this.budget.over !== null) return { kind: 'late' };
    const mistake = verdict.kind === 'fails' ? verdict.mistake : null;
    return mistake === null ? { kind: 'fine' } : { kind: 'fails', failure: mistake };
  }

  async #byProgram(prefix: Prefix, bounds: Bounds): Promise<Ending | Late> {
    const { store } = this;
    let attempts = 0;
    const [recording, outcome] = await this.#sources.made(async () => {
      attempts += 1;
      // The first attempt noted what sources gave before they were controlled.
      if (attempts > 1) this.#behaviours.forget();
      store.reset(prefix, bounds);
      const made = this.#behaviours.record(store);
      return [made, await this.#run(made.program, made.store, store)] as const;
    });
    const hasCalled = this.#sources.wereCalled;
    if (outcome.kind === 'timeout') return outcome;
    if (bounds === null) this.#noteFailures(outcome.sessions);
    this.keys.touch(store.numbers.keys);
    if (outcome.waitedOutside.length > 0) throw outsideAwait(outcome.waitedOutside);
    const ending = await this.#requireFunction(outcome, bounds, hasCalled);
    if (ending.kind === 'timeout') return ending;
    const difference = recording.difference() ?? store.divergence;
    if (difference !== null && this.#options.replay === undefined) throw nondeterministic(difference);
    return ending;
  }

  /**
   * The error with which a session ended every run, and the one that rolled back a transaction of it; `null` where a run was otherwise. Whatever a
   * session does in a run, it did in one of the program: those that are remembered need not be counted.
   */
  inEveryRun(session: number): { readonly failure: string | null; readonly rolledBack: RolledBack | null } {
    return { failure: this.#failures[session] ?? null, rolledBack: this.#rolledBack[session] ?? null };
  }

  /** What a verdict takes for granted of what sessions did in the runs, as clauses. */
  assumed(): string[] {
    const queued = [...this.#queued].toSorted().map(queuedText);
    return [...queued, ...this.#sources.assumed(), ...this.#leftBehind.assumed()];
  }

  learned(): Learned {
    const failures = this.#failures.map((failure) => failure ?? null);
    const rolledBack = this.#rolledBack.map((error) => error ?? null);
    return { reuses: this.#reuses, failures, rolledBack, keys: this.keys.seen(), ends: this.judgedAgain.seen() };
  }

  /** What earlier runs of the same program showed. */
  restore({ reuses, failures, rolledBack, keys, ends }: Learned): void {
    this.keys.merge(keys);
    this.judgedAgain.merge(ends);
    this.#reuses &&= reuses;
    this.#failures.push(...failures);
    this.#rolledBack.push(...rolledBack);
  }

  #noteFailures(sessions: readonly SessionRun[]): void {
    sessions.forEach(({ failure, rolledBack = null }, i) => {
      if (this.#failures[i] === undefined || failure === null) this.#failures[i] = failure;
      if (this.#rolledBack[i] === undefined || rolledBack === null) this.#rolledBack[i] = rolledBack;
    });
  }

  async #run(
    program: Program,
    store: Store,
    { nextSession }: Pick<ExploringStore, 'nextSession'>,
  ): Promise<Ended | Late> {
    const { onTurn } = this.#options;
    const outcome = await runProgram(program, store, {
      nextSession,
      turnsMax: this.#turnsMax,
      ...this.#limits(),
      ...(onTurn === undefined ? {} : { onTurn }),
      onLateCall: this.#leftBehind.lateCall,
    });
    assert(outcome.kind !== 'discarded', 'the store commits everything');
    if (outcome.kind !== 'timeout') for (const session of outcome.queued) this.#queued.add(session);
    return outcome;
  }

  /** The first run is repeated, and so is each in which a source of nondeterminism was called. */
  async #requireFunction(ending: Ended, bounds: Bounds, hasCalled: boolean): Promise<Ending | Late> {
    if (this.#isRepeated && !hasCalled) return ending;
    const verdict = await this.#sources.made(() => this.#judged(this.#program, this.store, ending, bounds));
    const run: Repeated = {
      first: factsOfRun(this.store, ending, verdict),
      repeat: (trial) => this.#repeat(trial, bounds),
      waitedOutside: [],
    };
    const isDone = await (this.#isRepeated ? requireNoForcedDifference(run) : requireFunctionOfReads(run));
    if (!isDone) return { kind: 'timeout', reason: 'time', session: '', lastOperation: 'nothing new' };
    this.#isRepeated = true;
    return { ...ending, verdict };
  }

  /** The last run once more, on a store of its own; `null` where there is no time left for it. */
  async #repeat(trial: Trial, bounds: Bounds): Promise<readonly Fact[] | null> {
    const store = new ExploringStore(this.#program, this.#options);
    store.reset(this.store.prefix(), bounds);
    const program = trial.around(this.#original);
    const outcome = await this.#run(program, store, store);
    const verdict = outcome.kind === 'timeout' ? LATE : await this.#judged(program, store, outcome, bounds);
    if (verdict.isLate === true && this.budget.over !== null) return null;
    if (outcome.kind === 'timeout') return [fact('the run', `did not end: session "${outcome.session}" continues`)];
    return factsOfRun(store, outcome, verdict);
  }

  /** The invariant says nothing about runs that were cut off or are not at the level. */
  async #judged(program: Program, store: ExploringStore, ending: Ended, bounds: Bounds): Promise<HistoryVerdict> {
    if (bounds !== null || !store.isAtLevel()) return verdictOfPart(ending);
    this.#options.onTurn?.(null, () => 'nothing');
    return await verdictOf(program, store, ending, this.#limits());
  }

  /** So that memory does not grow with the histories. */
  #forgetIfLarge(): void {
    const { rememberedMax = 200_000 } = this.#options;
    if (this.#behaviours.size + this.store.numbers.size <= rememberedMax) return;
    this.#behaviours.forget();
    this.store.numbers.forget();
  }
}

const SAMPLES_EVERY = 64;

/** How many transactions each session may begin; `null`: any number. */
type Bounds = readonly number[] | null;

type Ended = RunOutcome & { readonly kind: 'finished' | 'threw' };

const LATE: HistoryVerdict = { message: null, marks: new Map(), isLate: true };

function factsOfRun(store: ExploringStore, ending: Ended, { message, marks }: HistoryVerdict): Fact[] {
  const results = ending.kind === 'finished' ? ending.results : {};
  return factsOf({ history: store.history(), results, violation: message, marks });
}

/** Histories are explored of what commits: a transaction that fails, and what its session then does, is in none. */
function requireRetries({ conflicts }: Program): void {
  if (conflicts === 'retry') return;
  throw new InputError(
    'explore/conflicts',
    "the program says `conflicts: 'abort'`: explore leaves out that a transaction fails and what its session does then; moirai test takes it",
  );
}

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
    `with the same choices the program does not do the same: ${difference}; does it look at memory that another session changes?`,
  );
}
