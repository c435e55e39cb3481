/**
 * Where an exploration of a SQL program stands between two runs: the decisions of the next schedule with what was tried beside them, and what the
 * runs before it showed. Data that structured clones keep.
 */
import type { Ways } from '../../database/index.ts';
import type { SavedArrivals } from '../../sql-program/index.ts';
import { otherExploration } from '../index.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import type { TreePosition } from './schedule-tree.ts';
import type { SavedFindings } from './sql-findings.ts';

/** What has to be the same when it continues. */
export interface SqlSubject {
  /** The sessions, the schema and the database. */
  readonly shape: readonly string[];
  readonly ways: Ways;
  readonly reduces: boolean;
  readonly prefix: readonly number[];
}

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

/** Where an exploration stands that threads share. Plain data. */
export interface SharedCheckpoint {
  readonly kind: 'shared';
  /** What one thread explores before the work is shared. */
  readonly alone: SqlCheckpoint;
  /** Of each beginning that a thread takes; `null`: no thread has begun. None: the work is not shared yet, or never was. */
  readonly parts: readonly (SqlCheckpoint | null)[];
}

/** By one thread, or by several. */
export type OneCheckpoint = SqlCheckpoint | SharedCheckpoint;

/** Where explorations stand of which one follows the other. Plain data. */
interface SequenceCheckpoint {
  /** The sessions, the schema and the database of each. */
  readonly shapes: readonly (readonly string[])[];
  /** Of those that are over, in order. */
  readonly results: readonly ExploreSqlResult[];
  /** Is none left? */
  readonly isComplete: boolean;
}

/** Of every combination of access paths. */
export interface PlansCheckpoint extends SequenceCheckpoint {
  readonly kind: 'plans';
  /** Keys of what was seen in those that are over. */
  readonly histories: readonly string[];
  readonly outcomes: readonly string[];
  /** Of the one that is next; `null`: it has not begun. */
  readonly current: OneCheckpoint | null;
}

/** Of every level of an engine. */
export interface LevelsCheckpoint extends SequenceCheckpoint {
  readonly kind: 'levels';
  readonly current: OneCheckpoint | PlansCheckpoint | null;
}

export type AnySqlCheckpoint = OneCheckpoint | PlansCheckpoint | LevelsCheckpoint;

/** How an exploration is continued and saved, by what its checkpoints are. */
export interface Saving<Checkpoint> {
  /** As `exploreSql` has it. */
  readonly onStart?: (soFar: () => ExploreSqlResult, underWay: () => string, checkpoint?: () => Checkpoint) => void;
  readonly resume?: Checkpoint;
  readonly onCheckpoint?: (checkpoint: Checkpoint) => void;
}

/** Of one thread. @throws InputError `explore/checkpoint` */
export function requireAlone(checkpoint: AnySqlCheckpoint): SqlCheckpoint {
  if ('kind' in checkpoint) throw otherExploration(`it was written with ${writtenWith[checkpoint.kind]}`);
  return checkpoint;
}

/** Of one level and the likely access paths. @throws InputError `explore/checkpoint` */
export function requireOne(checkpoint: AnySqlCheckpoint): OneCheckpoint {
  return isOfKind('shared', checkpoint) ? checkpoint : requireAlone(checkpoint);
}

/** @throws InputError `explore/checkpoint` */
export function requireKind<Kind extends keyof typeof writtenWith>(
  kind: Kind,
  checkpoint: AnySqlCheckpoint,
): Extract<AnySqlCheckpoint, { readonly kind: Kind }> {
  if (!isOfKind(kind, checkpoint)) throw otherExploration(`it was written without ${writtenWith[kind]}`);
  return checkpoint;
}

function isOfKind<Kind extends keyof typeof writtenWith>(
  kind: Kind,
  checkpoint: AnySqlCheckpoint,
): checkpoint is Extract<AnySqlCheckpoint, { readonly kind: Kind }> {
  return 'kind' in checkpoint && checkpoint.kind === kind;
}

const writtenWith = { shared: '--jobs', plans: '--plans all', levels: '--isolation all' } as const;

/** @throws InputError `explore/checkpoint` where it is of other programs or databases */
export function requireSameShapes({ shapes }: SequenceCheckpoint, now: readonly (readonly string[])[]): void {
  if (JSON.stringify(shapes) !== JSON.stringify(now))
    throw otherExploration('it is of a program with other sessions or another schema, or of another database');
}
