/**
 * Which transaction of a deadlock does MariaDB roll back? `explore` takes every one that may be the lightest; here each victim of the server has to be
 * among those. moirai runs the schedule in step and chooses the server's victim where it is a candidate: if not, the answers differ there.
 *
 * moirai has one page for each index. Where rows fill several, a search that begins at the first record of a page locks the end of the page before, and a
 * later insertion waits. So a schedule that differs runs again with such records of moirai as pages may begin with: when it then comes to all the answers of
 * the server, it differs by its pages.
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
  /** Of them: those of which the victim is not the transaction that is lightest as every index has one page, or the pages of `byPages`. */
  notLightest: number;
  /** Schedules in which the server's victim was none of the candidates. */
  readonly outside: number[];
  /** Schedules that are the same when a page begins with the records that moirai takes for it. */
  readonly byPages: number[];
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
  const result: VictimsResult = { deadlocks: 0, notLightest: 0, outside: [], byPages: [], different: [] };
  for (let number = first; number < first + schedules; number += 1) {
    const schedule = deadlockSchedule(seeded(seed, number));
    const comparison = await compareSchedule(schedule, real);
    const { theirs, line, isVictim, lightest, pageBegins } = comparison;
    if (pageBegins.size > 0) result.byPages.push(number);
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

async function reduceDifference(
  difference: Difference & Pick<VictimComparison, 'isVictim'>,
  real: Side,
): Promise<Difference> {
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
  /** Records with which a page has to begin for no line to differ. */
  readonly pageBegins: ReadonlySet<string>;
  /** Is it a deadlock on both sides, with other victims? */
  readonly isVictim: boolean;
  /** The first line that differs when moirai takes the lightest. */
  readonly lightest: number | null;
}

export async function compareSchedule(schedule: Schedule, real: Side): Promise<VictimComparison> {
  for (let run = 1; ; run += 1) {
    const theirs = await runSchedule(schedule, real);
    const onePage = await likest(schedule, theirs, noRecords);
    const best = onePage.line === null ? onePage : await withPages(schedule, theirs, onePage);
    const { line, pageBegins } = best;
    if (line !== null && run < runsOfServer) continue;
    const ours = best.trace;
    const isVictim =
      line !== null && deadlockVictims(theirs.lines[line]).length > 0 && deadlockVictims(ours.lines[line]).length > 0;
    const lightest = firstDifferent((await runOnMoirai(schedule, { ...likelyChoices, pageBegins })).trace, theirs);
    return { ours, theirs, line, pageBegins, isVictim, lightest };
  }
}

/** A run of moirai beside one of the server. */
interface OurRun {
  readonly trace: Trace;
  /** The first line that differs; `null`: none does. */
  readonly line: number | null;
  readonly pageBegins: ReadonlySet<string>;
  /** Records before which it inserted while others had locked them. */
  readonly insertedBefore: ReadonlySet<string>;
}

const noRecords: ReadonlySet<string> = new Set();

/** The run of moirai with the server's victims that is the same longest. */
async function likest(schedule: Schedule, theirs: Trace, pageBegins: ReadonlySet<string>): Promise<OurRun> {
  const runs: OurRun[] = [];
  for (const victims of ordersOf(theirs.lines.map(deadlockVictims)))
    for (const firstToWake of ['longest', 'last'] as const) {
      const run = await runOnMoirai(schedule, { ...likelyChoices, firstToWake, victims, pageBegins });
      runs.push({ ...run, line: firstDifferent(run.trace, theirs), pageBegins });
    }
  return runs.reduce(longer);
}

function longer(a: OurRun, b: OurRun): OurRun {
  return (b.line ?? Infinity) > (a.line ?? Infinity) ? b : a;
}

/** One record more at a time, as long as more lines are the same. @returns the given run when there is no way to the same answers */
async function withPages(schedule: Schedule, theirs: Trace, onePage: OurRun): Promise<OurRun> {
  for (let run = onePage; ; ) {
    const runs: OurRun[] = [];
    for (const record of run.insertedBefore)
      if (mayBeginPage(record, schedule) && !run.pageBegins.has(record))
        runs.push(await likest(schedule, theirs, new Set([...run.pageBegins, record])));
    const next = runs.reduce(longer, run);
    if (next.line === null) return next;
    if (next === run) return onePage;
    run = next;
  }
}

/** The bytes of a page, less its header, its directory and the sixteenth that InnoDB leaves free when rows come in order. */
const pageBytes = 15_000;
/** More than a row has besides its text, with the key of its record. */
const rowBytes = 60;

/** Has the record's table ever had more rows than one page holds? Those of a secondary index hold numbers alone: all are on one page. */
export function mayBeginPage(record: string, { setUp, steps }: Pick<Schedule, 'setUp' | 'steps'>): boolean {
  const [table = '', index] = record.split(' ');
  const texts = [...setUp, ...steps.map(({ sql }) => sql)].filter((sql) => sql.includes(` ${table} `));
  const widths = texts.flatMap((sql) => [...sql.matchAll(/repeat\('\w', (\d+)\)/g)].map((found) => Number(found[1])));
  return index === 'rows' && widths.reduce((sum, width) => sum + width + rowBytes, 0) > pageBytes;
}

/** Where a step ends with several victims, the server does not say which was the first: then others may have been granted its locks, and closed a cycle. */
function ordersOf(victims: readonly (readonly number[])[]): (readonly (readonly number[])[])[] {
  const hasSeveral = victims.some(({ length }) => length > 1);
  return hasSeveral ? [victims, victims.map((each) => each.toReversed())] : [victims];
}

async function runOnMoirai(
  schedule: Schedule,
  choices: MoiraiChoices,
): Promise<{ readonly trace: Trace; readonly insertedBefore: ReadonlySet<string> }> {
  const side = new MoiraiSide(schedule.dialect, choices);
  const trace = await runSchedule(schedule, side);
  return { trace, insertedBefore: side.insertedBefore };
}
