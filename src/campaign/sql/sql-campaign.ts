/**
 * `moirai test` for SQL programs: many runs against the mock database, each with decisions from the seed. In an engine profile what is drawn
 * is the timing alone; in the axiomatic family also which write each read sees.
 */
import {
  anomalyOf,
  AnswerTree,
  ArrivalMemory,
  checkDialect,
  checkedRun,
  decodeChoices,
  encodeChoices,
  ENDS_JUDGED_AGAIN,
  evidenceIn,
  FailureCounts,
  type FailureKind,
  InvariantTally,
  judgedAgain,
  type Late,
  lateText,
  reasonOf,
  RepeatedRuns,
  type RunBesides,
  seedOf,
  SerialCheck,
  shapeOfSql,
  SharedSchema,
  type SqlFailure,
  type SqlRun,
  type SqlRunOptions,
  steppingClock,
  stoppedText,
  UnderWay,
  UnsupportedOfRuns,
  waitingEvidence,
  waitMsDefault,
} from '../../sql-program/index.ts';
import { Budget, seeded, InputError } from '../../base/index.ts';
import { ShorterSearch } from '../index.ts';
import {
  encodePath,
  assumptionsOf,
  compareRun,
  countMarks,
  isSameShape,
  openToken,
  type Replayed,
  type ReplayToken,
  requireUsed,
  sealToken,
  SessionTally,
  type SqlProgram,
} from '../../program/index.ts';
import {
  type AssumedAccess,
  assumedClauses,
  mergedAccesses,
  unlikelyClauses,
  SharedPlans,
  type Ways,
} from '../../database/index.ts';
import { conclude, type Evidence, type InvariantEvidence } from '../../evidence/index.ts';
import { drawing, retracing } from '../../mockdb/index.ts';
import { PlanDraws } from './plan-draws.ts';
import { type SqlCampaignOptions, sqlCampaignDefaults } from './sql-campaign-options.ts';
import type { SqlCampaignResult } from './sql-campaign-result.ts';

/** @throws InputError `program/schema` when the schema's statements fail, `program/dialect` */
export async function runSqlCampaign(program: SqlProgram, options: SqlCampaignOptions): Promise<SqlCampaignResult> {
  checkDialect(program, options.profile);
  return new SqlCampaign(program, options).run();
}

type Finished = Extract<SqlRun, { kind: 'finished' }>;

class SqlCampaign {
  readonly #program: SqlProgram;
  readonly #options: SqlCampaignOptions;
  readonly #seed: number;
  readonly #budget: Budget;
  readonly #shorter = new ShorterSearch();
  readonly #memory = new ArrivalMemory();
  readonly #schedules = new Set<string>();
  readonly #marks = new Map<string, number>();
  readonly #counts = new FailureCounts();
  readonly #sessions: SessionTally;
  readonly #invariant = new InvariantTally();
  #again: InvariantEvidence['again'] = null;
  readonly #underWay = new UnderWay();
  readonly #repeated: RepeatedRuns;
  readonly #answers: AnswerTree;
  readonly #serial: SerialCheck;
  #runs = 0;
  #late: Late | null = null;
  #stopped: SqlCampaignResult['stopped'] = null;
  readonly #token: ReplayToken | null;
  readonly #shape: readonly string[];
  #replayed: Replayed | null = null;
  readonly #unsupported: UnsupportedOfRuns;
  readonly #takenForGranted = new Set<string>();
  #accesses: readonly AssumedAccess[] = [];
  /** Of the run under way: those of the token that is replayed, or drawn. */
  #ways: Ways = {};
  readonly #draws: PlanDraws | null;
  readonly #plans = new Set<string>();
  readonly #sharedPlans = new SharedPlans();
  readonly #sharedSchema = new SharedSchema();
  /** The most telling of the failing runs. */
  #failing: FailingRun | null = null;
  /** The first that failed, as text: what is shown where there is no time for more. */
  #inHand: SqlFailure | null = null;

  constructor(program: SqlProgram, options: SqlCampaignOptions) {
    this.#repeated = new RepeatedRuns(program);
    this.#program = this.#repeated.program;
    this.#answers = new AnswerTree(program.sessionNames, this.#memory.looking);
    this.#options = options;
    this.#seed = options.seed ?? sqlCampaignDefaults.seed;
    this.#budget = new Budget(options);
    this.#draws = options.plans === 'all' && options.replay === undefined ? new PlanDraws() : null;
    this.#token = options.replay === undefined ? null : openToken(options.replay);
    this.#shape = shapeOfSql(program, options.profile);
    this.#sessions = new SessionTally(program.sessionNames);
    this.#serial = new SerialCheck(program, (decisions) =>
      checkedRun(this.#program, { ...this.#runOptions(0, null), abortRate: 0, decisions }),
    );
    this.#unsupported = new UnsupportedOfRuns(({ path }) =>
      checkedRun(this.#program, { ...this.#runOptions(this.#runs - 1, path), findsPlaces: true }),
    );
  }

  async run(): Promise<SqlCampaignResult> {
    this.#options.onStart?.(
      () => this.#resultWith(this.#inHand),
      () => this.#underWay.text,
    );
    try {
      await this.#runAll();
      requireUsed({ evidence: this.#evidence(), replayed: this.#replayed });
      await this.#judgeAgain();
      return this.#resultWith(await this.#explain());
    } finally {
      this.#repeated.stop();
    }
  }

  async #runAll(): Promise<void> {
    const { runs = sqlCampaignDefaults.runs, onRun, onProgress } = this.#options;
    const { path, ways } = this.#token === null ? anyChoices : decodeChoices(this.#token.choices);
    this.#ways = ways;
    const runsMax = path === null ? runs : this.#runsOfReplay();
    for (let i = 0; i < runsMax; i += 1) {
      this.#stopped ??= this.#budget.over;
      if (this.#stopped !== null || this.#late !== null) break;
      onRun?.(i);
      // A stream of its own: what is drawn for a run beside its paths does not depend on them.
      if (this.#draws !== null) this.#ways = this.#draws.draw(seeded(this.#seed, -1 - i));
      const run = await this.#repeated.made(() => {
        this.#answers.begin();
        const { ended: onStatement } = this.#answers;
        return checkedRun(this.#program, {
          ...this.#runOptions(i, path),
          ...(i === 0 ? { isLogged: true } : {}),
          onStatement,
        });
      });
      if (run.kind === 'timeout') this.#endLate(run);
      else await this.#judge(run, i);
      if (this.#failing !== null && this.#isEnough()) this.#stopped = 'violation';
      onProgress?.({ runs: this.#runs, runsMax, violations: this.#counts.all });
    }
  }

  /** Before a green verdict. */
  async #judgeAgain(): Promise<void> {
    if (this.#replayed !== null || conclude(this.#evidence()).kind !== 'satisfied') return;
    const runs = Array.from(
      { length: Math.min(this.#runs, ENDS_JUDGED_AGAIN) },
      (_, i) =>
        (besides: RunBesides): Promise<SqlRun> =>
          this.#repeated.made(() =>
            checkedRun(this.#program, {
              ...this.#runOptions(i, null),
              ways: {},
              takenForGranted: new Set(),
              ...besides,
            }),
          ),
    );
    this.#again = 'under-way';
    const { judging = {} } = this.#options;
    const judged = judgedAgain(this.#program, { runs, budget: this.#budget, judging });
    this.#again = await this.#underWay.during('the check that the invariant can fail', () => judged);
  }

  async #judge(run: Finished, i: number): Promise<void> {
    this.#answers.finish(run.results);
    await this.#underWay.during('the serial check', () => this.#serial.require(run));
    await this.#underWay.during('the determinism check', () => this.#requireRepeatable(run, i));
    await this.#note(run, i);
  }

  #isEnough(): boolean {
    this.#shorter.begin(this.#runs);
    return this.#options.stopAtFirst === 'then-shorter' && this.#shorter.isOver(this.#runs);
  }

  /** None of another program's token. */
  #runsOfReplay(): 0 | 1 {
    if (this.#token === null || isSameShape(this.#token, this.#shape)) return 1;
    this.#replayed = { kind: 'other-program', shape: this.#shape, isSummed: this.#token.isSummed };
    return 0;
  }

  /** Runs after the first were not logged: they are made once more first. */
  async #requireRepeatable(made: Finished, i: number): Promise<void> {
    const how = this.#repeated.takes(made);
    if (how === null) return;
    const again = (program: SqlProgram): Promise<SqlRun> =>
      checkedRun(program, { ...this.#runOptions(i, made.path), isLogged: true });
    const run = i === 0 ? made : await again(this.#program);
    const { returned: waitedOutside } = this.#memory;
    const isDone = run.kind === 'finished' && (await this.#repeated.require(how, { run, again, waitedOutside }));
    if (!isDone) this.#notChecked();
  }

  #notChecked(): void {
    this.#stopped ??= this.#budget.over;
    if (this.#stopped === null) this.#late ??= { late: 'the determinism check', waiting: null };
  }

  /** A run that was given up because the campaign is over says nothing of its sessions. */
  #endLate(late: Late): void {
    this.#stopped ??= this.#budget.over;
    if (this.#stopped !== null) return;
    this.#runs += 1;
    this.#late = late;
  }

  async #note(run: Finished, i: number): Promise<void> {
    this.#runs += 1;
    if (this.#token !== null)
      this.#replayed = compareRun(this.#token, { shape: this.#shape, steps: run.steps }, this.#program, reasonOf(run));
    this.#schedules.add(encodePath(run.path));
    this.#plans.add(JSON.stringify(this.#ways));
    countMarks(this.#marks, run.marks);
    await this.#unsupported.add(run);
    this.#accesses = mergedAccesses([this.#accesses, run.assumed]);
    this.#draws?.add(run.assumed);
    this.#sessions.add(run.sessions);
    this.#invariant.add(run.invariant);
    // What the program makes of an error that the engine would not give is no violation.
    if (run.failureKind === null || run.unsupported.length > 0) return;
    this.#counts.add(run.failureKind);
    this.#failing = moreTelling(this.#failing, {
      run: i,
      path: [...run.path],
      ways: this.#ways,
      kind: run.failureKind,
    });
    if (this.#options.explains !== false) this.#inHand ??= await this.#failureOf(this.#failing, this.#budget);
  }

  /** The shortest failing run; the first, where there is no time to run it again. */
  async #explain(): Promise<SqlFailure | null> {
    if (this.#failing === null || this.#options.explains === false) return null;
    if (this.#inHand !== null && openToken(this.#inHand.replay).choices === encodeChoices(this.#failing))
      return this.#inHand;
    const budget = this.#budget.over === null ? this.#budget : new Budget({ timeMaxMs: EXPLAIN_MS });
    return (await this.#failureOf(this.#failing, budget)) ?? this.#inHand;
  }

  /** The run again, with a log of its statements; `null` where there was no time for it. */
  async #failureOf(failing: FailingRun, budget: Budget): Promise<SqlFailure | null> {
    const { ways } = failing;
    const run = await checkedRun(this.#program, { ...this.#runOptions(failing.run, failing.path, budget), ways });
    if (run.kind === 'timeout' && budget.over !== null) return null;
    if (run.kind === 'timeout' || run.violation === null || run.failureKind === null) throw failsOnceOnly();
    const { violation: message, failureKind: kind, statements, steps } = run;
    const history = run.history();
    const anomaly = anomalyOf(evidenceIn(history));
    const replay = sealToken(encodeChoices({ path: run.path, ways }), { shape: this.#shape, steps });
    const [undecided, plan] = [run.undecided(), unlikelyClauses(run.assumed)];
    const operationTimes = run.operationTimes();
    return { kind, message, replay, statements, plan, steps, history, operationTimes, anomaly, undecided };
  }

  #runOptions(i: number, taken: readonly number[] | null, budget = this.#budget): SqlRunOptions {
    const { profile, abortRate = sqlCampaignDefaults.abortRate, waitMs = waitMsDefault } = this.#options;
    return {
      profile,
      ways: this.#ways,
      seed: seedOf(this.#seed, i),
      clock: steppingClock(),
      takenForGranted: this.#takenForGranted,
      abortRate,
      timeoutMs: this.#options.timeoutMs ?? sqlCampaignDefaults.timeoutMs,
      waitMs,
      memory: this.#memory,
      sharedPlans: this.#sharedPlans,
      sharedSchema: this.#sharedSchema,
      underWay: this.#underWay,
      budget,
      decisions: taken === null ? drawing({ chooser: seeded(this.#seed, i) }) : retracing(taken),
      isLogged: taken !== null,
    };
  }

  #resultWith(failure: SqlFailure | null): SqlCampaignResult {
    return {
      profile: this.#options.profile,
      seed: this.#seed,
      runs: this.#runs,
      violations: this.#counts.all,
      invariantBroken: this.#counts.invariantBroken,
      notRetried: this.#counts.notRetried,
      distinctSchedules: this.#schedules.size,
      distinctPlans: this.#plans.size,
      firstFailingRun: this.#failing === null ? null : this.#failing.run + 1,
      failure,
      marks: this.#marks,
      timeout: this.#late?.late ?? null,
      waiting: this.#late?.waiting ?? null,
      unsupported: this.#unsupported.list,
      accesses: this.#accesses,
      stopped: this.#stopped,
      replayed: this.#replayed,
      evidence: this.#evidence(),
    };
  }

  #evidence(): Evidence {
    const { waitMs = waitMsDefault } = this.#options;
    const cut = [
      ...(this.#late === null ? [] : [lateText(this.#late)]),
      ...(this.#stopped === null ? [] : [stoppedText(this.#stopped)]),
    ];
    const waiting = waitingEvidence(this.#memory, waitMs, cut);
    return {
      store: 'sql',
      violations: this.#counts.all,
      looked: [{ count: this.#runs, nothing: 'no run was made' }],
      sessions: this.#sessions.sessions(),
      invariant: { ...this.#invariant.evidence, again: this.#again },
      unsupported: this.#unsupported.list,
      ...waiting,
      assumed: [
        ...assumptionsOf(this.#program),
        ...waiting.assumed,
        ...(this.#draws?.assumed() ?? assumedClauses(this.#accesses)),
        ...this.#takenForGranted,
        ...this.#repeated.assumed(),
      ],
    };
  }
}

const anyChoices = { path: null, ways: {} } as const;

interface FailingRun {
  readonly run: number;
  readonly path: readonly number[];
  readonly ways: Ways;
  readonly kind: FailureKind;
}

/** A broken invariant tells more than an error that was not retried, then the shorter run. */
function moreTelling(known: FailingRun | null, found: FailingRun): FailingRun {
  if (known === null) return found;
  if (known.kind !== found.kind) return known.kind === 'invariant-broken' ? known : found;
  return found.path.length < known.path.length ? found : known;
}

/** When the time is over, or the user has had enough: for what is still to be said of a failing run. */
const EXPLAIN_MS = 300;

function failsOnceOnly(): InputError {
  return new InputError(
    'program/nondeterministic',
    'a run that failed does not fail again with the same decisions: the program depends on something else (time, randomness, the network)',
  );
}
