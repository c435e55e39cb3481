/** Running the verifier over a whole trace. */
import type { Mechanisms } from './mechanisms.ts';
import { Verifier } from './verifier.ts';
import type { RowImage, TraceOperation } from './trace.ts';
import type { Violation } from './violation.ts';

export interface Verified {
  readonly violations: readonly Violation[];
  readonly counts: Verifier['counts'];
  readonly sizes: Verifier['sizes'];
}

export function verifyAll(
  mechanisms: Mechanisms,
  operations: readonly TraceOperation[],
  initial: ReadonlyMap<string, RowImage> = new Map(),
): Verified {
  const violations: Violation[] = [];
  const verifier = new Verifier({ mechanisms, initial, onViolation: (violation) => violations.push(violation) });
  for (const operation of operations.toSorted((a, b) => a.start - b.start)) verifier.push(operation);
  verifier.finish();
  return { violations, counts: verifier.counts, sizes: verifier.sizes };
}

/** Integers from a seed (mulberry32). */
export function seededRandom(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}
