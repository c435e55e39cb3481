/**
 * A program must be a function of its turns, of what it reads, and of the values that the sources of randomness and time give: otherwise no
 * failure can be replayed, no history stands for another run of it, and a proof is one of chance. These values are the same in every run
 * (`source-values.ts`), so that a run which is repeated does the same.
 *
 * A verdict then holds for the values that were drawn. It stands for others where the program hands them on, and not where it decides by them.
 * That two runs agree is no evidence, since a coin agrees half of the time. So the difference is forced: a source answers from the low end of its
 * range in one run and from the high end in another, and what the program did is compared (`fact.ts`). What it decides between the two ends
 * is not seen: the verdict names the source.
 */
import { InputError } from '../base/index.ts';
import { decisionOf, differenceOf, fact, type Fact } from './fact.ts';
import { isForcible, Trial, withTrials } from './sources.ts';

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
 * Repeats a run as it was and, where the program calls a source, with other values: one run, or five and one for each source.
 * @returns false where there was no time left for it
 * @throws InputError `program/nondeterministic` naming the first difference and its cause
 */
export function requireFunctionOfReads(run: Repeated): Promise<boolean> {
  return withTrials(async () => {
    const again = await repeated(run, new Trial());
    if (again === null) return false;
    const difference = differenceOf(run.first, again.facts);
    if (difference !== null) throw await differsBy(difference, again, run, () => new Trial());
    if (!again.trial.sources().some(isForcible)) return true;
    return await requireNoDecision(run, again);
  });
}

/**
 * The same where a source was called in a later run, which is not repeated as it was.
 * @returns false where there was no time left for it
 * @throws InputError `program/nondeterministic`
 */
export function requireNoForcedDifference(run: Repeated): Promise<boolean> {
  return withTrials(() => requireNoDecision(run, { trial: new Trial(), facts: run.first }));
}

async function requireNoDecision(run: Repeated, usual: Done): Promise<boolean> {
  const low = await repeated(run, new Trial(() => 'low'));
  const high = low === null ? null : await repeated(run, new Trial(() => 'high'));
  const other = high === null ? null : await repeated(run, new Trial('other'));
  if (low === null || high === null || other === null) return false;
  const runs = [usual, other, low, high];
  const decision = decisionOf(runs.map(({ facts }) => facts));
  if (decision === null) return true;
  const again = await repeated(run, new Trial(() => 'low'));
  if (again === null) return false;
  // What differs with the same values does not come from them.
  const difference = differenceOf(low.facts, again.facts);
  if (difference !== null) throw await differsBy(difference, again, run, () => new Trial(() => 'low'));
  const called = [...new Set(runs.flatMap(({ trial }) => trial.sources()))].filter(isForcible);
  for (const source of called) {
    const one = await repeated(run, new Trial((each) => (each === source ? 'high' : 'low')));
    if (one === null) return false;
    const alone = decisionOf([low.facts, one.facts]);
    if (alone !== null) throw decides(alone, callsIn([low.trial, one.trial], [source]));
  }
  throw decides(
    decision,
    callsIn(
      runs.map(({ trial }) => trial),
      called,
    ),
  );
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
    return { trial, facts: [fact('the run', `ended with ${error instanceof Error ? error.message : String(error)}`)] };
  }
}

function callsIn(trials: readonly Trial[], sources: readonly string[]): string[] {
  return [...new Set(sources.flatMap((source) => trials.flatMap((trial) => trial.callsOf(source))))];
}

/** @param again the run that differs. @param newTrial for the same run once more */
async function differsBy(difference: string, again: Done, run: Repeated, newTrial: () => Trial): Promise<InputError> {
  return nondeterministic('with the same choices', difference, await cause(again, run, newTrial));
}

async function cause(again: Done, run: Repeated, newTrial: () => Trial): Promise<string> {
  // What can be forced gave the same values.
  const timers = again.trial.sources().filter((source) => !isForcible(source));
  if (timers.length > 0) return `it called ${callsIn([again.trial], timers).join(', ')}: ${remedy}`;
  if (run.waitedOutside.length === 0) return outlives;
  // What is awaited may be what an earlier run left, such as a promise in a variable: later runs then find it and agree.
  const third = await repeated(run, newTrial());
  if (third !== null && differenceOf(again.facts, third.facts) === null)
    return `runs after the first agree: ${outlives}`;
  const names = run.waitedOutside.map((name) => `"${name}"`).join(', ');
  return `session ${names} awaits something that is not the store's (a timer, a socket, a file, a promise of an earlier run)`;
}

const outlives =
  'something outlives a run, such as a variable of the module that sessions change, or a pool of random bytes: make it anew inside the session';

function decides(difference: string, calls: readonly string[]): InputError {
  return nondeterministic('with other values', difference, `it called ${calls.join(', ')}: ${remedy}`);
}

const remedy = 'pass such values in, or fix them';

function nondeterministic(when: string, difference: string, why: string): InputError {
  return new InputError('program/nondeterministic', `${when} the program does not do the same: ${difference}; ${why}`);
}
