/** The result of an exploration of a SQL program, from what its runs showed. */
import { assumedClauses, type Ways } from '../../database/index.ts';
import type { Evidence } from '../../evidence/index.ts';
import { assumptionsOf, type Replayed, sealToken, type SqlProgram } from '../../program/index.ts';
import {
  type ArrivalMemory,
  encodeChoices,
  shapeOfSql,
  stoppedText,
  waitingEvidence,
  waitMsDefault,
} from '../../sql-program/index.ts';
import type { ExploreSqlOptions } from './explore-sql-options.ts';
import { type ExploreSqlResult, inOrder, type SqlFailureKind, type ScheduleEstimate } from './explore-sql-result.ts';
import type { SqlFindings } from './sql-findings.ts';

/** Where an exploration stands, for its result. */
export interface ExploredSoFar {
  readonly program: SqlProgram;
  readonly options: ExploreSqlOptions;
  readonly found: SqlFindings;
  readonly memory: ArrivalMemory;
  readonly ways: Ways;
  /** What is taken for granted of the values of sources, as clauses. */
  readonly sources: readonly string[];
  readonly stopped: ExploreSqlResult['stopped'];
  readonly estimate: ScheduleEstimate | null;
  readonly replayed: Replayed | null;
}

/** One run of each kind, the shortest first, with the tokens that replay them. */
export function failuresOf({ program, options, found, ways }: ExploredSoFar): SqlFailureKind[] {
  const { failuresMax = 5 } = options;
  const kinds = found.kinds.toSorted(inOrder).slice(0, failuresMax);
  const shape = shapeOfSql(program, options.profile);
  return kinds.map(({ path, ...kind }) => ({
    ...kind,
    replay: sealToken(encodeChoices({ path, ways }), { shape, steps: kind.steps }),
  }));
}

export function resultOf(explored: ExploredSoFar, failures: readonly SqlFailureKind[]): ExploreSqlResult {
  const { options, found, stopped, estimate, replayed } = explored;
  const { schedules, repetitions, histories, outcomes, counts, marks, unsupported, accesses } = found;
  return {
    profile: options.profile,
    schedules,
    repetitions,
    histories: histories.size,
    outcomes: outcomes.size,
    violations: counts.all,
    invariantBroken: counts.invariantBroken,
    notRetried: counts.notRetried,
    complete: stopped === null,
    stopped,
    replayed,
    marks,
    failures,
    unsupported: unsupported.list,
    accesses,
    plans: 1,
    estimate,
    evidence: evidenceOf(explored),
  };
}

export function evidenceOf({ program, options, found, memory, sources, stopped }: ExploredSoFar): Evidence {
  const { schedules, counts, sessions, invariant, unsupported, accesses, takenForGranted } = found;
  const cut = stopped === null ? [] : [stoppedText(stopped)];
  const waiting = waitingEvidence(memory, options.waitMs ?? waitMsDefault, cut);
  return {
    store: 'sql',
    violations: counts.all,
    looked: [{ count: schedules, nothing: 'no schedule was run' }],
    sessions: sessions.sessions(),
    invariant: invariant.evidence,
    unsupported: unsupported.list,
    ...waiting,
    assumed: [
      ...assumptionsOf(program),
      ...waiting.assumed,
      ...assumedClauses(accesses),
      ...takenForGranted,
      ...sources,
    ],
  };
}
