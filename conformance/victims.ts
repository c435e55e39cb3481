/**
 * Which transaction of a deadlock does MariaDB roll back? `explore` takes every one that may be the lightest; here each victim of the server has to be
 * among those. moirai runs the schedule in step and chooses the server's victim where it is a candidate: if not, the answers differ there.
 */
import { seeded } from '../src/base/index.ts';
import { deadlockSchedule } from './deadlock-schedule.ts';
import type { Difference } from './difference.ts';
import { likelyChoices, MoiraiSide, type MoiraiChoices } from './moirai-side.ts';
import { reduce } from './reduce.ts';
import { deadlockVictims, firstDifferent, runSchedule, type Schedule, type Side, type Trace } from './schedule.ts';

export interface VictimsOptions {
  readonly schedules: number;
  /** The number of the first schedule. Default 0. */
  readonly first?: number;
  readonly seed: number;
  readonly onDifference: (difference: VictimDifference) => void;
}

export interface VictimsResult {
  /** Deadlocks of the server up to where a schedule differs. */
  deadlocks: number;
  /** Of them: those of which the victim is not the transaction that is lightest as every index has one page. */
  notLightest: number;
  /** Schedules in which the server's victim was none of the candidates. */
  readonly outside: number[];
  /** Schedules that differ in something else; what follows is not compared. */
  readonly different: number[];
}

export interface VictimDifference {
  readonly number: number;
  /** The smallest schedule that differs so. */
  readonly smallest: Difference;
}

/** Runs of the server before a difference counts. */
const runsOfServer = 3;

export async function compareVictims(options: VictimsOptions, real: Side): Promise<VictimsResult> {
  const { schedules, first = 0, seed, onDifference } = options;
  const result: VictimsResult = { deadlocks: 0, notLightest: 0, outside: [], different: [] };
  for (let number = first; number < first + schedules; number += 1) {
    const schedule = deadlockSchedule(seeded(seed, number));
    const comparison = await compareSchedule(schedule, real);
    const { theirs, line, isVictim, lightest } = comparison;
    const compared = theirs.lines.slice(0, line ?? theirs.lines.length);
    result.deadlocks += compared.filter((each) => deadlockVictims(each).length > 0).length + Number(isVictim);
    if (line !== null) {
      result[isVictim ? 'outside' : 'different'].push(number);
      onDifference({ number, smallest: await reduceDifference({ ...comparison, schedule, line }, real) });
    }
    if (lightest !== null && deadlockVictims(theirs.lines[lightest]).length > 0 && lightest !== line)
      result.notLightest += 1;
  }
  return result;
}

async function reduceDifference(difference: Difference & Pick<VictimComparison, 'isVictim'>, real: Side): Promise<Difference> {
  let smallest: Difference = difference;
  await reduce(difference.schedule, async (schedule) => {
    const comparison = await compareSchedule(schedule, real);
    const { line, isVictim } = comparison;
    if (line === null || isVictim !== difference.isVictim) return false;
    smallest = { ...comparison, schedule, line };
    return true;
  });
  return smallest;
}

interface VictimComparison {
  /** moirai's trace that is the same longest. */
  readonly ours: Trace;
  readonly theirs: Trace;
  /** The first line that differs when moirai takes the server's victims; `null`: none does. */
  readonly line: number | null;
  /** Is it a deadlock on both sides, with other victims? */
  readonly isVictim: boolean;
  /** The first line that differs when moirai takes the lightest. */
  readonly lightest: number | null;
}

export async function compareSchedule(schedule: Schedule, real: Side): Promise<VictimComparison> {
  for (let run = 1; ; run += 1) {
    const theirs = await runSchedule(schedule, real);
    const victims = theirs.lines.map(deadlockVictims);
    const ours: Trace[] = [];
    for (const inOrder of ordersOf(victims))
      for (const firstToWake of ['longest', 'last'] as const)
        ours.push(await runOnMoirai(schedule, { ...likelyChoices, firstToWake, victims: inOrder }));
    const place = (trace: Trace): number => firstDifferent(trace, theirs) ?? Infinity;
    const best = ours.reduce((a, b) => (place(b) > place(a) ? b : a));
    const line = firstDifferent(best, theirs);
    if (line !== null && run < runsOfServer) continue;
    const isVictim = line !== null && victims[line]?.length !== 0 && deadlockVictims(best.lines[line]).length > 0;
    const lightest = firstDifferent(await runOnMoirai(schedule, likelyChoices), theirs);
    return { ours: best, theirs, line, isVictim, lightest };
  }
}

/** Where a step ends with several victims, the server does not say which was the first: then others may have been granted its locks, and closed a cycle. */
function ordersOf(victims: readonly (readonly number[])[]): (readonly (readonly number[])[])[] {
  const hasSeveral = victims.some(({ length }) => length > 1);
  return hasSeveral ? [victims, victims.map((each) => each.toReversed())] : [victims];
}

function runOnMoirai(schedule: Schedule, choices: MoiraiChoices): Promise<Trace> {
  return runSchedule(schedule, new MoiraiSide(schedule.dialect, choices));
}
