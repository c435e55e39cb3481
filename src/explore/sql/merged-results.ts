/** Parts of one exploration as one result: those of threads, those of combinations of access paths. */
import { countMarks } from '../../program/index.ts';
import { mergedAccesses, mergedUnsupported } from '../../database/index.ts';
import { mergedEvidence, stoppedText } from '../../sql-program/index.ts';
import { type ExploreSqlResult, inOrder, type SqlFailureKind } from './explore-sql-result.ts';

export interface WholeExploration {
  /** What ended it as a whole. */
  readonly stopped: ExploreSqlResult['stopped'];
  /** Default 5. */
  readonly failuresMax?: number | undefined;
}

/** What several parts may have seen alike, `histories` and `outcomes`, is not counted here. */
export function mergedResults(
  results: readonly [ExploreSqlResult, ...ExploreSqlResult[]],
  { stopped, failuresMax = 5 }: WholeExploration,
): Omit<ExploreSqlResult, 'histories' | 'outcomes'> {
  const sum = (count: (result: ExploreSqlResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  const marks = new Map<string, number>();
  for (const result of results) countMarks(marks, result.marks);
  const [first] = results;
  return {
    profile: first.profile,
    schedules: sum(({ schedules }) => schedules),
    repetitions: sum(({ repetitions }) => repetitions),
    violations: sum(({ violations }) => violations),
    invariantBroken: sum(({ invariantBroken }) => invariantBroken),
    notRetried: sum(({ notRetried }) => notRetried),
    complete: stopped === null,
    stopped,
    replayed: null,
    marks,
    failures: mergedFailures(results).slice(0, failuresMax),
    unsupported: mergedUnsupported(results.map(({ unsupported }) => unsupported)),
    accesses: mergedAccesses(results.map(({ accesses }) => accesses)),
    plans: first.plans,
    estimate: first.estimate,
    evidence: mergedEvidence(
      results.map(({ evidence }) => evidence),
      stopped === null ? [] : [stoppedText(stopped)],
    ),
  };
}

/** One of each kind, the most frequent first; of two runs the one with fewer decisions, then the first in the order of the parts. */
function mergedFailures(results: readonly ExploreSqlResult[]): SqlFailureKind[] {
  const kinds = new Map<string, SqlFailureKind>();
  for (const failure of results.flatMap(({ failures }) => failures)) {
    const key = `${failure.message}\0${failure.anomaly}`;
    const known = kinds.get(key);
    const schedules = (known?.schedules ?? 0) + failure.schedules;
    const isShorter = known === undefined || failure.replay.length < known.replay.length;
    kinds.set(key, { ...(isShorter ? failure : known), schedules });
  }
  return [...kinds.values()].toSorted(inOrder);
}
