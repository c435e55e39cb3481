/**
 * Which transaction of a deadlock does MariaDB roll back? `explore` takes every one that may be the lightest; here each victim of the server has to be
 * among those. moirai runs the schedule in step and chooses the server's victim where it is a candidate: if not, the answers differ there.
 */
import { seeded } from '../src/base/index.ts';
import { deadlockSchedule } from './deadlock-schedule.ts';
import { likelyChoices, MoiraiSide, type MoiraiChoices } from './moirai-side.ts';
import { deadlockVictims, firstDifferent, runSchedule, type Schedule, type Side, type Trace } from './schedule.ts';

export interface VictimsOptions {
  readonly schedules: number;
  /** The number of the first schedule. Default 0. */
  readonly first?: number;
  readonly seed: number;
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

/** Runs of the server before a difference counts. */
const runsOfServer = 3;

export async function compareVictims(options: VictimsOptions, real: Side): Promise<VictimsResult> {
  const { schedules, first = 0, seed } = options;
  const result: VictimsResult = { deadlocks: 0, notLightest: 0, outside: [], different: [] };
  for (let number = first; number < first + schedules; number += 1) {
    const { theirs, line, isVictim, lightest } = await compareSchedule(deadlockSchedule(seeded(seed, number)), real);
    const compared = theirs.lines.slice(0, line ?? theirs.lines.length);
    result.deadlocks += compared.filter((each) => deadlockVictims(each).length > 0).length + Number(isVictim);
    if (line !== null) result[isVictim ? 'outside' : 'different'].push(number);
    if (lightest !== null && deadlockVictims(theirs.lines[lightest]).length > 0 && lightest !== line)
      result.notLightest += 1;
  }
  return result;
}

interface VictimComparison {
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
    for (const firstToWake of ['longest', 'last'] as const)
      ours.push(await runOnMoirai(schedule, { ...likelyChoices, firstToWake, victims }));
    const place = (trace: Trace): number => firstDifferent(trace, theirs) ?? Infinity;
    const best = ours.reduce((a, b) => (place(b) > place(a) ? b : a));
    const line = firstDifferent(best, theirs);
    if (line !== null && run < runsOfServer) continue;
    const isVictim = line !== null && victims[line]?.length !== 0 && deadlockVictims(best.lines[line]).length > 0;
    const lightest = firstDifferent(await runOnMoirai(schedule, likelyChoices), theirs);
    return { theirs, line, isVictim, lightest };
  }
}

function runOnMoirai(schedule: Schedule, choices: MoiraiChoices): Promise<Trace> {
  return runSchedule(schedule, new MoiraiSide(schedule.dialect, choices));
}
