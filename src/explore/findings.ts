/** What the histories of an exploration showed, for its result, its checkpoints and the parts that threads give back. */
import { type Evidence, noEvidence } from '../evidence/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import { assumptionsOf, countMarks, type Program, SessionTally } from '../program/index.ts';
import type { HistoryVerdict } from './behaviours.ts';
import type { ExploreCheckpoint } from './checkpoint.ts';
import type { Counterexamples } from './counterexamples.ts';
import type { ExploringStore } from './exploring-store.ts';
import type { Runs } from './runs.ts';
import { stoppedBy } from './stopped.ts';
import { encodePrefix } from './token.ts';
import type { ExploreResult } from './explore-result.ts';
import type { ExplorePart } from './explore-part.ts';

/** The part of a checkpoint that is found, not walked. */
type SavedFindings = Pick<
  ExploreCheckpoint,
  'histories' | 'violations' | 'hasThrown' | 'marks' | 'sessions' | 'assumed' | 'examples'
>;

export class Findings {
  /** At the level. */
  histories = 0;
  violations = 0;
  /** Was a violation an error of a session? */
  hasThrown = false;
  readonly marks = new Map<string, number>();
  readonly #program: Program;
  /** The runs that were made, with what is remembered of them. */
  readonly #made: Runs;
  readonly #counterexamples: Counterexamples;
  readonly #sessions: SessionTally;
  /** What other parts of the same exploration take for granted. */
  readonly #assumed = new Set<string>();

  constructor(program: Program, made: Runs, counterexamples: Counterexamples) {
    this.#program = program;
    this.#made = made;
    this.#counterexamples = counterexamples;
    this.#sessions = new SessionTally(program.sessionNames);
  }

  /** A history at the level. @param threw whether a session ended it by an error */
  add(store: ExploringStore, { message, marks }: HistoryVerdict, threw: boolean): void {
    this.histories += 1;
    countMarks(this.marks, marks);
    this.#sessions.add(store.sessionRuns());
    if (message === null) return;
    this.violations += 1;
    this.hasThrown ||= threw;
    this.#counterexamples.add({
      message,
      history: () => store.history(),
      olderReads: store.olderReads(),
      replay: encodePrefix(store.prefix(), this.#program),
    });
  }

  /** Of another exploration of the same program. */
  merge({ result, examples, assumed, keys }: ExplorePart): void {
    this.#made.keys.merge(keys);
    this.histories += result.histories;
    this.violations += result.violations;
    countMarks(this.marks, result.marks);
    this.#sessions.merge(result.evidence.sessions);
    for (const clause of assumed) this.#assumed.add(clause);
    this.#counterexamples.merge(examples);
  }

  saved(): SavedFindings {
    const { histories, violations, hasThrown, assumed } = this;
    return {
      histories,
      violations,
      hasThrown,
      marks: new Map(this.marks),
      sessions: this.#sessions.sessions(),
      assumed,
      examples: this.#counterexamples.examples(),
    };
  }

  restore({ histories, violations, hasThrown, marks, sessions, assumed, examples }: SavedFindings): void {
    this.histories = histories;
    this.violations = violations;
    this.hasThrown = hasThrown;
    countMarks(this.marks, marks);
    this.#sessions.merge(sessions);
    for (const clause of assumed) this.#assumed.add(clause);
    this.#counterexamples.merge(examples);
  }

  /** What a verdict takes for granted, but for keys: another thread may know them. */
  get assumed(): string[] {
    return [...new Set([...assumptionsOf(this.#program), ...this.#assumed, ...this.#made.assumed()])];
  }

  evidence(level: ConstrainingLevel, stopped: ExploreResult['stopped'], isComplete: boolean): Evidence {
    // One history says nothing of what its sessions do in others.
    const isReplay = stopped === 'replay';
    const nothing = isComplete ? `no history is at ${level}` : 'no history was judged';
    const keyGaps = isReplay ? [] : this.#made.keys.gaps().map((gap) => ({ count: 0, nothing: gap }));
    return {
      ...noEvidence,
      store: 'keys',
      violations: this.violations,
      looked: [{ count: this.histories, nothing }, ...keyGaps],
      sessions: isReplay ? [] : this.#sessionEvidence(),
      cut: isComplete ? [] : [stoppedBy(stopped)],
      assumed: [...this.assumed, ...(isReplay ? [] : this.#made.keys.assumed()), ...this.#made.judgedAgain.assumed()],
    };
  }

  #sessionEvidence(): Evidence['sessions'] {
    return this.#sessions.sessions().map((session, i) => {
      const { failure, rolledBack } = this.#made.inEveryRun(i);
      return {
        ...session,
        ...(failure === null ? {} : { failedRuns: session.runs, failure }),
        ...(rolledBack === null ? {} : { rolledBackRuns: session.runs, rolledBack }),
      };
    });
  }
}
