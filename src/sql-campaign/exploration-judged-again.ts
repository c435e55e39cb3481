/** Of an exploration without a violation: can the invariant of its program fail? */
import type { Budget } from '../base/budget.ts';
import { seeded } from '../base/chooser.ts';
import { conclude } from '../evidence/index.ts';
import { type Decisions, drawing, retracing } from '../mockdb/index.ts';
import { ControlledSources, type SqlProgram } from '../program/index.ts';
import { ArrivalMemory } from './arrivals.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import { exploringRun, type ExploringRunOptions } from './exploring-run.ts';
import { ENDS_JUDGED_AGAIN, judgedAgain, type RunBesides } from './judged-again.ts';
import { counting } from './prefix.ts';
import { tried } from './sql-campaign.ts';
import type { SqlRun } from './sql-run.ts';

/** @param budget of the exploration and of what comes after it */
export async function withJudgedAgain(
  program: SqlProgram,
  options: ExploringRunOptions & { readonly budget: Budget },
  result: ExploreSqlResult,
): Promise<ExploreSqlResult> {
  if (conclude(result.evidence).kind !== 'satisfied') return result;
  const sources = new ControlledSources(program);
  const memory = new ArrivalMemory();
  const runs = schedules.map(
    (decisions) =>
      (besides: RunBesides): Promise<SqlRun> =>
        tried(sources.program, { ...exploringRun(decisions(), { ...options, memory }), ...besides }),
  );
  sources.begin('now');
  try {
    const again = await judgedAgain(program, { runs, budget: options.budget });
    const { evidence } = result;
    return { ...result, evidence: { ...evidence, invariant: { ...evidence.invariant, again } } };
  } finally {
    sources.end();
  }
}

/** The first session first, the last first, and some at random. */
const schedules: readonly (() => Decisions)[] = [
  () => retracing([]),
  () => counting((_, options) => options - 1),
  ...Array.from({ length: ENDS_JUDGED_AGAIN - 2 }, (_, i) => (): Decisions => drawing({ chooser: seeded(1, i) })),
];
