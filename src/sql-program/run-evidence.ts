/** The evidence of a campaign or an exploration of a SQL program, gathered run by run. */
import { type StopReason, stopText } from '../base/index.ts';
import { mergedUnsupported } from '../database/index.ts';
import { type Conclusion, conclude, type Evidence } from '../evidence/index.ts';
import { answerOf, looksAtMemoryText, type Replayed, SessionTally } from '../program/index.ts';
import type { ArrivalMemory } from './arrivals.ts';
import { InvariantTally } from './invariant-tally.ts';
import type { FailureKind, Late } from './sql-run.ts';

/** How many failing runs there are of each kind. */
export class FailureCounts {
  invariantBroken = 0;
  notRetried = 0;

  add(kind: FailureKind): void {
    if (kind === 'invariant-broken') this.invariantBroken += 1;
    else this.notRetried += 1;
  }

  get all(): number {
    return this.invariantBroken + this.notRetried;
  }
}

/** As a clause. */
export function lateText({ late, waiting }: Late): string {
  return `${late} did not end in time${waiting === null ? '' : `: ${waiting}`}`;
}

/** Why runs ended before all was seen, as a clause. */
export function stoppedText(stopped: StopReason | StoppedEarly | Late): string {
  if (typeof stopped === 'object') return lateText(stopped);
  switch (stopped) {
    case 'histories':
      return 'stopped by --max-histories';
    case 'schedules':
      return 'stopped after so many schedules';
    case 'violation':
      return 'the first violation ends it';
    case 'plans':
      return 'stopped after so many combinations of access paths';
    case 'replay':
      return 'one schedule was replayed';
    default:
      return stopText(stopped);
  }
}

type StoppedEarly = 'histories' | 'schedules' | 'violation' | 'replay' | 'plans';

/** What waiting for sessions has shown: what a green verdict takes for granted, and what it lacks. */
export function waitingEvidence(
  memory: ArrivalMemory,
  waitMs: number,
  cut: readonly string[],
): Pick<Evidence, 'cut' | 'assumed' | 'awaiting'> {
  const seconds = `${waitMs / 1_000} s`;
  const returned = [...memory.returned].filter((session) => !memory.overdue.has(session)).toSorted();
  return {
    awaiting: [...memory.joining].toSorted(),
    cut: [
      ...cut,
      ...[...memory.overdue]
        .toSorted()
        .map(
          (session) =>
            `session "${session}" awaited something other than the database for longer than ${seconds}: the others went first`,
        ),
    ],
    assumed: [
      ...returned.map(
        (session) => `session "${session}" awaits something other than the database for less than ${seconds}`,
      ),
      ...[...memory.joining]
        .toSorted()
        .map((session) => `the sessions run in one process, where session "${session}" awaits another`),
      ...[...memory.looking].toSorted().map(looksAtMemoryText),
    ],
  };
}

/** A replay is satisfied where it is fixed: nothing is said of other runs. */
export function conclusionOf({ evidence, replayed, violations }: Concluded): Conclusion {
  if (replayed === null) return conclude(evidence);
  switch (answerOf(replayed, violations)) {
    case 'still-fails':
      return { kind: 'violated' };
    case 'fixed':
      return { kind: 'satisfied', assumed: [] };
    case 'incompatible':
      return { kind: 'unknown', gaps: [{ kind: 'cut', clause: 'the replay took other steps than the recorded run' }] };
  }
}

interface Concluded {
  readonly evidence: Evidence;
  readonly replayed: Replayed | null;
  readonly violations: number;
}

/** Of parts of one exploration. @param cut what ended it as a whole */
export function mergedEvidence(parts: readonly Evidence[], cut: readonly string[]): Evidence {
  const [first] = parts;
  const sessions = new SessionTally((first?.sessions ?? []).map(({ name }) => name));
  const invariant = new InvariantTally();
  for (const part of parts) {
    sessions.merge(part.sessions);
    invariant.add(part.invariant);
  }
  const count = (of: Evidence): number => of.looked[0]?.count ?? 0;
  return {
    store: 'sql',
    violations: parts.reduce((sum, { violations }) => sum + violations, 0),
    looked: (first?.looked ?? []).map(({ nothing }) => ({
      count: parts.reduce((sum, part) => sum + count(part), 0),
      nothing,
    })),
    sessions: sessions.sessions(),
    awaiting: [...new Set(parts.flatMap(({ awaiting }) => awaiting))],
    invariant: invariant.evidence,
    unsupported: mergedUnsupported(parts.map(({ unsupported }) => unsupported)),
    cut: [...new Set([...cut, ...parts.flatMap((part) => part.cut)])],
    assumed: [...new Set(parts.flatMap(({ assumed }) => assumed))],
  };
}
