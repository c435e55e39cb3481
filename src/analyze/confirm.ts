/** Confirmation by execution: a witness runs, in every schedule of the engine's profile. Nothing is called an anomaly that did not run. */
import { stopText } from '../base/index.ts';
import { counted } from '../report/index.ts';
import type { ExploreLimits, Explorer } from './explore-witness.ts';
import type { AnomalyKind, WitnessDefinition } from './witness-definition.ts';

export type Confirmation =
  | {
      readonly kind: 'confirmed';
      readonly definition: WitnessDefinition;
      readonly anomaly: AnomalyKind;
      /** SQL anomaly of the schedule by the history's dependencies; `null`: none has a name. */
      readonly name: string | null;
      readonly schedules: number;
      readonly violations: number;
      /** As of `Explored`. */
      readonly shape: string | null;
    }
  | Possible;

interface Possible {
  readonly kind: 'possible';
  readonly reason: string;
}

/** Of all definitions of one witness together; one of them is explored at a time. */
export interface ConfirmLimits extends ExploreLimits {
  readonly explore: Explorer;
}

/** The first of the definitions that has a schedule which no serial order explains. */
export async function confirm(definitions: Iterable<WitnessDefinition>, limits: ConfirmLimits): Promise<Confirmation> {
  let reason = 'no rows and arguments were found that keep the constraints';
  let hasSearched = false;
  let most = 0;
  let left = limits.schedulesMax;
  /** Of those that were explored to the end. */
  const exploredShapes = new Set<string>();
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
    const explored = await limits.explore(definition, {
      ...limits,
      schedulesMax: Math.min(limits.schedulesMax, left),
      failsFastAfter: shownSchedulesMax,
      exploredShapes,
    });
    if (explored.kind === 'failed') {
      // What ran says more.
      if (most === 0) ({ reason } = explored);
      continue;
    }
    if (explored.shape !== null) exploredShapes.add(explored.shape);
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
  limits: ConfirmLimits,
): Promise<Confirmation> {
  if (found.kind === 'possible' || found.anomaly === 'internal') return found;
  const exploredShapes = new Set(found.shape === null ? [] : [found.shape]);
  for (const definition of definitions) {
    if ((limits.budget?.over ?? null) !== null) break;
    const explored = await limits.explore(definition, { ...limits, schedulesMax: shownSchedulesMax, exploredShapes });
    if (explored.kind !== 'explored') continue;
    if (explored.shape !== null) exploredShapes.add(explored.shape);
    if (explored.anomaly === 'internal')
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
