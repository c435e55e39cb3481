/**
 * `moirai explore` for SQL programs: every schedule of statements and commits that the engine profile could take, lock waits, deadlocks and
 * serialization failures included. Stateless: the program runs again through its own driver for every schedule. Of the schedules that differ only
 * in the order of independent steps one is walked to its end (`schedule-tree.ts`); different ones may still come to the same history. In the
 * axiomatic family what each read sees is enumerated as well, without reduction.
 */
import { createHash } from 'node:crypto';
import { Budget, type BudgetOptions } from '../base/budget.ts';
import { seeded } from '../base/chooser.ts';
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import type { Evidence, UnsupportedStatement } from '../evidence/index.ts';
import { type History, INITIAL } from '../history/index.ts';
import { type Decisions, retracing } from '../mockdb/index.ts';
import {
  compareRun,
  countMarks,
  isSameShape,
  openToken,
  type Replayed,
  requireUsed,
  sealToken,
  SessionTally,
  type SqlProgram,
} from '../program/index.ts';
import {
  type AssumedAccess,
  assumedClauses,
  mergedAccesses,
  type Profile,
  unlikelyClauses,
  type Ways,
} from '../serve/index.ts';
import { ArrivalMemory } from './arrivals.ts';
import { estimateSchedules, type ScheduleEstimate } from './estimate-schedules.ts';
import { exploringRun } from './exploring-run.ts';
import { prefixed } from './prefix.ts';
import { reasonOf, shapeOfSql } from './run-steps.ts';
import { ScheduleTree } from './schedule-tree.ts';
import { checkDialect, type SqlFailure, tried } from './sql-campaign.ts';
import { anomalyOf, evidenceIn } from './sql-evidence.ts';
import { FailureCounts, type Late, stoppedText, waitingEvidence } from './run-evidence.ts';
import { SerialCheck } from './serial-check.ts';
import { RepeatedRuns, shown } from './repeatable.ts';
import { type FailureKind, type SqlRun, type SqlRunOptions, waitMsDefault } from './sql-run.ts';
import type { LoggedStatement } from './statement-log.ts';
import { decodeChoices, encodeChoices } from './sql-token.ts';
import { StepFootprints } from './step-footprints.ts';
import { UnderWay } from './under-way.ts';
import { UnsupportedOfRuns } from './unsupported-of-runs.ts';

export interface ExploreSqlOptions extends BudgetOptions {
  readonly profile: Profile;
  /** Access paths of statements, where they are not the likely ones. A replay takes those of its token. */
  readonly ways?: Ways;
  /** Distinct histories to see before the answer is `unknown`. Default: all. */
  readonly historiesMax?: number;
  /** Schedules to run before the answer is `unknown`. Default: all. */
  readonly schedulesMax?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** How long a session that awaits something other than the database is waited for before the others go on. Default 1,000. */
  readonly waitMs?: number;
  /** Kinds of failures to keep a run of. Default 5. */
  readonly failuresMax?: number;
  /** End with the first violation. Default false. */
  readonly failsFast?: boolean;
  /** Leave out schedules that only swap independent steps? Default true. */
  readonly reduces?: boolean;
  /** Only this schedule. */
  readonly replay?: string;
  /** Only schedules that begin with these decisions: a part of the tree, which is explored as if it were all. */
  readonly prefix?: readonly number[];
  /** Estimate how many schedules there are when it is not over after so long: 0 is before the first run. Default: never. */
  readonly estimateAfterMs?: number;
  readonly onEstimate?: (estimate: ScheduleEstimate) => void;
  /** Called before the first run, with what tells the result so far, and what is under way, at any moment, also from within a run. */
  readonly onStart?: (soFar: () => ExploreSqlResult, underWay: () => string) => void;
  readonly onProgress?: (progress: SqlProgress) => void;
  /** Called before each run, for those who watch. */
  readonly onRun?: () => void;
  /** Called for schedules that are no repetitions: what was seen, as keys that are equal where it was the same. */
  readonly onSeen?: (seen: { readonly histories: readonly string[]; readonly outcomes: readonly string[] }) => void;
}

export interface SqlProgress {
  readonly schedules: number;
  readonly histories: number;
  readonly violations: number;
  /** The share of the tree of schedules that was walked, if every branch were of the same size: between 0 and 1. */
  readonly share: number;
  /** How many there are if nothing is left out: more than will be run. `null`: there is no estimate yet. */
  readonly estimate: ScheduleEstimate | null;
}

export interface ExploreSqlResult {
  readonly profile: Profile;
  /** Runs of the program that were no repetitions. */
  readonly schedules: number;
  /** Runs that turned out to repeat a schedule with independent steps swapped. */
  readonly repetitions: number;
  /** Distinct histories: which rows each transaction read, from whom, and wrote, and whether it was committed. */
  readonly histories: number;
  /** Distinct outcomes: what every session was told by each of its statements, what it returned, and the verdict of the invariant. */
  readonly outcomes: number;
  /** Schedules that fail: `invariantBroken` and `notRetried` together. */
  readonly violations: number;
  /** Schedules whose invariant is broken, or in which a session ended with an error that asks for no other try. */
  readonly invariantBroken: number;
  /** Schedules in which a session ended with an error after which its transaction should have run again: 40001, 40P01, MySQL's 1213 and 1205. */
  readonly notRetried: number;
  /** Were there no more? */
  readonly complete: boolean;
  /** Why not. */
  readonly stopped: 'histories' | 'schedules' | 'time' | 'interrupted' | 'violation' | 'replay' | 'plans' | Late | null;
  /** Of a replay: did the run do what the token recorded? */
  readonly replayed: Replayed | null;
  /** For each `sometimes(name)`: schedules in which its condition held. */
  readonly marks: ReadonlyMap<string, number>;
  /** The kinds of failures by message and anomaly, each with the run of the fewest decisions that leave the first session, the most frequent first. */
  readonly failures: readonly SqlFailureKind[];
  /** Where one was made. */
  readonly estimate: ScheduleEstimate | null;
  /** Statements of all schedules that moirai cannot do and the engine could; schedules with one of them are not among the violations. */
  readonly unsupported: readonly UnsupportedStatement[];
  /** Ways to rows on which the verdict depends, where a server may take others. */
  readonly accesses: readonly AssumedAccess[];
  /** Combinations of access paths that were explored: 1 is the likely one alone. */
  readonly plans: number;
  /** What was looked at: `conclude` makes the verdict of it. */
  readonly evidence: Evidence;
}

export interface SqlFailureKind extends SqlFailure {
  /** Schedules that end like this. */
  readonly schedules: number;
}

/** @throws InputError `program/schema`, `program/dialect`, `program/nondeterministic` */
export async function exploreSql(program: SqlProgram, options: ExploreSqlOptions): Promise<ExploreSqlResult> {
  checkDialect(program, options.profile);
  return new SqlExploration(program, options).run();
}

interface Kind {
  readonly kind: FailureKind;
  readonly message: string;
  readonly anomaly: string | null;
  schedules: number;
  path: readonly number[];
  /** What that run did. */
  statements: readonly LoggedStatement[];
  plan: readonly string[];
  steps: readonly string[];
  history: History;
  undecided: readonly string[];
}

type Finished = Extract<SqlRun, { kind: 'finished' }>;

class SqlExploration {
  readonly #program: SqlProgram;
  readonly #options: ExploreSqlOptions;
  readonly #memory = new ArrivalMemory();
  readonly #steps = new StepFootprints();
  readonly #tree: ScheduleTree;
  readonly #histories = new Set<string>();
  readonly #outcomes = new Set<string>();
  readonly #marks = new Map<string, number>();
  readonly #kinds = new Map<string, Kind>();
  readonly #repeated: RepeatedRuns;
  readonly #underWay = new UnderWay();
  #schedules = 0;
  #repetitions = 0;
  readonly #counts = new FailureCounts();
  readonly #sessions: SessionTally;
  readonly #serial: SerialCheck;
  #stopped: ExploreSqlResult['stopped'] = null;
  #estimate: ScheduleEstimate | null = null;
  readonly #startedMs = monotonicMs();
  readonly #budget: Budget;
  #replayed: Replayed | null = null;
  /** The run that was noted last. */
  #last: Finished | null = null;
  readonly #unsupported: UnsupportedOfRuns;
  readonly #takenForGranted = new Set<string>();
  #accesses: readonly AssumedAccess[] = [];
  #ways: Ways;

  constructor(program: SqlProgram, options: ExploreSqlOptions) {
    this.#repeated = new RepeatedRuns(program);
    this.#program = this.#repeated.program;
    this.#options = options;
    this.#ways = options.ways ?? {};
    this.#budget = new Budget(options);
    this.#sessions = new SessionTally(program.sessionNames);
    this.#serial = new SerialCheck(program, (decisions) =>
      tried(this.#program, {
        ...exploringRun(decisions, { ...options, ways: this.#ways, memory: this.#memory }),
        underWay: this.#underWay,
      }),
    );
    this.#unsupported = new UnsupportedOfRuns((run) =>
      tried(this.#program, { ...this.#again(run), findsPlaces: true }),
    );
    const { profile, reduces = true } = options;
    this.#tree = new ScheduleTree({
      processOf: (connection) => this.#steps.processOf(connection),
      phase: () => this.#steps.phase,
      waiting: () => this.#steps.waiting(),
      takeFootprint: () => this.#steps.take(),
      reduces: reduces && profile.family === 'engine',
    });
  }

  async run(): Promise<ExploreSqlResult> {
    this.#options.onStart?.(
      () => ({ ...this.#resultWith(this.#failures()), complete: false }),
      () => this.#underWay.text,
    );
    try {
      await this.#runAll();
      return await this.#result();
    } finally {
      this.#repeated.stop();
    }
  }

  async #runAll(): Promise<void> {
    const { replay, prefix = [] } = this.#options;
    if (replay !== undefined) await this.#replay(replay);
    else
      do {
        await this.#estimateIfLong();
        this.#stopped = this.#budget.over;
        if (this.#stopped === null) await this.#runOnce(prefixed(prefix, this.#tree.decisions()));
      } while (this.#stopped === null && this.#tree.next());
  }

  async #replay(text: string): Promise<void> {
    const token = openToken(text);
    const shape = shapeOfSql(this.#program, this.#options.profile);
    if (isSameShape(token, shape)) {
      const { path, ways } = decodeChoices(token.choices);
      this.#ways = ways;
      await this.#runOnce(retracing(path));
    }
    this.#stopped ??= 'replay';
    this.#replayed = compareRun(token, { shape, steps: this.#last?.steps ?? [] }, reasonOf(this.#last));
  }

  async #estimateIfLong(): Promise<void> {
    const { estimateAfterMs = Infinity, onEstimate, profile, timeoutMs, onRun } = this.#options;
    if (this.#estimate !== null || monotonicMs() - this.#startedMs < estimateAfterMs) return;
    const { signal } = this.#budget;
    this.#estimate = await estimateSchedules(this.#program, {
      profile,
      ways: this.#ways,
      chooser: seeded(1),
      // One that was asked for takes its time.
      timeMaxMs: estimateAfterMs === 0 ? this.#budget.leftMs : Math.min(ESTIMATE_MS, this.#budget.leftMs),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(signal === undefined ? {} : { signal }),
      ...(onRun === undefined ? {} : { onRun }),
    });
    if (this.#estimate.probes > 0) onEstimate?.(this.#estimate);
  }

  async #runOnce(decisions: Decisions): Promise<void> {
    const { schedulesMax = Infinity, historiesMax = Infinity } = this.#options;
    if (this.#schedules >= schedulesMax) this.#stopped = 'schedules';
    if (this.#histories.size >= historiesMax) this.#stopped = 'histories';
    if (this.#stopped !== null) return;
    this.#options.onRun?.();
    const run = await this.#repeated.made(() => tried(this.#program, this.#runOptions(decisions)));
    if (run.kind === 'timeout') this.#stopped = this.#budget.over ?? { late: run.what };
    else await this.#judge(run);
    if (this.#options.failsFast === true && this.#counts.all > 0) this.#stopped ??= 'violation';
    const { size: histories } = this.#histories;
    this.#options.onProgress?.({
      schedules: this.#schedules,
      histories,
      violations: this.#counts.all,
      share: this.#tree.share,
      estimate: this.#estimate,
    });
  }

  async #judge(run: Finished): Promise<void> {
    if (this.#tree.hasDiverged) throw nondeterministic();
    this.#sessions.add(run.sessions);
    await this.#underWay.during('the serial check', () => this.#serial.require(run));
    await this.#underWay.during('the determinism check', () => this.#requireRepeatable(run));
    if (this.#tree.isRepetition) this.#repetitions += 1;
    else await this.#note(run);
  }

  #runOptions(decisions: Decisions): SqlRunOptions {
    this.#steps.begin();
    return {
      ...this.#exploringRun(decisions),
      isLogged: true,
      onOpen: (database) => this.#steps.open(database),
      onStatement: (connection, event) => this.#steps.ended(connection, event),
      onJudge: () => this.#steps.judge(),
      footprints: this.#steps.recorder,
    };
  }

  #exploringRun(decisions: Decisions): SqlRunOptions {
    const [ways, memory, budget, takenForGranted] = [this.#ways, this.#memory, this.#budget, this.#takenForGranted];
    const options = { ...this.#options, ways, memory, budget, takenForGranted };
    return { ...exploringRun(decisions, options), underWay: this.#underWay };
  }

  async #requireRepeatable(run: Finished): Promise<void> {
    const how = this.#repeated.takes(run);
    if (how === null) return;
    const again = (program: SqlProgram): Promise<SqlRun> => tried(program, { ...this.#again(run), isLogged: true });
    const { returned: waitedOutside } = this.#memory;
    if (!(await this.#repeated.require(how, { run, again, waitedOutside })))
      this.#stopped = this.#budget.over ?? { late: 'the determinism check' };
  }

  /** The same schedule, without a part in the exploration. */
  #again({ path }: Finished): SqlRunOptions {
    return this.#exploringRun(retracing(path));
  }

  async #note(run: Finished): Promise<void> {
    this.#schedules += 1;
    this.#last = run;
    const observed = run.history();
    const history = digest(historyKey(observed));
    const outcome = digest(outcomeKey(run));
    this.#histories.add(history);
    this.#outcomes.add(outcome);
    this.#options.onSeen?.({ histories: [history], outcomes: [outcome] });
    countMarks(this.#marks, run.marks);
    await this.#unsupported.add(run);
    this.#accesses = mergedAccesses([this.#accesses, run.assumed]);
    // What the program makes of an error that the engine would not give is no violation.
    if (run.violation === null || run.failureKind === null || run.unsupported.length > 0) return;
    this.#counts.add(run.failureKind);
    const { statements, steps, failureKind: kind } = run;
    const anomaly = anomalyOf(evidenceIn(observed));
    const key = `${run.violation}\0${anomaly}`;
    const known = this.#kinds.get(key);
    const path = [...run.path];
    const plan = unlikelyClauses(run.assumed);
    const example = { path, statements, plan, steps, history: observed, undecided: run.undecided() };
    if (known === undefined) this.#kinds.set(key, { kind, message: run.violation, anomaly, schedules: 1, ...example });
    else {
      known.schedules += 1;
      if (weight(path) < weight(known.path)) Object.assign(known, example);
    }
  }

  async #result(): Promise<ExploreSqlResult> {
    requireUsed({ evidence: this.#evidence(), replayed: this.#replayed });
    const failures = this.#failures();
    // Each once more, for a program that does not do the same again; but not when the time is over.
    for (const { message, replay } of failures) {
      if (this.#budget.over !== null) break;
      const run = await tried(
        this.#program,
        this.#runOptions(retracing(decodeChoices(openToken(replay).choices).path)),
      );
      if (run.kind === 'timeout' && this.#budget.over !== null) break;
      if (run.kind === 'timeout' || run.violation !== message) throw nondeterministic();
    }
    return this.#resultWith(failures);
  }

  #failures(): SqlFailureKind[] {
    const { failuresMax = 5 } = this.#options;
    const kinds = [...this.#kinds.values()].toSorted(inOrder).slice(0, failuresMax);
    const shape = shapeOfSql(this.#program, this.#options.profile);
    return kinds.map(({ path, ...kind }) => ({
      ...kind,
      replay: sealToken(encodeChoices({ path, ways: this.#ways }), { shape, steps: kind.steps }),
    }));
  }

  #resultWith(failures: readonly SqlFailureKind[]): ExploreSqlResult {
    return {
      profile: this.#options.profile,
      schedules: this.#schedules,
      repetitions: this.#repetitions,
      histories: this.#histories.size,
      outcomes: this.#outcomes.size,
      violations: this.#counts.all,
      invariantBroken: this.#counts.invariantBroken,
      notRetried: this.#counts.notRetried,
      complete: this.#stopped === null,
      stopped: this.#stopped,
      replayed: this.#replayed,
      marks: this.#marks,
      failures,
      unsupported: this.#unsupported.list,
      accesses: this.#accesses,
      plans: 1,
      estimate: this.#estimate,
      evidence: this.#evidence(),
    };
  }

  #evidence(): Evidence {
    const cut = this.#stopped === null ? [] : [stoppedText(this.#stopped)];
    const waiting = waitingEvidence(this.#memory, this.#options.waitMs ?? waitMsDefault, cut);
    return {
      store: 'sql',
      violations: this.#counts.all,
      looked: [{ count: this.#schedules, nothing: 'no schedule was run' }],
      sessions: this.#sessions.sessions(),
      unsupported: this.#unsupported.list,
      ...waiting,
      assumed: [
        ...waiting.assumed,
        ...assumedClauses(this.#accesses),
        ...this.#takenForGranted,
        ...this.#repeated.assumed(),
      ],
    };
  }
}

/** Broken invariants first, then the most frequent. */
export function inOrder(
  a: Pick<SqlFailureKind, 'kind' | 'schedules'>,
  b: Pick<SqlFailureKind, 'kind' | 'schedules'>,
): number {
  if (a.kind !== b.kind) return a.kind === 'invariant-broken' ? -1 : 1;
  return b.schedules - a.schedules;
}

const ESTIMATE_MS = 1_000;

/** Decisions that do not take the first way: how far the schedule is from one session after the other. */
function weight(path: readonly number[]): number {
  return path.filter((position) => position !== 0).length * 1_000 + path.length;
}

/** The same text for the same history, whatever the order of its transactions. */
function historyKey({ sessions, transactions, initial }: History): string {
  const lines = transactions.map(({ id, session, status, operations }) => {
    const texts = operations.map((operation) => {
      if (operation.kind === 'write') return ['w', operation.key, operation.value];
      const { key, value, from } = operation;
      return ['r', key, value, from === undefined || from === INITIAL ? null : (transactions[from]?.id ?? null)];
    });
    return JSON.stringify([sessions[session], id, status, texts]);
  });
  return [...lines.toSorted(), JSON.stringify([...initial].toSorted(([a], [b]) => (a < b ? -1 : 1)))].join('\n');
}

function outcomeKey({ statements, results, violation, marks }: Finished): string {
  const bySession = new Map<string, unknown[]>();
  for (const { session, sql, parameters, outcome } of statements) {
    bySession.set(session, [...(bySession.get(session) ?? []), [sql, parameters, outcome]]);
  }
  const sorted = <T>(map: Iterable<readonly [string, T]>): unknown => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const returned = Object.entries(results).map(([name, value]) => [name, shown(value)] as const);
  return JSON.stringify([sorted(bySession), sorted(returned), violation, sorted(marks)]);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22);
}

function nondeterministic(): InputError {
  return new InputError(
    'program/nondeterministic',
    'with the same decisions the program does not do the same: it depends on something else (time, randomness, the network)',
  );
}
