/**
 * `moirai test`: a program, run at random against the mock database at one level, many times.
 *
 * The first run is repeated, with other values from its sources of randomness and time too, to see that the program is a function of what it reads. Every failing run is counted; the first is reduced, explained and
 * given a replay token. Nothing here knows of consoles or processes: progress goes to a callback.
 */
import { seeded, Breather, Budget, stopText, InputError } from '../base/index.ts';
import {
  decodePath,
  answerOf,
  assumptionsOf,
  compareRun,
  countMarks,
  InvariantKeys,
  JudgedAgain,
  LeftBehind,
  queuedText,
  isSameShape,
  openToken,
  type Program,
  type Repeated,
  type Replayed,
  type ReplayToken,
  requireFunctionOfReads,
  requireNoForcedDifference,
  SessionTally,
  shapeOfKeys,
  ControlledSources,
} from '../program/index.ts';
import { type Evidence, noEvidence } from '../evidence/index.ts';
import { constrainingLevels, type ConstrainingLevel, parseLevel } from '../isolation/index.ts';
import { type Decisions, drawing, keepingOrder, retracing } from '../mockdb/index.ts';
import { campaignDefaults, type CampaignOptions, type CampaignResult } from './campaign-options.ts';
import { repeatedRun } from './determinism.ts';
import { ShorterSearch } from './assertion-budget.ts';
import { type FailedRun, type Failure, failedRunOf, failureOf, recordedRun } from './failure.ts';
import { reduceRun } from './reduce.ts';
import { SerialCheck } from './serial-check.ts';
import { SharedMemory } from './shared-memory.ts';
import { type FinishedRun, ProgramRunner, type RunLimits, type SingleRun, type Timeout } from './single-run.ts';

/** @throws InputError when the program or an option is at fault, `program/uncaught` where it leaves a rejected promise */
export async function runCampaign(program: Program, options: CampaignOptions = {}): Promise<CampaignResult> {
  const campaign = new Campaign(program, options);
  return options.replay === undefined ? campaign.run() : campaign.replay(openToken(options.replay));
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #program: Program;
  readonly #sources: ControlledSources<Program>;
  readonly #keys: InvariantKeys;
  readonly #judgedAgain: JudgedAgain;
  /** Sessions that awaited something that is not the store's. */
  readonly #waitedOutside = new Set<string>();
  /** Sessions that started a transaction while another of theirs was under way. */
  readonly #queued = new Set<string>();
  readonly #shared: SharedMemory;
  readonly #leftBehind = new LeftBehind();
  readonly #runner: ProgramRunner;
  readonly #level: ConstrainingLevel;
  readonly #seed: number;
  readonly #runsMax: number;
  readonly #abortRate: number;
  readonly #timeoutMs: number;
  readonly #budget: Budget;
  readonly #shorter = new ShorterSearch();
  readonly #states = new Set<number>();
  readonly #marks = new Map<string, number>();
  readonly #sessions: SessionTally;
  readonly #serial: SerialCheck;
  #runsWithCalls = 0;
  #runs = 0;
  /** In the longest run. */
  #turnsSeen = 0;
  #violations = 0;
  /** The first runs that failed. */
  readonly #failing: FinishedRun[] = [];
  #firstFailingRun: number | null = null;
  #inHand: FailedRun | null = null;
  #stopped: CampaignResult['stopped'] = null;
  #timeout: CampaignResult['timeout'] = null;
  #replayed: Replayed | null = null;

  constructor(program: Program, options: CampaignOptions) {
    this.#options = options;
    this.#level = parseLevel(options.level ?? campaignDefaults.level, constrainingLevels);
    this.#seed = integerOption('seed', options.seed ?? campaignDefaults.seed, Number.MIN_SAFE_INTEGER);
    this.#runsMax = integerOption('runs', options.runs ?? campaignDefaults.runs, 1);
    this.#abortRate = options.abortRate ?? 0;
    if (!(this.#abortRate >= 0 && this.#abortRate < 1))
      throw new InputError('option/abort-rate', 'the abort rate is from 0 to below 1');
    this.#program = program;
    this.#sources = new ControlledSources(program);
    this.#keys = new InvariantKeys(program);
    this.#judgedAgain = new JudgedAgain(this.#sources.program);
    this.#runner = new ProgramRunner(this.#judgedAgain.around(this.#keys.around(this.#sources.program)), this.#level);
    this.#serial = new SerialCheck(
      program.sessions.length,
      (decisions) => this.#made(new ProgramRunner(this.#runner.program, this.#level), decisions),
      () => this.#budget.over !== null,
    );
    this.#sessions = new SessionTally(program.sessionNames);
    this.#shared = new SharedMemory(program);
    this.#timeoutMs = integerOption('timeout', options.timeoutMs ?? campaignDefaults.timeoutMs, 1);
    this.#budget = new Budget(options);
  }

  /** The limits of a run that begins now. */
  #limits(budget = this.#budget): RunLimits {
    const { conflicts, onTurn } = this.#options;
    const { signal } = budget;
    return {
      ...(conflicts === undefined ? {} : { conflicts }),
      ...(onTurn === undefined ? {} : { onTurn }),
      ...(signal === undefined ? {} : { signal }),
      deadlineMs: budget.deadlineOf(this.#timeoutMs),
      onLateCall: this.#leftBehind.lateCall,
    };
  }

  async run(): Promise<CampaignResult> {
    this.#options.onStart?.(() => this.#soFar());
    return this.#controlled(() => this.#runAll());
  }

  async #controlled(run: () => Promise<void>): Promise<CampaignResult> {
    this.#sources.begin('when-called');
    this.#leftBehind.begin();
    try {
      await run();
      const isCut = this.#timeout !== null || (this.#stopped !== null && this.#stopped !== 'violation');
      await (isCut ? this.#leftBehind.settle() : this.#leftBehind.drain());
      return await this.#result();
    } finally {
      this.#leftBehind.end();
      this.#sources.end();
    }
  }

  async #runAll(): Promise<void> {
    const breather = new Breather();
    for (let i = 0; i < this.#runsMax; i += 1) {
      this.#stopped ??= this.#budget.over;
      if (this.#stopped !== null || this.#timeout !== null) break;
      this.#leftBehind.requireNone();
      const run = await this.#made(this.#runner, () => this.#draw(i));
      if (run.kind === 'finished' && i === 0) await this.#requireFunctionOfReads(run);
      else if (run.kind === 'finished' && this.#sources.wereCalled) await this.#requireNoForcedDifference(run);
      if (run.kind === 'finished' && i < COMPARED_FIRST) this.#shared.add(run, this.#runner.attempts);
      await this.#judge(run);
      if (this.#violations > 0 && this.#isEnough()) this.#stopped = 'violation';
      if (await breather.breathe()) this.#reportProgress();
    }
    if (this.#violations > 0 || this.#stopped !== null || this.#timeout !== null) return;
    await this.#compareOrders();
    await this.#leftBehind.drain();
    await this.#leftBehind.ignoring(() => this.#judgedAgain.judge(this.#limits(), this.#options.judging));
  }

  /** The first session first, then the last: where they share nothing but the store, reads of initial values lead to the same. */
  async #compareOrders(): Promise<void> {
    const runner = new ProgramRunner(this.#runner.program, this.#level);
    // A session that reads until something comes never gets it there.
    const turnsMax = 2 * this.#turnsSeen + TURNS_MORE;
    for (const first of ['first', 'last'] as const) {
      const run = await this.#made(runner, () => keepingOrder(first), { ...this.#limits(), turnsMax });
      if (run.kind === 'finished') this.#shared.add(run, runner.attempts);
    }
  }

  replay(token: ReplayToken): Promise<CampaignResult> {
    this.#options.onStart?.(() => this.#soFar());
    return this.#controlled(() => this.#replay(token));
  }

  /** @param decisions made anew where the run is made twice */
  #made(runner: ProgramRunner, decisions: () => Decisions, limits = this.#limits()): Promise<SingleRun> {
    return this.#sources.made(() => runner.run(decisions(), limits));
  }

  async #replay(token: ReplayToken): Promise<void> {
    const path = decodePath(token.choices);
    const { program } = this.#runner;
    const shape = shapeOfKeys({ ...program, sessions: program.sessionNames }, this.#level);
    if (!isSameShape(token, shape)) {
      this.#replayed = { kind: 'other-program', shape, isSummed: token.isSummed };
      return;
    }
    const run = await this.#made(this.#runner, () => retracing(path, this.#abortRate > 0));
    if (run.kind === 'finished') {
      await this.#requireFunctionOfReads(run);
      this.#replayed = compareRun(token, recordedRun(this.#runner, run), program);
    }
    await this.#judge(run);
  }

  #draw(run: number): Decisions {
    const { strategy = 'uniform' } = this.#options;
    return drawing({ chooser: seeded(this.#seed, run), strategy, abortRate: this.#abortRate });
  }

  async #judge(run: SingleRun): Promise<void> {
    if (run.kind === 'timeout') {
      this.#stopped ??= this.#budget.over;
      if (this.#stopped === null) this.#timeout = { session: run.session, lastOperation: run.lastOperation };
      return;
    }
    if (run.kind === 'discarded') return;
    if (!(await this.#serial.require(run))) return;
    this.#runs += 1;
    this.#turnsSeen = Math.max(this.#turnsSeen, run.schedule.length);
    this.#states.add(run.observedState);
    countMarks(this.#marks, run.marks);
    this.#sessions.add(run.sessions);
    for (const session of run.waitedOutside) this.#waitedOutside.add(session);
    for (const session of run.queued) this.#queued.add(session);
    if (run.violation === null) return;
    this.#violations += 1;
    if (this.#firstFailingRun === null) {
      this.#firstFailingRun = this.#runs;
      await this.#requireFunctionOfReads(run);
      this.#inHand = failedRunOf(this.#runner, run);
    }
    if (this.#failing.length < REDUCED_MAX) this.#failing.push(run);
  }

  /** The smallest of the first failing runs, each reduced. A replay is shown as it is. */
  async #explain(): Promise<Failure | null> {
    const budget = this.#budget.over === null ? this.#budget : new Budget({ timeMaxMs: EXPLAIN_MS });
    let best: FinishedRun | null = null;
    for (const run of this.#failing) {
      if (best !== null && budget.over !== null) break;
      const limits = { ...this.#limits(budget), failures: this.#abortRate > 0, budget };
      const reduced = this.#options.replay === undefined ? await reduceRun(this.#runner, run, limits) : run;
      if (best === null || isSmaller(reduced, best)) best = reduced;
    }
    const again = best === null ? null : await this.#again(best);
    if (again !== null) return failureOf(failedRunOf(this.#runner, again));
    return this.#inHand === null ? null : failureOf(this.#inHand);
  }

  /** The run once more, so that it is the last one and the runner has its history. `null`: there is no time left for it. */
  async #again(run: FinishedRun): Promise<FinishedRun | null> {
    const limits = this.#limits(new Budget({ timeMaxMs: EXPLAIN_MS }));
    const again = await this.#made(this.#runner, () => retracing(run.path, this.#abortRate > 0), limits);
    return again.kind === 'finished' ? again : null;
  }

  /** Repeats the last run. */
  async #requireFunctionOfReads(run: FinishedRun): Promise<void> {
    if (!(await requireFunctionOfReads(this.#repeated(run)))) this.#stopped ??= this.#budget.over;
  }

  /** A source was called in the last run, by the program or beside it. */
  async #requireNoForcedDifference(run: FinishedRun): Promise<void> {
    this.#runsWithCalls += 1;
    if (this.#runsWithCalls > FORCED_FIRST && this.#runsWithCalls % FORCED_EVERY !== 0) return;
    if (!(await requireNoForcedDifference(this.#repeated(run)))) this.#stopped ??= this.#budget.over;
  }

  #repeated(run: FinishedRun): Repeated {
    const { signal } = this.#budget;
    const limits = (): RunLimits => this.#limits(new Budget(signal === undefined ? {} : { signal }));
    return repeatedRun(this.#program, this.#runner, run, limits, this.#abortRate > 0);
  }

  /** A replay says whether that run still fails, and nothing of what its sessions do in others. */
  #evidence(): Evidence {
    const cut = [
      ...(this.#stopped === null || this.#stopped === 'violation' ? [] : [stopText(this.#stopped)]),
      ...(this.#timeout === null ? [] : [timeoutText(this.#timeout)]),
      ...(this.#replayed !== null && answerOf(this.#replayed, this.#violations) === 'incompatible'
        ? ['the program takes other steps than the recorded run']
        : []),
    ];
    this.#keys.touch(this.#runner.keys);
    return {
      ...noEvidence,
      store: 'keys',
      violations: this.#violations,
      looked: [
        { count: this.#runs, nothing: 'no run ended' },
        ...(this.#options.replay === undefined ? this.#keys.gaps() : []).map((nothing) => ({ count: 0, nothing })),
      ],
      sessions: this.#options.replay === undefined ? this.#sessions.sessions() : [],
      awaiting: [...this.#waitedOutside].toSorted(),
      cut,
      assumed: [
        ...assumptionsOf(this.#program),
        ...[...this.#waitedOutside].toSorted().map(outsideText),
        ...[...this.#queued].toSorted().map(queuedText),
        ...(this.#options.replay === undefined ? this.#shared.assumed() : []),
        ...this.#sources.assumed(),
        ...this.#leftBehind.assumed(),
        ...(this.#options.replay === undefined ? this.#keys.assumed() : []),
        ...this.#judgedAgain.assumed(),
      ],
    };
  }

  #isEnough(): boolean {
    const { stopAtFirst = false } = this.#options;
    this.#shorter.begin(this.#runs);
    return stopAtFirst === true || (stopAtFirst === 'then-shorter' && this.#shorter.isOver(this.#runs));
  }

  #reportProgress(): void {
    this.#options.onProgress?.({
      level: this.#level,
      runs: this.#runs,
      runsMax: this.#runsMax,
      violations: this.#violations,
    });
  }

  async #result(): Promise<CampaignResult> {
    return this.#resultWith(await this.#explain());
  }

  #soFar(): CampaignResult {
    return this.#resultWith(this.#inHand === null ? null : failureOf(this.#inHand));
  }

  #resultWith(failure: Failure | null): CampaignResult {
    return {
      level: this.#level,
      seed: this.#seed,
      runs: this.#runs,
      violations: this.#violations,
      distinctStates: this.#states.size,
      marks: this.#marks,
      failure,
      firstFailingRun: this.#firstFailingRun,
      timeout: this.#timeout,
      evidence: this.#evidence(),
      stopped: this.#stopped,
      replayed: this.#replayed,
    };
  }
}

/** Runs in which what sessions do is compared. */
const COMPARED_FIRST = 64;
/** That a run which keeps to one order may take beyond twice those of the longest. */
const TURNS_MORE = 16;

/** Of the runs in which a source of nondeterminism was called, so many are repeated with forced values, and one of 64 after them. */
const FORCED_FIRST = 32;
const FORCED_EVERY = 64;

function timeoutText({ session, lastOperation }: Timeout): string {
  if (session === null) return 'the invariant did not end in time';
  return `session "${session}" did not end in time; its last operation: ${lastOperation}`;
}

/** Failing runs that are reduced, to show the smallest. */
const REDUCED_MAX = 10;

/** When the time is over, or the user has had enough: for what is still to be said of a failing run. */
const EXPLAIN_MS = 300;

/** Fewer reads of older writes, then fewer transactions, then fewer changes from session to session. */
function isSmaller(a: FinishedRun, b: FinishedRun): boolean {
  const size = ({ readChoices, schedule }: FinishedRun): number[] => [
    readChoices.filter(({ position }) => position > 0).length,
    schedule.length,
    schedule.filter((session, i) => session !== schedule[i - 1]).length,
  ];
  const [sizeA, sizeB] = [size(a), size(b)];
  const at = sizeA.findIndex((n, i) => n !== sizeB[i]);
  return at >= 0 && (sizeA[at] as number) < (sizeB[at] as number);
}

function integerOption(name: string, value: number, min: number): number {
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new InputError(
    `option/${name}`,
    `${name} must be a whole number${min === 1 ? ' of at least 1' : ''}, not ${value}`,
  );
}

/** What a green verdict takes for granted of a session that awaits something that is not the store's. */
function outsideText(session: string): string {
  return `what session "${session}" awaits beside the store (another session, a timer, a socket, a file) comes as it does here`;
}
