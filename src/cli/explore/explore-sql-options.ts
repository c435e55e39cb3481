/** Which engine profiles `moirai explore` of a SQL program was asked for. */
import { InputError } from '../../base/index.ts';
import type { SqlProgram } from '../../program/index.ts';
import type { Profile } from '../../database/index.ts';
import type { ExploreCommandOptions } from './explore-options.ts';

/** Of `--isolation all`, and of `--level all`, the engine's levels, weakest first. @throws InputError `option/replay`, `option/isolation`, `option/level` */
export async function profilesOf(options: ExploreCommandOptions, program: SqlProgram): Promise<readonly Profile[]> {
  const { parseProfile, engineLevels } = await import('../../database/index.ts');
  const { sql } = options;
  const engine = sql.engine ?? program.dialect;
  if (!isOfAll(options)) {
    const named = sql.level === undefined ? { engine } : { dialect: program.dialect };
    return [parseProfile({ ...sql, ...named })];
  }
  if (options.replay !== null)
    throw new InputError('option/replay', 'a schedule is replayed at the level at which it was found: name that level');
  if (sql.level !== undefined && sql.level !== 'all')
    throw new InputError('option/isolation', '--isolation is of an --engine; --level already says the level');
  if (sql.isolation !== undefined && sql.isolation !== 'all')
    throw new InputError('option/level', '--level all is all levels of the engine, and --isolation names one');
  const { dialect } = parseProfile({ engine, granularity: sql.granularity });
  return engineLevels[dialect].map((isolation) => parseProfile({ engine, isolation }));
}

export function isOfAll({ sql }: ExploreCommandOptions): boolean {
  return sql.level === 'all' || sql.isolation === 'all';
}
