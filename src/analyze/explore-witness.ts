/** Every schedule of a witness on the engine's profile, in this thread or in another one. */
import { Budget, type BudgetOptions, InputError } from '../base/index.ts';
import { SharedPlans } from '../database/index.ts';
import { exploreSql } from '../explore/sql/index.ts';
import { SharedBeginning, SharedSchema } from '../sql-program/index.ts';
import { engineOf } from './engines.ts';
import { type RunSession, runStatements } from './run-session.ts';
import type { AnomalyKind, WitnessDefinition } from './witness-definition.ts';
import { countOrders, SerialOutcomes } from './serial-outcomes.ts';
import { programOf } from './witness-program.ts';

export interface ExploreLimits {
  readonly schedulesMax: number;
  /** Of all explorations together. Default: any. */
  readonly budget?: Budget;
  /** As of `ExploreSqlOptions`. */
  readonly failsFastAfter?: number;
  /** Shapes of serial orders: a definition with one of them is not explored. Without them, no shape is asked for. */
  readonly exploredShapes?: ReadonlySet<string>;
}

/** Explores one definition at a time. */
export type Explorer = (definition: WitnessDefinition, limits: ExploreLimits) => Promise<Explored>;

/** What a thread is asked: plain data. */
export interface WitnessJob {
  readonly definition: WitnessDefinition;
  readonly schedulesMax: number;
  /** As of `ExploreLimits`. */
  readonly failsFastAfter?: number;
  readonly exploredShapes?: ReadonlySet<string>;
  /** That are left. `null`: any. */
  readonly timeMaxMs: number | null;
}

export function exploringHere(): Explorer {
  const tables = new KnownTables();
  return (definition, limits) => exploreWitness(definition, limits, tables);
}

/** @param thread does a job as `exploringJobs` does */
export function exploringIn(thread: (job: WitnessJob) => Promise<Explored>): Explorer {
  return (definition, { schedulesMax, failsFastAfter, budget, exploredShapes }) => {
    const leftMs = budget?.leftMs ?? Infinity;
    return thread({
      definition,
      schedulesMax,
      ...(failsFastAfter === undefined ? {} : { failsFastAfter }),
      ...(exploredShapes === undefined ? {} : { exploredShapes }),
      timeMaxMs: leftMs === Infinity ? null : leftMs,
    });
  };
}

/** The side of the thread. @param signal aborted when the user interrupts the command */
export function exploringJobs(signal: AbortSignal): (job: WitnessJob) => Promise<Explored> {
  const explore = exploringHere();
  return ({ timeMaxMs, definition, ...limits }) => {
    const time: BudgetOptions = timeMaxMs === null ? {} : { timeMaxMs };
    return explore(definition, { ...limits, budget: new Budget({ ...time, signal }) });
  };
}

const tablesMax = 32;

interface SharedByTables {
  readonly plans: SharedPlans;
  readonly beginning: SharedBeginning;
}

/** Of definitions with the same DDL: their rows differ. */
export class KnownTables {
  readonly #known = new Map<string, SharedByTables>();

  of({ schema: [ddl = ''], dialect }: WitnessDefinition): SharedByTables {
    const key = `${dialect}\0${ddl}`;
    const shared = this.#known.get(key) ?? { plans: new SharedPlans(), beginning: new SharedBeginning() };
    // Each has the catalog for which it planned.
    if (this.#known.size >= tablesMax) this.#known.clear();
    this.#known.set(key, shared);
    return shared;
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
      /** Of its serial orders. `null`: not asked for, not every schedule was explored, or to explore another one costs less than its shape. */
      readonly shape: string | null;
    }
  /** It does not run, or has one of the explored shapes. */
  | { readonly kind: 'failed'; readonly reason: string };

export async function exploreWitness(
  definition: WitnessDefinition,
  { schedulesMax, budget, failsFastAfter, exploredShapes }: ExploreLimits,
  tables: KnownTables,
  other?: OtherRun,
): Promise<Explored> {
  const seen = new Set<AnomalyKind>();
  const { plans, beginning } = tables.of(definition);
  const shared = { plans, schema: new SharedSchema(beginning) };
  const run = other?.run ?? runStatements(definition.dialect);
  const serial = new SerialOutcomes(definition, run, shared);
  const program = programOf(definition, run, (kind) => seen.add(kind), serial);
  // Each session names its level; what runs outside a transaction has the default.
  const { profileAt, defaultIsolation } = engineOf[definition.dialect];
  const profile = profileAt(defaultIsolation);
  try {
    if (exploredShapes !== undefined && exploredShapes.size > 0 && exploredShapes.has(await serial.shape()))
      return { kind: 'failed', reason: 'other amounts do the same in each serial order' };
    const result = await exploreSql(program, {
      profile,
      sharedPlans: shared.plans,
      sharedSchema: shared.schema,
      schedulesMax,
      isFunctionOfReads: true,
      violationsOnly: other === undefined,
      ...(failsFastAfter === undefined ? {} : { failsFastAfter }),
      ...(other === undefined ? {} : { waitMs: other.limitMs, timeoutMs: other.limitMs }),
      ...(other?.replay === undefined ? {} : { replay: other.replay }),
      ...(budget?.signal === undefined ? {} : { signal: budget.signal }),
      ...(budget === undefined || budget.leftMs === Infinity ? {} : { timeMaxMs: budget.leftMs }),
    });
    const [first] = result.unsupported;
    if (first !== undefined) return { kind: 'failed', reason: `moirai cannot run ${first.statement}: ${first.reason}` };
    const { schedules, violations, complete, failures } = result;
    const shown = (['internal', 'external', 'overwritten'] as const).find((kind) => seen.has(kind)) ?? null;
    const anomaly = violations === 0 ? null : shown;
    const hasShape = exploredShapes !== undefined && complete && schedules >= countOrders(definition.sessions);
    return {
      kind: 'explored',
      anomaly,
      name: failures[0]?.anomaly ?? null,
      schedules,
      violations,
      isComplete: complete,
      replay: failures[0]?.replay ?? null,
      shape: hasShape ? await serial.shape() : null,
    };
  } catch (error) {
    // The schema with these rows does not run, or a transaction fails in every order: not a witness.
    if (error instanceof InputError) return { kind: 'failed', reason: error.message };
    throw error;
  }
}
