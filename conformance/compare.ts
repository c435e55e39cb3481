/**
 * One schedule on moirai and on a real server. What a server leaves to timing and to its optimizer is given every chance: which statement
 * proceeds first, another run of the server, another access path in moirai.
 */
import type { Answer } from '../test/sql-oracle/answer.ts';
import { isUnsupported } from '../test/sql-oracle/answer.ts';
import { accessKey } from '../src/database/index.ts';
import { likelyChoices, MoiraiSide, type MoiraiChoices } from './moirai-side.ts';
import { firstDifferent, runSchedule, type Schedule, type Side, type Trace } from './schedule.ts';

export type Comparison =
  | { readonly kind: 'equal'; readonly theirs: Trace }
  /** Equal when statements of moirai read tables by other indexes. */
  | { readonly kind: 'equal by another plan'; readonly theirs: Trace }
  | { readonly kind: 'unsupported'; readonly message: string }
  | { readonly kind: 'different'; readonly line: number; readonly ours: Trace; readonly theirs: Trace };

/** Runs of the real server before a difference counts. */
const runsOfServer = 3;
/** Places that a server reads by other access paths than moirai, and how many combinations are tried. */
const placesMax = 3;
const plansMax = 100;

/** @param choices of moirai's, besides the likely ones */
export async function compare(
  schedule: Schedule,
  real: Side,
  choices: Partial<MoiraiChoices> = {},
): Promise<Comparison> {
  const likely = { ...likelyChoices, ...choices };
  const ours = await runOnMoirai(schedule, likely);
  let theirs = await runSchedule(schedule, real);
  if (firstDifferent(ours.trace, theirs) === null && sameRefusal(ours.trace, theirs)) return { kind: 'equal', theirs };
  const unsupported = unsupportedAnswer(ours.trace, theirs);
  if (unsupported !== null) return { kind: 'unsupported', message: unsupported };
  const last = await runOnMoirai(schedule, { ...likely, firstToWake: 'last' });
  /** What the server answered, each once: two statements that wake together may change the victim of a deadlock. */
  const runs: Trace[] = [];
  for (let run = 1; ; run += 1) {
    const isEqual = [ours, last].some(
      ({ trace }) => firstDifferent(trace, theirs) === null && sameRefusal(trace, theirs),
    );
    if (isEqual) return { kind: 'equal', theirs };
    if (!runs.some((other) => firstDifferent(other, theirs) === null)) runs.push(theirs);
    if (run === runsOfServer) break;
    theirs = await runSchedule(schedule, real);
  }
  const equal = await equalByAnotherPlan(schedule, runs, ours.accesses, likely);
  if (equal !== undefined) return { kind: 'equal by another plan', theirs: equal };
  return { kind: 'different', line: firstDifferent(ours.trace, theirs) ?? 0, ours: ours.trace, theirs };
}

type Accesses = MoiraiSide['accesses'];

async function runOnMoirai(
  schedule: Schedule,
  choices: MoiraiChoices,
): Promise<{ readonly trace: Trace; readonly accesses: Accesses }> {
  const side = new MoiraiSide(schedule.dialect, choices);
  const trace = await runSchedule(schedule, side);
  return { trace, accesses: side.accesses };
}

/** @returns the run of the server that moirai gives by other access paths */
async function equalByAnotherPlan(
  schedule: Schedule,
  runs: readonly Trace[],
  accesses: Accesses,
  likely: MoiraiChoices,
): Promise<Trace | undefined> {
  let tried = 0;
  for (const ways of combinationsOf(accesses)) {
    if (tried === plansMax) return undefined;
    tried += 1;
    for (const firstToWake of ['longest', 'last'] as const) {
      const { trace } = await runOnMoirai(schedule, { ...likely, firstToWake, ways });
      const equal = runs.find((theirs) => firstDifferent(trace, theirs) === null);
      if (equal !== undefined) return equal;
    }
  }
  return undefined;
}

/** One place by another path, then two, then three. */
function* combinationsOf(accesses: Accesses): Iterable<MoiraiChoices['ways']> {
  const places = accesses.filter(({ ways }) => ways > 1);
  for (let count = 1; count <= placesMax; count += 1) yield* deviations(places, count, 0);
}

function* deviations(places: Accesses, count: number, from: number): Iterable<MoiraiChoices['ways']> {
  if (count === 0) return yield {};
  for (const [i, place] of places.entries()) {
    if (i < from) continue;
    for (const others of deviations(places, count - 1, i + 1))
      for (let way = 1; way < place.ways; way += 1) yield { [accessKey(place)]: way, ...others };
  }
}

function sameRefusal(ours: Trace, theirs: Trace): boolean {
  return codeOf(ours.refused) === codeOf(theirs.refused);
}

function codeOf(answer: Answer | null): string {
  return answer?.kind === 'error' ? answer.code : '';
}

/** Up to the first difference: from there on the states may differ. */
function unsupportedAnswer(ours: Trace, theirs: Trace): string | null {
  if (ours.refused !== null && isUnsupported(ours.refused)) return messageOf(ours.refused);
  const line = ours.lines[firstDifferent(ours, theirs) ?? 0];
  const refusal = [...(line?.answers.values() ?? [])].find((answer) => isUnsupported(answer));
  return refusal === undefined ? null : messageOf(refusal);
}

function messageOf(answer: Answer): string {
  return answer.kind === 'error' ? answer.message : '';
}
