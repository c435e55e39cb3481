/** What the schedules of one exploration have shown: counts, what is distinct by its digests, and one run of each kind of failure. */
import { createHash } from 'node:crypto';
import type { InvariantEvidence, SessionEvidence, UnsupportedStatement } from '../../evidence/index.ts';
import { type History, INITIAL } from '../../history/index.ts';
import { countMarks, SessionTally } from '../../program/index.ts';
import { type AssumedAccess, mergedAccesses, type OperationTimes, unlikelyClauses } from '../../database/index.ts';
import {
  InvariantTally,
  shown,
  FailureCounts,
  anomalyOf,
  evidenceIn,
  type FailureKind,
  type SqlRun,
  type LoggedStatement,
  UnsupportedOfRuns,
} from '../../sql-program/index.ts';
import { statementLine } from '../../sql/index.ts';

type Finished = Extract<SqlRun, { kind: 'finished' }>;

/** Failures with the same message and anomaly, and the run of them with the fewest decisions that leave the first session. */
export interface Kind {
  readonly kind: FailureKind;
  readonly message: string;
  readonly anomaly: string | null;
  readonly schedules: number;
  readonly path: readonly number[];
  /** What that run did. */
  readonly statements: readonly LoggedStatement[];
  readonly plan: readonly string[];
  readonly steps: readonly string[];
  readonly history: History;
  readonly operationTimes: OperationTimes;
  readonly undecided: readonly string[];
}

/** Plain data. */
export interface SavedFindings {
  readonly schedules: number;
  readonly repetitions: number;
  readonly invariantBroken: number;
  readonly notRetried: number;
  readonly histories: readonly string[];
  readonly outcomes: readonly string[];
  readonly marks: ReadonlyMap<string, number>;
  readonly sessions: readonly SessionEvidence[];
  readonly invariant: InvariantEvidence;
  readonly kinds: readonly Kind[];
  readonly unsupported: readonly UnsupportedStatement[];
  readonly accesses: readonly AssumedAccess[];
  readonly takenForGranted: readonly string[];
}

export interface FindingsOptions {
  /** The same run, which looks where statements are sent. */
  readonly again: (run: Finished) => Promise<SqlRun>;
  /** Are histories and outcomes not counted? */
  readonly violationsOnly: boolean;
}

export class SqlFindings {
  readonly histories = new Set<string>();
  readonly outcomes = new Set<string>();
  readonly marks = new Map<string, number>();
  readonly counts = new FailureCounts();
  readonly sessions: SessionTally;
  readonly invariant = new InvariantTally();
  readonly unsupported: UnsupportedOfRuns;
  /** What a verdict takes for granted, as clauses: runs add to it. */
  readonly takenForGranted = new Set<string>();
  schedules = 0;
  repetitions = 0;
  accesses: readonly AssumedAccess[] = [];
  /** The run that was noted last. */
  last: Finished | null = null;
  readonly #kinds = new Map<string, Kind>();

  readonly #violationsOnly: boolean;

  constructor(sessionNames: readonly string[], { again, violationsOnly }: FindingsOptions) {
    this.sessions = new SessionTally(sessionNames);
    this.unsupported = new UnsupportedOfRuns(again);
    this.#violationsOnly = violationsOnly;
  }

  get kinds(): readonly Kind[] {
    return [...this.#kinds.values()];
  }

  /** @returns the digests of its history and of what the sessions were answered; `null`: only violations are asked for */
  async note(run: Finished): Promise<{ readonly history: string; readonly outcome: string } | null> {
    this.schedules += 1;
    this.last = run;
    const observed = this.#violationsOnly && run.violation === null ? null : run.history();
    const seen = this.#violationsOnly || observed === null ? null : this.#noteDistinct(run, observed);
    countMarks(this.marks, run.marks);
    await this.unsupported.add(run);
    this.accesses = mergedAccesses([this.accesses, run.assumed]);
    if (observed !== null) this.#noteFailure(run, observed);
    return seen;
  }

  #noteDistinct(run: Finished, observed: History): { readonly history: string; readonly outcome: string } {
    const history = digest(historyKey(observed));
    const outcome = digest(outcomeKey(run));
    this.histories.add(history);
    this.outcomes.add(outcome);
    return { history, outcome };
  }

  #noteFailure(run: Finished, observed: History): void {
    // What the program makes of an error that the engine would not give is no violation.
    if (run.violation === null || run.failureKind === null || run.unsupported.length > 0) return;
    this.counts.add(run.failureKind);
    const { statements, steps, failureKind: kind, violation: message } = run;
    const anomaly = anomalyOf(evidenceIn(observed));
    const key = keyOf({ message, anomaly });
    const known = this.#kinds.get(key);
    const path = [...run.path];
    const schedules = (known?.schedules ?? 0) + 1;
    if (known !== undefined && weight(path) >= weight(known.path)) this.#kinds.set(key, { ...known, schedules });
    else {
      const plan = unlikelyClauses(run.assumed);
      const [undecided, operationTimes] = [run.undecided(), run.operationTimes()];
      const example = { path, statements, plan, steps, history: observed, operationTimes, undecided };
      this.#kinds.set(key, { kind, message, anomaly, schedules, ...example });
    }
  }

  /** What it is now, whenever it is asked for. Takes time in proportion to what is not distinct histories or outcomes. */
  standing(): () => SavedFindings {
    const { schedules, repetitions, kinds, accesses, histories, outcomes } = this;
    const { invariantBroken, notRetried } = this.counts;
    const [marks, sessions, takenForGranted] = [
      new Map(this.marks),
      this.sessions.sessions(),
      [...this.takenForGranted],
    ];
    const { list: unsupported } = this.unsupported;
    const { evidence: invariant } = this.invariant;
    const few = {
      schedules,
      repetitions,
      invariantBroken,
      notRetried,
      marks,
      sessions,
      invariant,
      kinds,
      unsupported,
      accesses,
    };
    const counts = { histories: histories.size, outcomes: outcomes.size };
    // Sets keep the order in which they grew.
    return () => ({
      ...few,
      takenForGranted,
      histories: [...histories].slice(0, counts.histories),
      outcomes: [...outcomes].slice(0, counts.outcomes),
    });
  }

  /** Continues from there: before the first run. */
  restore(saved: SavedFindings): void {
    this.schedules = saved.schedules;
    this.repetitions = saved.repetitions;
    this.counts.invariantBroken = saved.invariantBroken;
    this.counts.notRetried = saved.notRetried;
    for (const history of saved.histories) this.histories.add(history);
    for (const outcome of saved.outcomes) this.outcomes.add(outcome);
    for (const clause of saved.takenForGranted) this.takenForGranted.add(clause);
    countMarks(this.marks, saved.marks);
    this.sessions.merge(saved.sessions);
    this.invariant.add(saved.invariant);
    this.unsupported.restore(saved.unsupported);
    this.accesses = saved.accesses;
    for (const kind of saved.kinds) this.#kinds.set(keyOf(kind), kind);
  }
}

function keyOf({ message, anomaly }: Pick<Kind, 'message' | 'anomaly'>): string {
  return `${message}\0${anomaly}`;
}

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
    bySession.set(session, [...(bySession.get(session) ?? []), [statementLine(sql), parameters, outcome]]);
  }
  const sorted = <T>(map: Iterable<readonly [string, T]>): unknown => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const returned = Object.entries(results).map(([name, value]) => [name, shown(value)] as const);
  return JSON.stringify([sorted(bySession), sorted(returned), violation, sorted(marks)]);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22);
}
