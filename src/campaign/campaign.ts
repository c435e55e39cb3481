/**
 * `moirai test`: a program, run at random against the mock database at one level, many times.
 *
 * The first run is repeated to see that the program is deterministic. Every failing run is counted; the first is reduced, explained and
 * given a replay token. Nothing here knows of consoles or processes: progress goes to a callback.
 */
import { seeded } from '../base/chooser.ts';
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import { constrainingLevels, type ConstrainingLevel, parseLevel } from '../isolation/index.ts';
import { type Decisions, drawing, following, retracing, type StrategyName } from '../mockdb/index.ts';
import { countMarks, errorText, type Program } from '../program/index.ts';
import { requireDeterminism } from './determinism.ts';
import { type Failure, failureOf } from './failure.ts';
import { reduceRun } from './reduce.ts';
import { type FinishedRun, ProgramRunner, type RunLimits, type SingleRun, type Timeout } from './single-run.ts';
import { decodePath } from './token.ts';

export const campaignDefaults = { level: 'causal', runs: 1_000, seed: 1, timeoutMs: 10_000 } as const;

export interface CampaignOptions {
  /** Default `causal`. */
  readonly level?: ConstrainingLevel;
  /** Default 1,000. */
  readonly runs?: number;
  /** Run i of a seed is always the same run. Default 1. */
  readonly seed?: number;
  /** Default `uniform`: over the values that a read may return. */
  readonly strategy?: StrategyName;
  /** Default: what the program says, which is `retry` unless it says otherwise. */
  readonly conflicts?: 'retry' | 'abort';
  /** The share of commits that fail although they could succeed, so that retries are tested. Default 0. */
  readonly abortRate?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** Only this run: the token that a failing run printed. */
  readonly replay?: string;
  /** Stop at the first run that fails. Default false: count them. */
  readonly stopAtFirst?: boolean;
  /** Called now and then, at most every 50 ms. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called whenever a session, or the invariant, gets to run. */
  readonly onTurn?: RunLimits['onTurn'];
}

export interface Progress {
  readonly level: ConstrainingLevel;
  readonly runs: number;
  readonly runsMax: number;
  readonly violations: number;
}

export interface CampaignResult {
  readonly level: ConstrainingLevel;
  readonly seed: number;
  readonly runs: number;
  /** Runs in which the invariant did not hold. */
  readonly violations: number;
  /** Distinct vectors of values read. */
  readonly distinctStates: number;
  /** For each `sometimes(name)`: runs in which its condition held. */
  readonly marks: ReadonlyMap<string, number>;
  /** The smallest of the first ten failing runs, reduced. */
  readonly failure: Failure | null;
  /** The first failing run, counting from 1. */
  readonly firstFailingRun: number | null;
  /** Set when a run did not end in time: a session that had not ended, and what it did last. */
  readonly timeout: Timeout | null;
}

/** @throws InputError when the program or an option is at fault */
export async function runCampaign(program: Program, options: CampaignOptions = {}): Promise<CampaignResult> {
  const campaign = new Campaign(program, options);
  return options.replay === undefined ? campaign.run() : campaign.replay(decodePath(options.replay));
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #runner: ProgramRunner;
  readonly #level: ConstrainingLevel;
  readonly #seed: number;
  readonly #runsMax: number;
  readonly #abortRate: number;
  readonly #timeoutMs: number;
  readonly #states = new Set<number>();
  readonly #marks = new Map<string, number>();
  #isSerialRunFine = false;
  #runs = 0;
  #violations = 0;
  /** The first runs that failed. */
  readonly #failing: FinishedRun[] = [];
  #firstFailingRun: number | null = null;
  #timeout: CampaignResult['timeout'] = null;

  constructor(program: Program, options: CampaignOptions) {
    this.#options = options;
    this.#level = parseLevel(options.level ?? campaignDefaults.level, constrainingLevels);
    this.#seed = integerOption('seed', options.seed ?? campaignDefaults.seed, Number.MIN_SAFE_INTEGER);
    this.#runsMax = integerOption('runs', options.runs ?? campaignDefaults.runs, 1);
    this.#abortRate = options.abortRate ?? 0;
    if (!(this.#abortRate >= 0 && this.#abortRate < 1))
      throw new InputError('option/abort-rate', 'the abort rate is from 0 to below 1');
    this.#runner = new ProgramRunner(program, this.#level);
    this.#timeoutMs = integerOption('timeout', options.timeoutMs ?? campaignDefaults.timeoutMs, 1);
  }

  /** The limits of a run that begins now. */
  #limits(): RunLimits {
    const { conflicts, onTurn } = this.#options;
    return {
      ...(conflicts === undefined ? {} : { conflicts }),
      ...(onTurn === undefined ? {} : { onTurn }),
      deadlineMs: monotonicMs() + this.#timeoutMs,
    };
  }

  async run(): Promise<CampaignResult> {
    let yieldedAt = monotonicMs();
    for (let i = 0; i < this.#runsMax && this.#timeout === null; i += 1) {
      const run = await this.#runner.run(this.#draw(i), this.#limits());
      if (run.kind === 'finished' && i === 0) await this.#requireDeterminism(run);
      await this.#judge(run);
      if (this.#violations > 0 && this.#options.stopAtFirst === true) break;
      const now = (i & 15) === 0 ? monotonicMs() : yieldedAt;
      if (now - yieldedAt < 50) continue;
      yieldedAt = now;
      await this.#breathe();
    }
    return this.#result();
  }

  async replay(path: readonly number[]): Promise<CampaignResult> {
    const run = await this.#runner.run(retracing(path, this.#abortRate > 0), this.#limits());
    if (run.kind === 'finished') await this.#requireDeterminism(run);
    await this.#judge(run);
    return this.#result();
  }

  #draw(run: number): Decisions {
    const { strategy = 'uniform' } = this.#options;
    return drawing({ chooser: seeded(this.#seed, run), strategy, abortRate: this.#abortRate });
  }

  async #judge(run: SingleRun): Promise<void> {
    if (run.kind === 'timeout') {
      this.#timeout = { session: run.session, lastOperation: run.lastOperation };
      return;
    }
    if (run.kind === 'discarded') return;
    if (run.threwOutside !== null) await this.#requireSerialRun();
    this.#runs += 1;
    this.#states.add(run.observedState);
    countMarks(this.#marks, run.marks);
    if (run.violation === null) return;
    this.#violations += 1;
    if (this.#firstFailingRun === null) {
      this.#firstFailingRun = this.#runs;
      await this.#requireDeterminism(run);
    }
    if (this.#failing.length < REDUCED_MAX) this.#failing.push(run);
  }

  /** The smallest of the first failing runs, each reduced. A replay is shown as it is. */
  async #explain(): Promise<Failure | null> {
    let best: FinishedRun | null = null;
    for (const run of this.#failing) {
      const limits = { ...this.#limits(), failures: this.#abortRate > 0 };
      const reduced = this.#options.replay === undefined ? await reduceRun(this.#runner, run, limits) : run;
      if (best === null || isSmaller(reduced, best)) best = reduced;
    }
    return best === null ? null : failureOf(this.#runner, await this.#again(best));
  }

  /**
   * A session that ends with an error is a finding when weak reads led it there. One that does so when the sessions run one after another
   * and read what was written last is wrong by itself, and no level will help it.
   */
  async #requireSerialRun(): Promise<void> {
    if (this.#isSerialRunFine) return;
    const runner = new ProgramRunner(this.#runner.program, this.#level); // the last run of the other one is still to be explained
    const serial = await runner.run(following([], new Map()), this.#limits());
    if (serial.kind === 'finished' && serial.threwOutside !== null) {
      const { session, error } = serial.threwOutside;
      const failure = new InputError(
        'program/session-threw',
        `session "${session}" threw outside a transaction: ${errorText(error)}`,
      );
      failure.cause = error;
      throw failure;
    }
    this.#isSerialRunFine = true;
  }

  /** The run once more, so that it is the last one and the runner has its history. */
  async #again(run: FinishedRun): Promise<FinishedRun> {
    const again = await this.#runner.run(retracing(run.path, this.#abortRate > 0), this.#limits());
    return again.kind === 'finished' ? again : run;
  }

  async #requireDeterminism(run: FinishedRun): Promise<void> {
    await requireDeterminism(this.#runner, run, this.#limits(), this.#abortRate > 0);
  }

  /** Lets timers, signals and progress have their turn. */
  async #breathe(): Promise<void> {
    this.#options.onProgress?.({
      level: this.#level,
      runs: this.#runs,
      runsMax: this.#runsMax,
      violations: this.#violations,
    });
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #result(): Promise<CampaignResult> {
    return {
      level: this.#level,
      seed: this.#seed,
      runs: this.#runs,
      violations: this.#violations,
      distinctStates: this.#states.size,
      marks: this.#marks,
      failure: await this.#explain(),
      firstFailingRun: this.#firstFailingRun,
      timeout: this.#timeout,
    };
  }
}

/** Failing runs that are reduced, to show the smallest. */
const REDUCED_MAX = 10;

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
