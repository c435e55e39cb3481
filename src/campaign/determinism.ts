/** Runs of a campaign are functions of their decisions: repeated by their paths, on a store of their own. */
import { retracing } from '../mockdb/index.ts';
import { fact, type Fact, factsOf, type Program, type Repeated, type Trial } from '../program/index.ts';
import { type FinishedRun, ProgramRunner, type RunLimits } from './single-run.ts';

/**
 * The run that `runner` did last, to be repeated.
 * @param program whose sources are not controlled
 * @param limits of a run that begins now
 * @param failures could commits fail that need not?
 */
export function repeatedRun(
  program: Program,
  runner: ProgramRunner,
  run: FinishedRun,
  limits: () => RunLimits,
  failures: boolean,
): Repeated {
  const repeat = async (trial: Trial): Promise<readonly Fact[] | null> => {
    const other = new ProgramRunner(trial.around(program), runner.level);
    const given = limits();
    const again = await other.run(retracing(run.path, failures), given);
    if (again.kind === 'finished') return factsOfRun(other, again);
    return given.signal?.aborted === true ? null : [fact('the run', `ended by ${again.kind}`)];
  };
  return { first: factsOfRun(runner, run), repeat, waitedOutside: run.waitedOutside };
}

function factsOfRun(runner: ProgramRunner, { results, violation, marks }: FinishedRun): Fact[] {
  return factsOf({ history: runner.lastHistory().history, results, violation, marks });
}
