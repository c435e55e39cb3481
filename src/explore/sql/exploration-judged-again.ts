/** Of an exploration without a violation: can the invariant of its program fail? */
import { type Budget, seeded } from '../../base/index.ts';
import { SharedPlans } from '../../database/index.ts';
import {
  ArrivalMemory,
  checkedRun,
  ENDS_JUDGED_AGAIN,
  judgedAgain,
  type RunBesides,
  type SqlRun,
  SharedSchema,
} from '../../sql-program/index.ts';
import { conclude, type InvariantEvidence } from '../../evidence/index.ts';
import { type Decisions, drawing, retracing } from '../../mockdb/index.ts';
import { ControlledSources, type SqlProgram } from '../../program/index.ts';
import type { ExploreSqlOptions } from './explore-sql-options.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import { exploringRun, type ExploringRunOptions } from './exploring-run.ts';
import { counting } from './prefix.ts';

/** @param budget of the exploration and of what comes after it */
export async function withJudgedAgain(
  program: SqlProgram,
  options: ExploringRunOptions & Pick<ExploreSqlOptions, 'judging' | 'onStart'> & { readonly budget: Budget },
  result: ExploreSqlResult,
): Promise<ExploreSqlResult> {
  if (conclude(result.evidence).kind !== 'satisfied') return result;
  const sources = new ControlledSources(program);
  const memory = new ArrivalMemory();
  const sharedPlans = new SharedPlans();
  const sharedSchema = new SharedSchema();
  const runs = schedules.map(
    (decisions) =>
      (besides: RunBesides): Promise<SqlRun> =>
        checkedRun(sources.program, {
          ...exploringRun(decisions(), { ...options, memory, sharedPlans, sharedSchema }),
          ...besides,
        }),
  );
  sources.begin('now');
  try {
    options.onStart?.(
      () => withAgain(result, 'under-way'),
      () => 'the check that the invariant can fail',
    );
    const { budget, judging = {} } = options;
    return withAgain(result, await judgedAgain(program, { runs, budget, judging }));
  } finally {
    sources.end();
  }
}

function withAgain({ evidence, ...result }: ExploreSqlResult, again: InvariantEvidence['again']): ExploreSqlResult {
  return { ...result, evidence: { ...evidence, invariant: { ...evidence.invariant, again } } };
}

/** The first session first, the last first, and some at random. */
const schedules: readonly (() => Decisions)[] = [
  () => retracing([]),
  () => counting((_, options) => options - 1),
  ...Array.from({ length: ENDS_JUDGED_AGAIN - 2 }, (_, i) => (): Decisions => drawing({ chooser: seeded(1, i) })),
];
