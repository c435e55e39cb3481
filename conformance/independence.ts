/**
 * Neighbouring statements that `explore` takes for independent: on a real server the schedule that swaps them has to come to the same answers and rows.
 * What is independent is asked in the state in which moirai and the server agree: schedules in which they answer otherwise are left out.
 */
import { StepFootprints } from '../src/explore/sql/step-footprints.ts';
import type { Footprint } from '../src/engine/index.ts';
import { isUnsupported } from '../test/sql-oracle/answer.ts';
import { likelyChoices, MoiraiSide } from './moirai-side.ts';
import {
  firstDifferent,
  runSchedule,
  type Schedule,
  scheduleOutcome,
  type Side,
  type Step,
  type Trace,
} from './schedule.ts';

/** Two neighbours that come to something else in the other order. */
export interface Dependence {
  readonly schedule: Schedule;
  /** The first of the two. */
  readonly at: number;
  /** Each once, over some runs. */
  readonly outcomes: readonly string[];
  readonly swapped: readonly string[];
}

export interface IndependenceResult {
  /** Pairs of neighbours that were swapped. */
  readonly pairs: number;
  /** Why the schedule was left out. */
  readonly leftOut: 'answered otherwise' | 'no independent pair' | null;
  readonly dependences: readonly Dependence[];
}

/** Of two statements that wake together either may be first: an outcome counts as another if no run of the server comes to it. */
const runsOfServer = 4;

export async function checkIndependence(drawn: Schedule, real: Side): Promise<IndependenceResult> {
  const { trace, footprints } = await recorded(drawn);
  const schedule = { ...drawn, steps: stepsOf(trace) };
  const independent = independentPairs(trace, footprints);
  if (independent.length === 0) return { pairs: 0, leftOut: 'no independent pair', dependences: [] };
  const theirs = await runSchedule(schedule, real);
  if (firstDifferent(trace, theirs) !== null) return { pairs: 0, leftOut: 'answered otherwise', dependences: [] };
  const dependences: Dependence[] = [];
  for (const at of independent) {
    const dependence = await findDependence(schedule, at, theirs, real);
    if (dependence !== null) dependences.push(dependence);
  }
  return { pairs: independent.length, leftOut: null, dependences };
}

function swappedAt(schedule: Schedule, at: number): Schedule {
  const [first, second] = schedule.steps.slice(at) as [Step, Step];
  return { ...schedule, steps: schedule.steps.toSpliced(at, 2, second, first) };
}

/** The same schedule on moirai, with the footprint of each line of its trace. */
async function recorded(
  schedule: Schedule,
): Promise<{ readonly trace: Trace; readonly footprints: readonly Footprint[] }> {
  const steps = new StepFootprints();
  const footprints: Footprint[] = [];
  const side = new MoiraiSide(schedule.dialect, likelyChoices, steps);
  const trace = await runSchedule(schedule, {
    name: side.name,
    prepare: (each) => side.prepare(each),
    start: (step) => side.start(step),
    settle: async () => {
      const answers = await side.settle();
      footprints.push(steps.take());
      return answers;
    },
    ask: (sql) => side.ask(sql),
    finish: () => {
      steps.end();
      return side.finish();
    },
    close: () => side.close(),
  });
  return { trace, footprints };
}

/** In the order in which they were sent: a session that waits is not sent its next one. */
function stepsOf({ lines }: Trace): Step[] {
  return lines.flatMap(({ step }) => (step === null || step.form === 'end' ? [] : [step]));
}

/** The places of the first of two. BEGIN is no statement of interest: it does nothing. */
function independentPairs(trace: Trace, footprints: readonly Footprint[]): number[] {
  const { lines } = trace;
  if (lines.some(({ answers }) => [...answers.values()].some(isUnsupported))) return [];
  const steps = stepsOf(trace);
  return steps.flatMap((first, at) => {
    const second = steps[at + 1];
    if (second === undefined || first.session === second.session) return [];
    if (first.form === 'begin' || second.form === 'begin') return [];
    const [a, b] = [footprints[at], footprints[at + 1]];
    return a === undefined || b === undefined || a.conflictsWith(b) ? [] : [at];
  });
}

export async function findDependence(
  schedule: Schedule,
  at: number,
  theirs: Trace,
  real: Side,
): Promise<Dependence | null> {
  const swapped = swappedAt(schedule, at);
  const outcomes = new Set([scheduleOutcome(schedule, theirs)]);
  const others = new Set<string>();
  for (let run = 0; run < runsOfServer; run += 1) {
    if (run > 0) outcomes.add(scheduleOutcome(schedule, await runSchedule(schedule, real)));
    others.add(scheduleOutcome(swapped, await runSchedule(swapped, real)));
    if ([...others].some((outcome) => outcomes.has(outcome))) return null;
  }
  return { schedule, at, outcomes: [...outcomes], swapped: [...others] };
}
