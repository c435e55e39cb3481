/** What is looked at in every state: invariants, levels, and what should be possible. */
import type { TimelessLevel } from '../states/index.ts';
import { isolationInvariant } from './isolation-invariant.ts';
import type { Model } from './model.ts';
import { protocolFault, requireAnswer } from './protocol-fault.ts';
import type { Condition } from './spec.ts';
import type { Violation } from './violation.ts';

/** Conditions over the state in the model's words. */
export interface StateCheck {
  /** The first that fails. */
  readonly check: () => Violation | null;
  /** Takes those out that hold. */
  readonly strike: (sometimes: Map<string, Condition>) => void;
  /** As `SearchResult.observedMost`. */
  readonly observedMost: () => number | null;
}

export function stateCheckOf(model: Model, levels: readonly TimelessLevel[] = []): StateCheck {
  const invariants = Object.entries(model.parts.invariants ?? {});
  const isolation = levels.length === 0 ? null : isolationInvariant(model, levels);
  const check = (): Violation | null => {
    for (let i = 0; i < invariants.length; i += 1) {
      const [name, holds] = invariants[i];
      if (!evaluate('the invariant', name, holds)) return { kind: 'invariant', name };
    }
    const found = isolation === null ? null : isolation.check();
    return found === null ? null : { kind: 'isolation', name: found.level, verdict: found.verdict };
  };
  const strike = (sometimes: Map<string, Condition>): void => {
    for (const [name, holds] of sometimes) if (evaluate('the condition', name, holds)) sometimes.delete(name);
  };
  return { check, strike, observedMost: () => isolation?.observedMost() ?? null };
}

/** @throws InputError `protocol/throws`, `protocol/condition` */
export function evaluate(what: string, name: string, holds: Condition): boolean {
  let answer: unknown;
  try {
    answer = holds();
  } catch (error) {
    throw protocolFault(`in the state after it ${what} "${name}"`, error);
  }
  if (answer === true || answer === false) return answer;
  requireAnswer(answer, `${what} "${name}"`);
  return Boolean(answer);
}
