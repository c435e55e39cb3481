/** `moirai explore --remedies`: what mends the program, each remedy explored. */
import { type Budget, InputError } from '../../base/index.ts';
import type { SqlProgram } from '../../program/index.ts';
import type { ExploreSqlResult, TriedRemedy } from '../../explore/sql/index.ts';
import type { UserProgram } from '../modules/user-program.ts';
import type { Progress } from '../output/progress.ts';
import type { ExploreCommandOptions } from './explore-options.ts';

/** @throws InputError `option/remedies` */
export function refuseWithRemedies({ sql, replay, estimates, drawing }: ExploreCommandOptions): void {
  const refuse = (why: string): never => {
    throw new InputError('option/remedies', `--remedies ${why}`);
  };
  if (sql.level !== undefined) refuse('are tried on an --engine: leave out --level');
  if (sql.isolation === 'all')
    refuse('try the stronger levels by themselves: name the level at which the program runs');
  if (replay !== null) refuse('need all failing runs: leave out --replay');
  if (estimates) refuse('are explored, and --estimate explores nothing: leave out one of them');
  if (drawing !== null) refuse(`are a table: leave out --${drawing}`);
}

/** `null`: they were not asked for, or no schedule fails. */
export async function remediesOf(
  program: SqlProgram,
  [result]: readonly ExploreSqlResult[],
  options: ExploreCommandOptions,
  watch: {
    readonly budget: Budget;
    readonly progress: Progress;
    readonly onTurn: ReturnType<UserProgram['onTurn']>;
    /** Called with those that are tried. */
    readonly onTried: (tried: readonly TriedRemedy[]) => void;
  },
): Promise<readonly TriedRemedy[] | null> {
  if (!options.remedies || result === undefined || result.violations === 0) return null;
  const { exploreRemedies } = await import('../sql-tools.ts');
  const { budget, progress, onTurn, onTried } = watch;
  const { plans, timeoutMs } = options;
  return exploreRemedies(program, result, {
    plans,
    timeoutMs,
    timeMaxMs: budget.leftMs,
    ...(budget.signal === undefined ? {} : { signal: budget.signal }),
    onRun: () => onTurn(0, () => 'a statement'),
    onProgress: ({ schedules }) => progress.update('a remedy', schedules, { atMost: null }, 'schedules'),
    onRemedy: onTried,
  });
}
