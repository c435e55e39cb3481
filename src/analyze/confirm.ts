/** Confirmation by execution: a witness runs, in every schedule of the engine's profile. Nothing is called an anomaly that did not run. */
import { type Budget, stopText, InputError } from '../base/index.ts';
import { SharedPlans } from '../database/index.ts';
import { exploreSql } from '../explore/sql/index.ts';
import { counted } from '../report/index.ts';
import { SharedSchema } from '../sql-program/index.ts';
import { engineOf } from './engines.ts';
import { type RunSession, runStatements } from './run-session.ts';
import { serialShape } from './serial-outcomes.ts';
import type { AnomalyKind, WitnessDefinition } from './witness-definition.ts';
import { programOf } from './witness-program.ts';

export type Confirmation =
  | {
      readonly kind: 'confirmed';
      readonly definition: WitnessDefinition;
      readonly anomaly: AnomalyKind;
      /** SQL anomaly of the schedule by the history's dependencies; `null`: none has a name. */
      readonly name: string | null;
      readonly schedules: number;
      readonly violations: number;
    }
  | Possible;

interface Possible {
  readonly kind: 'possible';
  readonly reason: string;
}

export interface ExploreLimits {
  /** Schedules of all definitions of one witness together. */
  readonly schedulesMax: number;
  readonly plans: PlansByTables;
  /** Of all explorations together. Default: any. */
  readonly budget?: Budget;
  /** Is the first schedule that no serial order explains the last? */
  readonly failsFast?: boolean;
}

const tablesMax = 32;

/** Of definitions with the same DDL: their rows differ. */
export class PlansByTables {
  readonly #known = new Map<string, SharedPlans>();

  of({ schema: [ddl = ''], dialect }: WitnessDefinition): SharedPlans {
    const key = `${dialect}\0${ddl}`;
    const plans = this.#known.get(key) ?? new SharedPlans();
    // Each has the catalog for which it planned.
    if (this.#known.size >= tablesMax) this.#known.clear();
    this.#known.set(key, plans);
    return plans;
  }
}

/** How the sessions of a witness run, where it is not by their statements. */
export interface OtherRun {
  readonly run: RunSession;
  /** For one schedule, and for what a session does between two statements. */
  readonly limitMs: number;
  /** Only this schedule. */
  readonly replay?: string;
}

/** The first of the definitions that has a schedule which no serial order explains. */
export async function confirm(definitions: Iterable<WitnessDefinition>, limits: ExploreLimits): Promise<Confirmation> {
  let reason = 'no rows and arguments were found that keep the constraints';
  let hasSearched = false;
  let most = 0;
  let left = limits.schedulesMax;
  /** What the serial orders of those do that were explored to the end. */
  const explained = new Set<string>();
  // To make the first takes time, too.
  const untried = stoppedBefore(limits);
  if (untried !== null) return untried;
  for (const definition of definitions) {
    const stopped = hasSearched ? stoppedWithin(limits) : stoppedBefore(limits);
    if (stopped !== null) return stopped;
    hasSearched = true;
    if (left === 0) {
      reason = `the search for a witness ended after ${limits.schedulesMax} schedules`;
      break;
    }
    const explored = await exploreUntilSeen(
      definition,
      { ...limits, schedulesMax: Math.min(limits.schedulesMax, left) },
      explained,
    );
    if (explored.kind === 'failed') {
      // What ran says more.
      if (most === 0) ({ reason } = explored);
      continue;
    }
    left -= explored.schedules;
    if (explored.anomaly !== null) return { ...explored, kind: 'confirmed', anomaly: explored.anomaly, definition };
    if (explored.schedules > most) {
      most = explored.schedules;
      reason = effectText(explored.schedules, definition.compared);
    }
  }
  return { kind: 'possible', reason };
}

/** `null`: there is time left. */
export function stoppedBefore({ budget }: ExploreLimits): Possible | null {
  const over = budget?.over ?? null;
  return over === null ? null : { kind: 'possible', reason: `no witness was tried: ${stopText(over)}` };
}

function stoppedWithin({ budget }: ExploreLimits): Possible | null {
  const over = budget?.over ?? null;
  return over === null ? null : { kind: 'possible', reason: `the search for a witness was ${stopText(over)}` };
}

/**
 * Where only what the transactions read is that of no serial order: a definition whose final state is, too, by its first schedules.
 * @param definitions other rows and arguments of the same witness
 */
export async function preferState(
  found: Confirmation,
  definitions: Iterable<WitnessDefinition>,
  limits: ExploreLimits,
): Promise<Confirmation> {
  if (found.kind === 'possible' || found.anomaly === 'internal') return found;
  for (const definition of definitions) {
    if ((limits.budget?.over ?? null) !== null) break;
    const explored = await exploreWitness(definition, { ...limits, schedulesMax: shownSchedulesMax });
    if (explored.kind === 'explored' && explored.anomaly === 'internal')
      return { ...explored, kind: 'confirmed', anomaly: explored.anomaly, definition };
  }
  return found;
}

function effectText(schedules: number, compared: WitnessDefinition['compared']): string {
  const which = schedules === 1 ? 'the only schedule' : `each of ${counted(schedules, 'schedule')}`;
  const effect = compared === 'state and writes' ? 'writes what, and leaves the database as,' : 'has the effect of';
  return `with the rows that were tried, ${which} ${effect} running them one after the other`;
}

/** Of a witness with a change that is proven: to show that it runs, not that it holds. */
export const provenSchedulesMax = 12;

/** Of a confirmed anomaly: beyond these, the first schedule that shows it is the last. */
export const shownSchedulesMax = 20;

/** @param explained a definition that does in serial orders what one of these does is explored in part; what is explored to the end is added */
async function exploreUntilSeen(
  definition: WitnessDefinition,
  limits: ExploreLimits,
  explained: Set<string>,
): Promise<Explored> {
  const schedulesMax = Math.min(limits.schedulesMax, shownSchedulesMax);
  const explored = await exploreWitness(definition, { ...limits, schedulesMax });
  const isEnough = explored.kind === 'failed' || explored.isComplete || explored.violations > 0;
  if (isEnough || limits.schedulesMax === schedulesMax) return explored;
  const shape = await serialShape(definition);
  if (explained.has(shape)) return explored;
  const whole = await exploreWitness(definition, { ...limits, failsFast: true });
  if (whole.kind === 'explored' && whole.isComplete) explained.add(shape);
  return whole;
}

export type Explored =
  | {
      readonly kind: 'explored';
      readonly anomaly: AnomalyKind | null;
      readonly name: string | null;
      readonly schedules: number;
      readonly violations: number;
      readonly isComplete: boolean;
      /** Runs a schedule again that shows the anomaly; `null`: there is none. */
      readonly replay: string | null;
    }
  | { readonly kind: 'failed'; readonly reason: string };

export async function exploreWitness(
  definition: WitnessDefinition,
  { schedulesMax, plans, budget, failsFast = false }: ExploreLimits,
  other?: OtherRun,
): Promise<Explored> {
  const seen = new Set<AnomalyKind>();
  const shared = { plans: plans.of(definition), schema: new SharedSchema() };
  const run = other?.run ?? runStatements(definition.dialect);
  const program = programOf(definition, run, (kind) => seen.add(kind), shared);
  // Each session names its level; what runs outside a transaction has the default.
  const { profileAt, defaultIsolation } = engineOf[definition.dialect];
  const profile = profileAt(defaultIsolation);
  try {
    const result = await exploreSql(program, {
      profile,
      sharedPlans: shared.plans,
      sharedSchema: shared.schema,
      schedulesMax,
      isFunctionOfReads: true,
      failsFast,
      ...(other === undefined ? {} : { waitMs: other.limitMs, timeoutMs: other.limitMs }),
      ...(other?.replay === undefined ? {} : { replay: other.replay }),
      ...(budget?.signal === undefined ? {} : { signal: budget.signal }),
      ...(budget === undefined || budget.leftMs === Infinity ? {} : { timeMaxMs: budget.leftMs }),
    });
    const [first] = result.unsupported;
    if (first !== undefined) return { kind: 'failed', reason: `moirai cannot run ${first.statement}: ${first.reason}` };
    const { schedules, violations, complete, failures } = result;
    // The invariant also runs on results that are no schedule's, to see what it looks at.
    const shown = (['internal', 'external', 'overwritten'] as const).find((kind) => seen.has(kind)) ?? null;
    const anomaly = violations === 0 ? null : shown;
    return {
      kind: 'explored',
      anomaly,
      name: failures[0]?.anomaly ?? null,
      schedules,
      violations,
      isComplete: complete,
      replay: failures[0]?.replay ?? null,
    };
  } catch (error) {
    // The schema with these rows does not run, or a transaction fails in every order: not a witness.
    if (error instanceof InputError) return { kind: 'failed', reason: error.message };
    throw error;
  }
}
