/**
 * What an exploration of a SQL program and its checkpoint must have in common. Apart from the checkpoints themselves: this needs the engine's
 * profiles, and the command line reads checkpoints of every program without the engine.
 */
import type { SqlProgram } from '../../program/index.ts';
import type { ExploreSqlOptions } from './explore-sql-options.ts';
import { shapeOfSql } from '../../sql-program/index.ts';
import { otherExploration } from '../index.ts';
import type { SqlCheckpoint, SqlSubject } from './sql-checkpoint.ts';

export function subjectOf(program: SqlProgram, options: ExploreSqlOptions): SqlSubject {
  const { profile, ways = {}, reduces = true, prefix = [] } = options;
  return { shape: shapeOfSql(program, profile), ways, reduces, prefix };
}

/** @throws InputError `explore/checkpoint` where it is of another program, database or option */
export function requireSameSubject({ subject: then }: SqlCheckpoint, now: SqlSubject): void {
  const [recorded, asked] = [then.shape.at(-1), now.shape.at(-1)];
  if (recorded !== asked) throw otherExploration(`it is of the ${recorded}, and this is the ${asked}`);
  if (then.shape.join('\0') !== now.shape.join('\0'))
    throw otherExploration('it is of a program with other sessions or another schema');
  if (JSON.stringify(then) !== JSON.stringify(now)) throw otherExploration('it was written with other options');
}
