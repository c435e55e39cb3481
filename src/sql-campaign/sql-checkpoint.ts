/**
 * Where an exploration of a SQL program stands between two runs: the decisions of the next schedule with what was tried beside them, and what the
 * runs before it showed. Data that structured clones keep.
 */
import { InputError } from '../base/input-error.ts';
import type { SqlProgram } from '../program/index.ts';
import type { Ways } from '../serve/index.ts';
import type { SavedArrivals } from './arrivals.ts';
import type { ExploreSqlOptions } from './explore-sql.ts';
import { shapeOfSql } from './run-steps.ts';
import type { TreePosition } from './schedule-tree.ts';
import type { SavedFindings } from './sql-findings.ts';

export interface SqlCheckpoint {
  readonly subject: SqlSubject;
  /** `null`: the exploration was complete. */
  readonly position: TreePosition | null;
  readonly found: SavedFindings;
  /** What runs have shown about the program's waiting. */
  readonly memory: SavedArrivals;
  /** What a verdict takes for granted of randomness and time, as clauses. */
  readonly sources: readonly string[];
}

/** What has to be the same when it continues. */
interface SqlSubject {
  /** The sessions, the schema and the database. */
  readonly shape: readonly string[];
  readonly ways: Ways;
  readonly reduces: boolean;
  readonly prefix: readonly number[];
}

export function subjectOf(program: SqlProgram, options: ExploreSqlOptions): SqlSubject {
  const { profile, ways = {}, reduces = true, prefix = [] } = options;
  return { shape: shapeOfSql(program, profile), ways, reduces, prefix };
}

/** @throws InputError `explore/checkpoint` where it is of another program, database or option */
export function requireSameSubject({ subject: then }: SqlCheckpoint, now: SqlSubject): void {
  const [recorded, asked] = [then.shape.at(-1), now.shape.at(-1)];
  if (recorded !== asked) throw refusal(`it is of the ${recorded}, and this is the ${asked}`);
  if (then.shape.join('\0') !== now.shape.join('\0'))
    throw refusal('it is of a program with other sessions or another schema');
  if (JSON.stringify(then) !== JSON.stringify(now)) throw refusal('it was written with other options');
}

/** @throws InputError `option/checkpoint` */
export function requireResumable({ resume, onCheckpoint, failsFast, replay }: ExploreSqlOptions): void {
  if (resume === undefined && onCheckpoint === undefined) return;
  if (failsFast === true)
    throw new InputError('option/checkpoint', 'an exploration that ends with the first violation has no checkpoints');
  if (replay !== undefined)
    throw new InputError('option/checkpoint', 'one schedule that is replayed has no checkpoints');
}

export function refusal(why: string): InputError {
  return new InputError('explore/checkpoint', `the checkpoint does not continue this exploration: ${why}`);
}
