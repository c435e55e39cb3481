/** What a run did, fact by fact, so that two runs can be compared and the first difference named. */
import type { History } from '../history/index.ts';
import { type Fact, fact, keyFact } from './fact.ts';
import type { Marks } from './marks.ts';

export interface RunFacts {
  readonly history: History;
  /** What sessions returned. */
  readonly results: Readonly<Record<string, unknown>>;
  /** What is wrong with the run; `null` where nothing is. */
  readonly violation: string | null;
  readonly marks: Marks;
}

export function factsOf({ history, results, violation, marks }: RunFacts): Fact[] {
  const { transactions } = history;
  return [
    ...transactions.flatMap(({ id, operations, status }): Fact[] => [
      ...operations.map(({ kind, key, value }, i) =>
        keyFact(`operation ${i + 1} of ${id}`, kind, key, JSON.stringify(value)),
      ),
      fact(`the end of ${id}`, status),
    ]),
    keyFact('the order of transactions', 'order', transactions.map(({ id }) => id).join(', '), ''),
    ...Object.entries(results).map(([name, value]) => fact(`the result of session "${name}"`, valueText(value))),
    ...[...marks].map(([name, held]) => fact(`sometimes "${name}"`, String(held))),
    fact('the verdict', violation ?? 'that the invariant holds'),
  ];
}

/** A value of any kind, as text: equal for values that a program cannot tell apart. Of an error its text, since stacks differ. */
export function valueText(value: unknown): string {
  try {
    return JSON.stringify(value, replaced) ?? 'undefined';
  } catch {
    return 'a value that contains itself';
  }
}

function replaced(_name: string, value: unknown): unknown {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value];
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `function ${value.name}`;
  return value;
}
