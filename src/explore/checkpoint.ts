/**
 * Where an exploration stands between two runs: the prefixes that wait and what the runs before them showed. Subtrees share nothing, so that is all
 * it takes to continue in another process. Data that structured clones keep.
 */
import type { RolledBack, SessionEvidence } from '../evidence/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import { type KeysSeen, type Program, type SeenEnd, shapeOfKeys } from '../program/index.ts';
import type { BaseLevel } from './base-level.ts';
import type { Example } from './counterexamples.ts';
import { otherExploration } from './resumable.ts';
import type { Prefix } from './ordered-history.ts';

export interface ExploreCheckpoint {
  readonly subject: Subject;
  /** Empty: the exploration was complete. */
  readonly waiting: readonly Waiting[];
  readonly doneMass: number;
  readonly histories: number;
  readonly violations: number;
  readonly runs: number;
  readonly hasThrown: boolean;
  readonly marks: ReadonlyMap<string, number>;
  readonly sessions: readonly SessionEvidence[];
  /** What a verdict takes for granted, as clauses. */
  readonly assumed: readonly string[];
  /** One violation of each kind. */
  readonly examples: readonly Example[];
  readonly learned: Learned;
}

/** What has to be the same when it continues. */
export interface Subject {
  readonly level: ConstrainingLevel;
  readonly base: BaseLevel;
  readonly reruns: boolean;
  /** The sessions and the initial state. */
  readonly shape: readonly string[];
}

/** What runs of the program showed of it as a whole. */
export interface Learned {
  /** Is a session that reads what it read before not run again? */
  readonly reuses: boolean;
  /** For each session, the error with which it ended every run; `null` where one ended otherwise. */
  readonly failures: readonly (string | null)[];
  /** The same of the error that rolled back a transaction of it in every run. */
  readonly rolledBack: readonly (RolledBack | null)[];
  readonly keys: KeysSeen;
  /** Where the invariant held, to be judged again. */
  readonly ends: readonly SeenEnd[];
}

export function subjectOf(
  program: Program,
  level: ConstrainingLevel,
  { base = 'causal', reruns = false }: { readonly base?: BaseLevel; readonly reruns?: boolean },
): Subject {
  const shape = shapeOfKeys({ sessions: program.sessionNames, initial: program.initial }, null);
  return { level, base, reruns, shape };
}

/** @throws InputError `explore/checkpoint` where it is of another program, level or option */
export function requireSameSubject({ subject: then }: ExploreCheckpoint, now: Subject): void {
  if (then.level !== now.level) throw otherExploration(`it is of level ${then.level}, and --level is ${now.level}`);
  if (then.base !== now.base) throw otherExploration(`it is of base ${then.base}, and --base is ${now.base}`);
  if (then.reruns !== now.reruns) throw otherExploration(`it was written ${then.reruns ? 'with' : 'without'} --rerun`);
  if (then.shape.join('\0') !== now.shape.join('\0'))
    throw otherExploration('it is of a program with other sessions or another initial state');
}

/** A prefix that waits, and its share of the tree if every branch were of the same size. */
export interface Waiting {
  readonly prefix: Prefix;
  readonly mass: number;
}
