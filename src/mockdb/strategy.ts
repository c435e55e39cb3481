/**
 * Which of the writes that a read may see does it see? MonkeyDB (OOPSLA 2021) draws uniformly from the possible values; its section 11
 * suggests a bias towards older ones, its section 8 the latest of each session for checks that should see no weak reads.
 */
import type { Chooser } from '../base/index.ts';
import { sameValue, type Value } from '../history/index.ts';

/** A committed write. */
export interface Version {
  readonly node: number;
  /** -1 for the initial state. */
  readonly session: number;
  readonly value: Value;
}

/** The strategies by name. */
export const strategyNames = ['uniform', 'older', 'latest-per-session', 'latest', 'every-write'] as const;
/** How a read weighs the values that it may return. */
export type StrategyName = (typeof strategyNames)[number];

/** A position in `admissible`, which holds the newest commit first and is not empty. */
export type Strategy = (admissible: readonly Version[], chooser: Chooser) => number;

export const strategies: Record<StrategyName, Strategy> = {
  uniform: (admissible, chooser) => {
    const first = firstOfEachValue(admissible);
    const value = pick(first, chooser);
    if (first.length === admissible.length) return value;
    const same = positionsWhere(admissible, (version) =>
      sameValue(version.value, (admissible[value] as Version).value),
    );
    return pick(same, chooser);
  },
  older: (admissible, chooser) => {
    const { length } = admissible;
    return length === 1 ? 0 : Math.max(chooser.choose(length), chooser.choose(length));
  },
  'latest-per-session': (admissible, chooser) => {
    const isFirst = (version: Version): boolean =>
      admissible.find((other) => other.session === version.session) === version;
    return pick(positionsWhere(admissible, isFirst), chooser);
  },
  latest: () => 0,
  'every-write': (admissible, chooser) => (admissible.length === 1 ? 0 : chooser.choose(admissible.length)),
};

function pick(positions: readonly number[], chooser: Chooser): number {
  return positions[positions.length === 1 ? 0 : chooser.choose(positions.length)] as number;
}

function firstOfEachValue(admissible: readonly Version[]): number[] {
  const first: number[] = [];
  for (let i = 0; i < admissible.length; i += 1) {
    const { value } = admissible[i] as Version;
    if (!first.some((j) => sameValue((admissible[j] as Version).value, value))) first.push(i);
  }
  return first;
}

function positionsWhere(admissible: readonly Version[], holds: (version: Version) => boolean): number[] {
  return [...admissible.keys()].filter((i) => holds(admissible[i] as Version));
}
