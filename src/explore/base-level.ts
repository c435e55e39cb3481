/**
 * The level that is explored, where it is not the program's: explore-ce*(I0, I) (PLDI 2023, section 6) lists the histories of a base level I0
 * that is weaker than I, and leaves out those that are not at I. Prefix, snapshot isolation and serializable are not causally extensible, so
 * they need one; the stronger it is, the fewer runs are in vain.
 */
import type { ConstrainingLevel } from '../isolation/index.ts';

/** From weak to strong. `any`: a read sees any write that was committed before it in the order, whatever else was read. */
export const baseLevels = ['any', 'read-committed', 'read-atomic', 'causal'] as const;

/** A level whose histories can be enumerated without dead ends. */
export type BaseLevel = (typeof baseLevels)[number];

/** The level at which a transaction of `level` is explored: its own where it can be, and never more than the base. */
export function exploredLevel(base: BaseLevel, level: ConstrainingLevel): BaseLevel {
  const own = baseLevels.indexOf(level as BaseLevel);
  return own < 0 ? base : (baseLevels[Math.min(own, baseLevels.indexOf(base))] as BaseLevel);
}
