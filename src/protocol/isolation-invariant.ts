/**
 * Isolation as an invariant on what clients observe: in every state, the transactions committed so far are at the level.
 * States by the million show few different bags of observed operations, so the verdict is kept for each bag.
 */
import type { History } from '../history/index.ts';
import { commitTest, type TimelessLevel } from '../states/index.ts';
import { BagTable } from './bag-table.ts';
import type { Model } from './model.ts';
import { observerOf } from './observer.ts';

export interface LevelViolation {
  readonly level: TimelessLevel;
  /** `unknown`: the search for an execution gave up. */
  readonly verdict: 'violated' | 'unknown';
}

export interface IsolationInvariant {
  /** Looks at the state in the model's words; `null` or the first level that it is not at. */
  readonly check: () => LevelViolation | null;
  /** The most transactions that one state observed: 0 proves nothing. */
  readonly observedMost: () => number;
}

export function isolationInvariant(model: Model, levels: readonly TimelessLevel[]): IsolationInvariant {
  const observer = observerOf(model);
  const verdicts = new BagTable(observer.members, observer.width);
  const violations: (LevelViolation | null)[] = [null];
  let observedMost = 0;
  const judge = (): LevelViolation | null => {
    const history = observer.history();
    observedMost = Math.max(observedMost, history.transactions.length);
    for (const level of levels) {
      const { kind } = commitTest(history, level);
      if (kind !== 'satisfied') return { level, verdict: kind };
    }
    return null;
  };
  return {
    observedMost: () => observedMost,
    check: () => {
      observer.read(verdicts.key);
      const known = verdicts.find();
      if (known >= 0) return violations[known];
      const violation = judge();
      if (observer.readsId()) {
        verdicts.keepOrder();
        observer.read(verdicts.key);
        if (verdicts.find() >= 0) return violation;
      }
      verdicts.add(violation === null ? 0 : violations.push(violation) - 1);
      return violation;
    },
  };
}

/** The observed transactions of the state at hand as a history: a session for each, no session order, no writers named. */
export function observedHistory(model: Model): History {
  return observerOf(model).history();
}
