/**
 * A program must be a function of its turns and of what it reads: otherwise no failure can be replayed, no history stands for another run of
 * it, and a proof is one of chance. That two runs agree is no evidence, since a coin agrees half of the time. So the difference is forced: a
 * source that the program calls (randomness, a clock) answers from the low end of its range in one run and from the high end in another, and
 * what the program did in the two is compared. A source whose values change nothing, such as the time in a line of a log, does no harm.
 */
import { InputError } from '../base/input-error.ts';
import { isForcible, Trial, withTrials } from './sources.ts';

/** One thing that a run did: `['operation 1 of a/0', 'write of x = 1']`. */
export type Fact = readonly [what: string, did: string];

export interface Repeated {
  /** What the run did that is repeated, in order. */
  readonly first: readonly Fact[];
  /**
   * The same run once more, with the same choices: of the program that `around` makes of the program. What it throws counts as what it did.
   * It must not disturb what the caller holds of the first run. `null`: there was no time left for it.
   */
  readonly repeat: (trial: Trial) => Promise<readonly Fact[] | null>;
  /** Sessions that awaited something that is not the store's. */
  readonly waitedOutside: readonly string[];
}

/**
 * Repeats a run as it was and, where the program calls a source, with forced values: two runs, or four and one for each source.
 * @returns false where there was no time left for it
 * @throws InputError `program/nondeterministic` naming the first difference and its cause
 */
export function requireFunctionOfReads(run: Repeated): Promise<boolean> {
  return withTrials(async () => {
    const plain = await repeated(run, new Trial());
    const forced = plain === null ? null : await forcedDifference(run, plain.trial);
    if (plain === null || forced === null) return false;
    if (forced !== 'none') throw nondeterministic(forced.difference, `it called ${forced.calls.join(', ')}: ${remedy}`);
    const difference = differenceOf(run.first, plain.facts);
    if (difference !== null) throw nondeterministic(difference, cause(plain.trial, run.waitedOutside));
    return true;
  });
}

/**
 * The same where a source was called in a later run: two runs with all sources forced, and the whole check only where they differ.
 * @returns false where there was no time left for it
 * @throws InputError `program/nondeterministic`
 */
export function requireNoForcedDifference(run: Repeated): Promise<boolean> {
  return withTrials(async () => {
    const low = await repeated(run, new Trial(() => 'low'));
    const high = low === null ? null : await repeated(run, new Trial(() => 'high'));
    if (low === null || high === null) return false;
    return differenceOf(low.facts, high.facts) === null ? true : await requireFunctionOfReads(run);
  });
}

interface Done {
  readonly trial: Trial;
  readonly facts: readonly Fact[];
}

async function repeated(run: Repeated, trial: Trial): Promise<Done | null> {
  try {
    const facts = await run.repeat(trial);
    return facts === null ? null : { trial, facts };
  } catch (error) {
    return { trial, facts: [['the run', `ended with ${error instanceof Error ? error.message : String(error)}`]] };
  }
}

interface ForcedDifference {
  readonly difference: string;
  readonly calls: readonly string[];
}

/** Each source by itself, while the others stay at their low ends; then all of them together. `null`: there was no time left. */
async function forcedDifference(run: Repeated, plain: Trial): Promise<ForcedDifference | 'none' | null> {
  if (!plain.sources().some(isForcible)) return 'none';
  const low = await repeated(run, new Trial(() => 'low'));
  const again = low === null ? null : await repeated(run, new Trial(() => 'low'));
  if (low === null || again === null) return null;
  // What differs with the same values does not come from them.
  if (differenceOf(low.facts, again.facts) !== null) return 'none';
  const high = await repeated(run, new Trial(() => 'high'));
  if (high === null) return null;
  const called = [...new Set([plain, low.trial, high.trial].flatMap((trial) => trial.sources()))].filter(isForcible);
  for (const source of called) {
    const one = await repeated(run, new Trial((each) => (each === source ? 'high' : 'low')));
    if (one === null) return null;
    const difference = differenceOf(low.facts, one.facts);
    if (difference !== null) return { difference, calls: callsIn([low.trial, one.trial], [source]) };
  }
  const difference = differenceOf(low.facts, high.facts);
  return difference === null ? 'none' : { difference, calls: callsIn([low.trial, high.trial], called) };
}

function callsIn(trials: readonly Trial[], sources: readonly string[]): string[] {
  return [...new Set(sources.flatMap((source) => trials.flatMap((trial) => trial.callsOf(source))))];
}

/** The first thing that one run did and the other did not, or did otherwise. */
function differenceOf(a: readonly Fact[], b: readonly Fact[]): string | null {
  const [before, after] = [new Map(a), new Map(b)];
  for (const what of new Set([...before.keys(), ...after.keys()])) {
    const [first, second] = [before.get(what), after.get(what)];
    if (first !== second) return `${what} was ${first ?? 'missing'}, then ${second ?? 'missing'}`;
  }
  return null;
}

const remedy = 'pass such values in, or fix them';

function cause(trial: Trial, waitedOutside: readonly string[]): string {
  // What can be forced was, and made no difference.
  const calls = callsIn(
    [trial],
    trial.sources().filter((source) => !isForcible(source)),
  );
  if (calls.length > 0) return `it called ${calls.join(', ')}: ${remedy}`;
  if (waitedOutside.length > 0) {
    return `session ${waitedOutside.map((name) => `"${name}"`).join(', ')} awaits something that is not the store's (a timer, a socket, a file)`;
  }
  return 'something outlives a run, such as a variable of the module that sessions change: make it anew inside the session';
}

function nondeterministic(difference: string, why: string): InputError {
  return new InputError(
    'program/nondeterministic',
    `with the same choices the program does not do the same: ${difference}; ${why}`,
  );
}
