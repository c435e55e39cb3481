/**
 * Verdicts for a model checker, which asks them of millions of states and of few bags of observed transactions: each bag of operation
 * sequences is searched once. That needs levels that look at nothing else, and reads without recorded writers, whose numbers would
 * tell equal sequences apart.
 */
import { assert } from '../base/index.ts';
import { canonicalText, type Key, type Operation, type Value } from '../history/index.ts';
import type { TimelessLevel } from './level.ts';
import { problemOf } from './problem.ts';
import { search } from './search.ts';

export interface MemoisedOptions {
  /** Prefixes of executions to look at for one verdict. Default 200,000. */
  readonly stepsMax?: number;
  /** Verdicts to keep; beyond it, new ones are searched each time. Default 1,000,000. */
  readonly verdictsMax?: number;
}

/** A sequence of operations that was seen before has its old number. */
export type SequenceId = number;

export interface MemoisedCommitTest {
  readonly sequenceId: (operations: readonly Operation[]) => SequenceId;
  /** Of transactions with these sequences, in any order. */
  readonly verdict: (sequences: readonly SequenceId[]) => CommitTestOutcome;
  /** So far. */
  readonly counts: () => { readonly asked: number; readonly searched: number };
}

export type CommitTestOutcome = 'satisfied' | 'violated' | 'unknown';

export function memoisedCommitTest(
  initial: ReadonlyMap<Key, Value>,
  level: TimelessLevel,
  options: MemoisedOptions = {},
): MemoisedCommitTest {
  const { stepsMax = 200_000, verdictsMax = 1_000_000 } = options;
  const idByText = new Map<string, SequenceId>();
  const sequences: (readonly Operation[])[] = [];
  const verdicts = new Map<string, CommitTestOutcome>();
  let [asked, searched] = [0, 0];

  const judge = (ids: readonly SequenceId[]): CommitTestOutcome => {
    searched += 1;
    const transactions = ids.map((id) => ({ id: String(id), operations: sequences[id] as readonly Operation[] }));
    const outcome = search(problemOf({ initial, transactions }), level, { steps: stepsMax });
    return typeof outcome === 'string' ? outcome : 'satisfied';
  };

  return {
    sequenceId: (operations) => {
      const text = sequenceText(operations);
      const known = idByText.get(text);
      if (known !== undefined) return known;
      idByText.set(text, sequences.length);
      return sequences.push(operations) - 1;
    },
    verdict: (ids) => {
      asked += 1;
      // A transaction without operations passes anywhere and changes nothing.
      const bag = ids.filter((id) => (sequences[id] as readonly Operation[]).length > 0).toSorted((a, b) => a - b);
      const text = bag.join(' ');
      const known = verdicts.get(text);
      if (known !== undefined) return known;
      const found = judge(bag);
      if (verdicts.size < verdictsMax) verdicts.set(text, found);
      return found;
    },
    counts: () => ({ asked, searched }),
  };
}

function sequenceText(operations: readonly Operation[]): string {
  const texts = operations.map((o) => {
    assert(o.kind === 'write' || o.from === undefined, `the read of ${o.key} records its writer`);
    return `${o.kind} ${JSON.stringify(o.key)} ${canonicalText(o.value)}`;
  });
  return texts.join('\n');
}
