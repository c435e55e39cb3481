/** The isolation levels, weakest first: a chain, each allowing only what those before it allow. */
import { InputError, similarKey } from '../base/index.ts';

/** The levels, weakest first. */
export const isolationLevels = [
  'read-uncommitted',
  'read-committed',
  'read-atomic',
  'causal',
  'prefix',
  'snapshot-isolation',
  'serializable',
  'strict-serializable',
] as const;

/** A level by name, as the papers spell it. */
export type IsolationLevel = (typeof isolationLevels)[number];

/** One level for a whole history, or each transaction's own: a read obeys the level of the transaction that reads. */
export type Levels = IsolationLevel | LevelOf;
/** Each transaction's own level, by its position in the history. */
export type LevelOf = (transaction: number) => IsolationLevel;

export function levelOfEach(level: Levels): LevelOf {
  return typeof level === 'function' ? level : () => level;
}

/** Is `a` the level `b`, or one that allows less? */
export function isStrongerOrEqual(a: IsolationLevel, b: IsolationLevel): boolean {
  return isolationLevels.indexOf(a) >= isolationLevels.indexOf(b);
}

/** @throws InputError `level/unknown`, with the levels that `allowed` has and the one that was probably meant */
export function parseLevel<L extends IsolationLevel = IsolationLevel>(
  given: unknown,
  allowed: readonly L[] = isolationLevels as readonly IsolationLevel[] as readonly L[],
): L {
  const found = allowed.find((level) => level === given);
  if (found !== undefined) return found;
  const text = String(given);
  const plain = text.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  const meant = allowed.find((level) => level === plain || initials(level) === plain) ?? similarKey(plain, allowed);
  const hint = meant === null ? '' : ` (did you mean ${meant}?)`;
  throw new InputError('level/unknown', `unknown isolation level "${text}"${hint}; levels: ${allowed.join(', ')}`);
}

/** People write `si`, `rc`, `ser`. */
function initials(level: IsolationLevel): string {
  return level === 'serializable'
    ? 'ser'
    : level
        .split('-')
        .map((word) => word[0])
        .join('');
}
