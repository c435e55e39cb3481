/** Random schedules over a table of four rows: small keys, so that sessions meet. */
import type { Level } from './engine.test-support.ts';
import type { Column, Operation, Schedule, ScheduleStep, Where } from './schedule.test-support.ts';

/** An integer in [0, n). */
export type Random = (n: number) => number;

export interface ScheduleShape {
  readonly sessions: number;
  readonly steps: number;
  readonly levels: readonly Level[];
}

/** Numbers from a seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

export function randomSchedule(random: Random, { sessions, steps, levels }: ScheduleShape): Schedule {
  const level = levels[random(levels.length)] as Level;
  const isMixed = random(3) === 0;
  return {
    levels: Array.from({ length: sessions }, () => (isMixed ? (levels[random(levels.length)] as Level) : level)),
    rows: [
      [2, 20, 2],
      [4, 40, 4],
      [6, null, 4],
      [8, 80, 7],
    ],
    steps: Array.from(
      { length: steps },
      (): ScheduleStep => ({ session: random(sessions), operation: operation(random) }),
    ),
  };
}

function operation(random: Random): Operation {
  const kind = random(20);
  const isEvenOnly = random(5) === 0;
  if (kind < 4) return { kind: 'select', where: where(random), isEvenOnly, lock: null };
  if (kind < 8) return { kind: 'select', where: where(random), isEvenOnly, lock: rowLock(random) };
  if (kind < 11) return { kind: 'insert', row: [random(10), random(4) === 0 ? null : random(10) * 10, random(9)] };
  if (kind < 15) return { kind: 'update', ...change(random), isEvenOnly };
  if (kind < 17) return { kind: 'delete', where: point(random, random(3) === 0 ? 'u' : 'id'), isEvenOnly };
  if (kind === 17) return { kind: random(2) === 0 ? 'savepoint' : 'rollback to' };
  return { kind: random(3) === 0 ? 'rollback' : 'commit' };
}

function where(random: Random): Where {
  const kind = random(5);
  if (kind === 0) return { kind: 'all' };
  const column = (['id', 'u', 'v'] as const)[random(3)] as Column;
  if (kind < 3) return point(random, column);
  const scale = column === 'u' ? 10 : 1;
  const from = random(9);
  // MariaDB takes `between 3 and 3` for a point.
  return { kind: 'range', column, from: from * scale, to: (from + 1 + random(3)) * scale };
}

function point(random: Random, column: Column): Where {
  const value = (random(3) === 0 ? random(10) : 2 + 2 * random(4)) * (column === 'u' ? 10 : 1);
  return { kind: 'point', column, value };
}

function rowLock(random: Random): Extract<Operation, { kind: 'select' }>['lock'] {
  const strength = (['update', 'update', 'share', 'no key update', 'key share'] as const)[random(5)] ?? 'update';
  return { strength, ifLocked: (['wait', 'wait', 'wait', 'error', 'skip'] as const)[random(5)] ?? 'wait' };
}

function change(random: Random): Pick<Extract<Operation, { kind: 'update' }>, 'where' | 'set'> {
  const kind = random(6);
  if (kind < 3) return { where: where(random), set: { column: 'v', plus: 1 + random(3) } };
  if (kind === 3) return { where: where(random), set: { column: 'v', to: random(9) } };
  const column = kind === 4 ? 'u' : 'id';
  const to = random(10) * (column === 'u' ? 10 : 1);
  return { where: point(random, (['id', 'u', 'v'] as const)[random(3)] ?? 'id'), set: { column, to } };
}

/** Fewer steps that still fail, by leaving out one after another. */
export async function shrink(schedule: Schedule, fails: (smaller: Schedule) => Promise<boolean>): Promise<Schedule> {
  let smallest = schedule;
  for (let i = smallest.steps.length - 1; i >= 0; i--) {
    const smaller = { ...smallest, steps: smallest.steps.filter((_, at) => at !== i) };
    if (await fails(smaller)) smallest = smaller;
  }
  return smallest;
}
