/**
 * `moirai explore` for SQL programs: every schedule of statements and commits that the engine profile could take, lock waits, deadlocks and
 * serialization failures included. Stateless: the program runs again through its own driver for every schedule. Of the schedules that differ only
 * in the order of independent steps one is walked to its end (`schedule-tree.ts`); different ones may still come to the same history. In the
 * axiomatic family what each read sees is enumerated as well, without reduction.
 */
import { Budget, monotonicMs } from '../../base/index.ts';
import { SharedPlans, type Ways } from '../../database/index.ts';
import {
  AnswerTree,
  ArrivalMemory,
  checkDialect,
  checkedRun,
  decodeChoices,
  type Late,
  otherTurn,
  reasonOf,
  RepeatedRuns,
  SerialCheck,
  shapeOfSql,
  SharedSchema,
  type SqlRun,
  type SqlRunOptions,
  UnderWay,
} from '../../sql-program/index.ts';
import { otherExploration, requireResumable } from '../index.ts';
import { type Decisions, retracing } from '../../mockdb/index.ts';
import {
  compareRun,
  isSameShape,
  openToken,
  type Replayed,
  requireUsed,
  type SqlProgram,
} from '../../program/index.ts';
import { requireSameSubject, subjectOf } from './checkpoint-subject.ts';
import { estimateMeanwhile } from './estimate-schedules.ts';
import type { ExploreSqlOptions } from './explore-sql-options.ts';
import type { ExploreSqlResult, ScheduleEstimate } from './explore-sql-result.ts';
import { withJudgedAgain } from './exploration-judged-again.ts';
import { exploringRun } from './exploring-run.ts';
import { counting, prefixed } from './prefix.ts';
import { ScheduleTree, type TreePosition } from './schedule-tree.ts';
import type { SqlCheckpoint } from './sql-checkpoint.ts';
import { evidenceOf, type ExploredSoFar, failuresOf, resultOf } from './sql-exploration-result.ts';
import { SqlFindings } from './sql-findings.ts';
import { StepFootprints } from './step-footprints.ts';

/** @throws InputError `program/schema`, `program/dialect`, `program/nondeterministic`, `option/checkpoint`, `explore/checkpoint` */
export async function exploreSql(program: SqlProgram, options: ExploreSqlOptions): Promise<ExploreSqlResult> {
  checkDialect(program, options.profile);
  requireResumable(options, 'one schedule');
  const budget = new Budget(options);
  const exploration = new SqlExploration(program, options);
  const first = await exploration.run();
  const { unreduced } = exploration;
  const result = unreduced === null ? first : await new SqlExploration(program, unreduced).run();
  const { prefix = [], ways = {}, violationsOnly = false } = options;
  // Of one part or with unlikely access paths the program has the same invariant.
  if (violationsOnly || prefix.length > 0 || Object.keys(ways).length > 0) return result;
  return withJudgedAgain(program, { ...options, budget }, result);
}

type Finished = Extract<SqlRun, { kind: 'finished' }>;

class SqlExploration {
  readonly #program: SqlProgram;
  readonly #options: ExploreSqlOptions;
  readonly #memory = new ArrivalMemory();
  readonly #sharedPlans: SharedPlans;
  readonly #sharedSchema: SharedSchema;
  readonly #steps = new StepFootprints();
  readonly #reduces: boolean;
  readonly #tree: ScheduleTree;
  readonly #found: SqlFindings;
  readonly #repeated: RepeatedRuns;
  /** `null`: only violations are asked for. */
  readonly #answers: AnswerTree | null;
  readonly #underWay = new UnderWay();
  readonly #serial: SerialCheck;
  #stopped: ExploreSqlResult['stopped'] = null;
  #estimate: ScheduleEstimate | null = null;
  readonly #startedMs = monotonicMs();
  readonly #budget: Budget;
  #replayed: Replayed | null = null;
  /** Where it stood before the run under way. */
  #standing: () => SqlCheckpoint;
  #checkpointedMs = this.#startedMs;
  #ways: Ways;

  constructor(program: SqlProgram, options: ExploreSqlOptions) {
    this.#repeated = new RepeatedRuns(program, options.isFunctionOfReads);
    this.#program = this.#repeated.program;
    this.#options = options;
    this.#sharedPlans = options.sharedPlans ?? new SharedPlans();
    this.#sharedSchema = options.sharedSchema ?? new SharedSchema();
    this.#ways = options.ways ?? {};
    if (options.resume !== undefined) this.#memory.restore(options.resume.memory);
    this.#budget = new Budget(options);
    this.#serial = new SerialCheck(program, (decisions) =>
      checkedRun(this.#program, {
        ...exploringRun(decisions, {
          ...options,
          ways: this.#ways,
          memory: this.#memory,
          sharedPlans: this.#sharedPlans,
          sharedSchema: this.#sharedSchema,
        }),
        underWay: this.#underWay,
      }),
    );
    const { violationsOnly = false } = options;
    this.#answers = violationsOnly ? null : new AnswerTree(program.sessionNames, this.#memory.looking);
    this.#found = new SqlFindings(program.sessionNames, {
      again: (run) => checkedRun(this.#program, { ...this.#again(run), findsPlaces: true }),
      violationsOnly,
    });
    const { profile, reduces = true } = options;
    // Steps that share no row may share memory of the process.
    this.#reduces = reduces && profile.family === 'engine' && !this.#memory.isShared;
    this.#tree = new ScheduleTree({
      processOf: (connection) => this.#steps.processOf(connection),
      phase: () => this.#steps.phase,
      waiting: () => this.#steps.waiting(),
      takeFootprint: () => this.#steps.take(),
      endRun: () => this.#steps.end(),
      reduces: this.#reduces,
    });
    this.#standing = this.#stand(this.#tree.position());
  }

  async run(): Promise<ExploreSqlResult> {
    this.#options.onStart?.(
      () => {
        const soFar = this.#soFar();
        return { ...resultOf(soFar, failuresOf(soFar)), complete: false };
      },
      () => this.#underWay.text,
      () => this.#standing(),
    );
    try {
      await this.#runAll();
      return await this.#result();
    } finally {
      this.#repeated.stop();
    }
  }

  /** How to walk every schedule, where sessions share memory and schedules were left out; `null`: what is walked is enough. */
  get unreduced(): ExploreSqlOptions | null {
    if (!this.#reduces || !this.#memory.isShared || this.#stopped !== null || this.#found.counts.all > 0) return null;
    const { resume: _resume, ...options } = this.#options;
    const { leftMs } = this.#budget;
    return { ...options, reduces: false, ...(leftMs === Infinity ? {} : { timeMaxMs: leftMs }) };
  }

  async #runAll(): Promise<void> {
    const { replay, prefix = [] } = this.#options;
    if (replay !== undefined) return this.#replay(replay);
    let isOpen = await this.#begin();
    while (isOpen && this.#stopped === null) {
      await this.#estimateIfLong();
      this.#stopped = this.#budget.over;
      if (this.#stopped === null) await this.#runOnce(prefixed(prefix, this.#tree.decisions()));
      if (this.unreduced !== null) return;
      if (this.#stopped === null) isOpen = this.#next();
    }
    if (this.#stopped === null) await this.#runLastFirst();
    if (this.unreduced === null) this.#options.onCheckpoint?.(this.#standing());
  }

  /**
   * The last session first: of schedules that only swap independent steps one was run, and in another one the sessions may find something else in
   * memory that they share. Where they share nothing, the run shows nothing new.
   */
  async #runLastFirst(): Promise<void> {
    const { prefix = [], onRun, isFunctionOfReads = false } = this.#options;
    if (isFunctionOfReads || this.#found.counts.all > 0) return;
    if (this.#program.sessions.length < 2 || prefix.some((each) => each > 0)) return;
    onRun?.();
    const decisions = counting((_, options) => options - 1);
    const run = await this.#repeated.made(() => {
      this.#answers?.begin();
      return checkedRun(this.#program, {
        ...this.#exploringRun(decisions),
        isLogged: true,
        ...(this.#answers === null ? {} : { onStatement: this.#answers.ended }),
      });
    });
    if (run.kind === 'timeout') return;
    this.#answers?.finish(run.results);
  }

  /** @returns false where nothing is left to run */
  async #begin(): Promise<boolean> {
    const { resume } = this.#options;
    if (resume === undefined) return true;
    requireSameSubject(resume, subjectOf(this.#program, this.#options));
    this.#found.restore(resume.found);
    const { histories, outcomes } = resume.found;
    this.#options.onSeen?.({ histories, outcomes });
    this.#standing = () => resume;
    return resume.position !== null && this.#continueAt(resume.position);
  }

  /** @returns false where a run did not end */
  async #continueAt(position: TreePosition): Promise<boolean> {
    const { prefix = [], onRun } = this.#options;
    await this.#tree.restore(position, async (decisions) => {
      this.#stopped ??= this.#budget.over;
      if (this.#stopped !== null) return false;
      onRun?.();
      const run = await this.#repeated.made(() =>
        checkedRun(this.#program, this.#runOptions(prefixed(prefix, decisions))),
      );
      if (this.#tree.hasDiverged) throw otherExploration('with the same decisions the program does not do the same');
      if (run.kind === 'timeout') this.#stopped = this.#budget.over ?? lateOf(run);
      return this.#stopped === null;
    });
    return this.#stopped === null;
  }

  /** To the next schedule. @returns false when there is none */
  #next(): boolean {
    const isOpen = this.#tree.next();
    const { onCheckpoint, onStart, checkpointEveryMs = 30_000 } = this.#options;
    if (onCheckpoint === undefined && onStart === undefined) return isOpen;
    this.#standing = this.#stand(isOpen ? this.#tree.position() : null);
    if (onCheckpoint === undefined || monotonicMs() - this.#checkpointedMs < checkpointEveryMs) return isOpen;
    onCheckpoint(this.#standing());
    this.#checkpointedMs = monotonicMs();
    return isOpen;
  }

  #stand(position: TreePosition | null): () => SqlCheckpoint {
    const subject = subjectOf(this.#program, this.#options);
    const memory = this.#memory.saved();
    const found = this.#found.standing();
    const sources = this.#sources();
    return () => ({ subject, position, memory, found: found(), sources });
  }

  /** What the verdict takes for granted of the values of sources, as clauses. */
  #sources(): string[] {
    return [...new Set([...(this.#options.resume?.sources ?? []), ...this.#repeated.assumed()])];
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
    const { last } = this.#found;
    this.#replayed = compareRun(token, { shape, steps: last?.steps ?? [] }, this.#program, reasonOf(last));
  }

  async #estimateIfLong(): Promise<void> {
    const { estimateAfterMs = Infinity, onEstimate } = this.#options;
    if (this.#estimate !== null || monotonicMs() - this.#startedMs < estimateAfterMs) return;
    const known = { ways: this.#ways, budget: this.#budget, memory: this.#memory };
    this.#estimate = await estimateMeanwhile(this.#program, this.#options, known);
    if (this.#estimate.probes > 0) onEstimate?.(this.#estimate);
  }

  async #runOnce(decisions: Decisions): Promise<void> {
    const { schedulesMax = Infinity, historiesMax = Infinity, failsFast = false } = this.#options;
    const failsFastAfter = failsFast ? 0 : (this.#options.failsFastAfter ?? Infinity);
    if (this.#found.counts.all > 0 && this.#found.schedules >= failsFastAfter) this.#stopped = 'violation';
    if (this.#found.schedules >= schedulesMax) this.#stopped = 'schedules';
    if (this.#found.histories.size >= historiesMax) this.#stopped = 'histories';
    if (this.#stopped !== null) return;
    this.#options.onRun?.();
    const run = await this.#repeated.made(() => checkedRun(this.#program, this.#runOptions(decisions)));
    if (run.kind === 'timeout') this.#stopped = this.#budget.over ?? lateOf(run);
    else await this.#judge(run);
    if (this.#found.counts.all > 0 && this.#found.schedules > failsFastAfter) this.#stopped ??= 'violation';
    this.#options.onProgress?.({
      schedules: this.#found.schedules,
      histories: this.#found.histories.size,
      violations: this.#found.counts.all,
      share: this.#tree.share,
      estimate: this.#estimate,
    });
  }

  async #judge(run: Finished): Promise<void> {
    this.#answers?.finish(run.results);
    this.#tree.finish();
    // Another exploration begins, which leaves nothing out.
    if (this.#tree.hasDiverged && this.unreduced !== null) return;
    if (this.#tree.hasDiverged) throw otherTurn([...this.#memory.looking]);
    this.#found.sessions.add(run.sessions);
    this.#found.invariant.add(run.invariant);
    await this.#underWay.during('the serial check', () => this.#serial.require(run));
    await this.#underWay.during('the determinism check', () => this.#requireRepeatable(run));
    if (this.#tree.isRepetition) this.#found.repetitions += 1;
    else {
      const seen = await this.#found.note(run);
      if (seen !== null) this.#options.onSeen?.({ histories: [seen.history], outcomes: [seen.outcome] });
    }
  }

  #runOptions(decisions: Decisions): SqlRunOptions {
    this.#steps.begin();
    this.#answers?.begin();
    return {
      ...this.#exploringRun(decisions),
      isLogged: true,
      onOpen: (database) => this.#steps.open(database),
      onStatement: (connection, event) => {
        this.#steps.ended(connection, event);
        this.#answers?.ended(connection, event);
      },
      onJudge: () => this.#steps.judge(),
      footprints: this.#steps.recorder,
    };
  }

  #exploringRun(decisions: Decisions): SqlRunOptions {
    const { takenForGranted } = this.#found;
    const [ways, memory, sharedPlans, sharedSchema] = [this.#ways, this.#memory, this.#sharedPlans, this.#sharedSchema];
    const budget = this.#budget;
    const options = { ...this.#options, ways, memory, sharedPlans, sharedSchema, budget, takenForGranted };
    return { ...exploringRun(decisions, options), underWay: this.#underWay };
  }

  async #requireRepeatable(run: Finished): Promise<void> {
    const how = this.#repeated.takes(run);
    if (how === null) return;
    const again = (program: SqlProgram): Promise<SqlRun> =>
      checkedRun(program, { ...this.#again(run), isLogged: true });
    const { returned: waitedOutside } = this.#memory;
    if (!(await this.#repeated.require(how, { run, again, waitedOutside })))
      this.#stopped = this.#budget.over ?? { late: 'the determinism check', waiting: null };
  }

  /** The same schedule, without a part in the exploration. */
  #again({ path }: Finished): SqlRunOptions {
    return this.#exploringRun(retracing(path));
  }

  async #result(): Promise<ExploreSqlResult> {
    const explored = this.#soFar();
    requireUsed({ evidence: evidenceOf(explored), replayed: this.#replayed });
    const failures = failuresOf(explored);
    // Each once more, for a program that does not do the same again; but not when the time is over.
    for (const { message, replay } of failures) {
      if (this.#options.isFunctionOfReads === true || this.#budget.over !== null) break;
      const run = await checkedRun(
        this.#program,
        this.#runOptions(retracing(decodeChoices(openToken(replay).choices).path)),
      );
      if (run.kind === 'timeout' && this.#budget.over !== null) break;
      if (run.kind === 'timeout' || run.violation !== message) throw otherTurn([...this.#memory.looking]);
    }
    return resultOf(this.#soFar(), failures);
  }

  #soFar(): ExploredSoFar {
    return {
      program: this.#program,
      options: this.#options,
      found: this.#found,
      memory: this.#memory,
      ways: this.#ways,
      sources: this.#sources(),
      stopped: this.#stopped,
      estimate: this.#estimate,
      replayed: this.#replayed,
    };
  }
}

function lateOf({ late, waiting }: Late): Late {
  return { late, waiting };
}
