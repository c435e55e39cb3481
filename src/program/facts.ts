/** What a run did, fact by fact, so that two runs can be compared and the first difference named. */
import type { History, Operation } from '../history/index.ts';
import type { Fact } from './function-of-reads.ts';
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
      ...operations.map((operation, i): Fact => [`operation ${i + 1} of ${id}`, operationText(operation)]),
      [`the end of ${id}`, status],
    ]),
    ['the order of transactions', transactions.map(({ id }) => id).join(', ')],
    ...Object.entries(results).map(([name, value]): Fact => [`the result of session "${name}"`, valueText(value)]),
    ...[...marks].map(([name, held]): Fact => [`sometimes "${name}"`, String(held)]),
    ['the verdict', violation ?? 'that the invariant holds'],
  ];
}

function operationText({ kind, key, value }: Operation): string {
  return `${kind} of ${key} = ${JSON.stringify(value)}`;
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
