/**
 * A program must do the same when it is given the same turns and the same values. Otherwise no failure can be replayed, and counts mean
 * nothing. A run is repeated by its path; where the two differ, it is repeated once more with the usual suspects watched, and named.
 */
import { InputError } from '../base/input-error.ts';
import type { History, Operation } from '../history/index.ts';
import { retracing } from '../mockdb/index.ts';
import { type FinishedRun, type ProgramRunner, type RunLimits, finished } from './single-run.ts';
import { watchSuspects } from './suspects.ts';

/**
 * Repeats the run that `runner` did last.
 * @throws InputError `program/nondeterministic` naming the first difference and its likely cause
 */
export async function requireDeterminism(
  runner: ProgramRunner,
  run: FinishedRun,
  limits: RunLimits,
  failures: boolean,
): Promise<void> {
  const first = runner.lastHistory().history;
  const again = await runner.run(retracing(run.path, failures), limits);
  const difference =
    again.kind === 'finished'
      ? differenceOf(run, first, again, runner.lastHistory().history)
      : `the second run ended by ${again.kind}`;
  if (difference === null) return;
  const calls = await callsOfSuspects(runner, run, limits, failures);
  throw new InputError(
    'program/nondeterministic',
    `with the same choices the program does not do the same: ${difference}; ${causes(run, calls)}`,
  );
}

async function callsOfSuspects(
  runner: ProgramRunner,
  run: FinishedRun,
  limits: RunLimits,
  failures: boolean,
): Promise<string[]> {
  let turn: number | null = null;
  const watch = watchSuspects(() =>
    turn === null ? 'in the invariant' : `in session "${runner.program.sessionNames[turn]}"`,
  );
  try {
    finished(await runner.run(retracing(run.path, failures), { ...limits, onTurn: (session) => (turn = session) }));
  } catch {
    // What this run throws, the run before it has already told better.
  } finally {
    watch.stop();
  }
  return watch.calls();
}

function causes(run: FinishedRun, calls: readonly string[]): string {
  if (calls.length > 0) return `it called ${calls.join(', ')}: pass such values in, or fix them`;
  if (run.waitedOutside.length > 0) {
    return `session ${run.waitedOutside.map((name) => `"${name}"`).join(', ')} awaits something that is not the store's (a timer, a socket, a file)`;
  }
  return 'something outlives a run, such as a variable of the module that sessions change: make it anew inside the session';
}

function differenceOf(a: FinishedRun, before: History, b: FinishedRun, after: History): string | null {
  for (let t = 0; t < Math.max(before.transactions.length, after.transactions.length); t += 1) {
    const [x, y] = [before.transactions[t], after.transactions[t]];
    if (x === undefined || y === undefined)
      return `${(x ?? y)?.id} runs only ${x === undefined ? 'the second' : 'the first'} time`;
    if (x.id !== y.id) return `${y.id} runs where ${x.id} ran before`;
    const operation = differentOperation(x.operations, y.operations);
    if (operation !== null)
      return `operation ${operation + 1} of ${x.id} was ${words(x.operations[operation])}, then ${words(y.operations[operation])}`;
    if (x.status !== y.status) return `${x.id} was ${x.status}, then ${y.status}`;
  }
  if (a.violation === b.violation) return null;
  return `the verdict was ${a.violation ?? 'that the invariant holds'}, then ${b.violation ?? 'that the invariant holds'}`;
}

function differentOperation(a: readonly Operation[], b: readonly Operation[]): number | null {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) if (words(a[i]) !== words(b[i])) return i;
  return null;
}

function words(operation: Operation | undefined): string {
  return operation === undefined
    ? 'missing'
    : `${operation.kind} of ${operation.key} = ${JSON.stringify(operation.value)}`;
}
