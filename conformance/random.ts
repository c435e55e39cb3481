/** `npm run conformance -- random`: random schedules, counted; differences are reduced and grouped. */
import { seeded } from '../src/base/index.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import { compare } from './compare.ts';
import { type Difference, signatureOf } from './difference.ts';
import { knownDifference } from './known-differences.ts';
import { randomSchedule } from './random-schedule.ts';
import { reduce } from './reduce.ts';
import type { Schedule, Side } from './schedule.ts';

export interface RandomOptions {
  readonly dialect: Dialect;
  readonly schedules: number;
  /** The number of the first schedule. Default 0. */
  readonly first?: number;
  readonly seed: number;
  /** Differences of one signature that are reduced. */
  readonly reducedMax: number;
  readonly onProgress?: (result: RandomResult) => void;
}

/** Differences of one kind. */
export interface Group {
  readonly signature: string;
  readonly example: Difference;
  /** Numbers of the schedules. */
  readonly schedules: number[];
}

export interface RandomResult {
  schedules: number;
  equal: number;
  equalByAnotherPlan: number;
  /** Schedules by what is not supported. */
  readonly unsupported: Map<string, number>;
  /** Schedules by the row of docs/engines.md. */
  readonly known: Map<string, number>;
  readonly groups: Map<string, Group>;
}

export async function randomSchedules(options: RandomOptions, real: Side): Promise<RandomResult> {
  const { dialect, schedules, first = 0, seed, onProgress } = options;
  const result: RandomResult = {
    schedules: 0,
    equal: 0,
    equalByAnotherPlan: 0,
    unsupported: new Map(),
    known: new Map(),
    groups: new Map(),
  };
  /** How often a signature was reduced, before it was. */
  const reduced = new Map<string, { count: number; to: string }>();
  for (let number = first; number < first + schedules; number += 1) {
    const schedule = randomSchedule(seeded(seed, number), dialect);
    const comparison = await compare(schedule, real);
    result.schedules += 1;
    switch (comparison.kind) {
      case 'equal':
        result.equal += 1;
        break;
      case 'equal by another plan':
        result.equalByAnotherPlan += 1;
        break;
      case 'unsupported':
        increment(result.unsupported, comparison.message);
        break;
      case 'different': {
        const raw = { ...comparison, schedule };
        const signature = signatureOf(raw);
        const before = reduced.get(signature);
        if (before !== undefined && before.count >= options.reducedMax) {
          result.groups.get(before.to)?.schedules.push(number);
          if (!result.groups.has(before.to)) increment(result.known, before.to);
          break;
        }
        const smallest = await reduceDifference(raw, real);
        const to = note(result, smallest, number);
        reduced.set(signature, { count: (before?.count ?? 0) + 1, to });
        break;
      }
    }
    onProgress?.(result);
  }
  return result;
}

/** The smallest schedule whose first difference has the same signature. */
export async function reduceDifference(difference: Difference, real: Side): Promise<Difference> {
  let smallest = difference;
  const wanted = signatureOf(difference);
  await reduce(difference.schedule, async (candidate) => {
    const comparison = await compare(candidate, real);
    if (comparison.kind !== 'different') return false;
    const next = { ...comparison, schedule: candidate };
    if (signatureOf(next) !== wanted) return false;
    smallest = next;
    return true;
  });
  return smallest;
}

/** @returns where it was counted */
function note(result: RandomResult, difference: Difference, number: number): string {
  const known = knownDifference(difference);
  if (known !== undefined) {
    increment(result.known, known.row);
    return known.row;
  }
  const signature = signatureOf(difference);
  const group = result.groups.get(signature);
  if (group === undefined) {
    result.groups.set(signature, { signature, example: difference, schedules: [number] });
    return signature;
  }
  group.schedules.push(number);
  if (sizeOf(difference.schedule) < sizeOf(group.example.schedule))
    result.groups.set(signature, { ...group, example: difference });
  return signature;
}

function sizeOf({ steps, setUp }: Schedule): number {
  return steps.length * 1_000 + setUp.join().length;
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
