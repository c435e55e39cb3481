/** Differences that are known, each with its reason. Every one has its row in docs/engines.md, under "Where they still differ". */
import type { Dialect } from '../src/sql/index.ts';
import { type Difference, signatureOf } from './difference.ts';
import type { TraceLine } from './schedule.ts';

export interface KnownDifference {
  readonly dialect: Dialect;
  /** Words that stand in docs/engines.md. */
  readonly row: string;
  readonly matches: (difference: Difference, signature: string) => boolean;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    dialect: 'mysql',
    row: "Which of two transactions is InnoDB's victim",
    matches: ({ line, ours, theirs }) => {
      const [mine, other] = [ours, theirs].map((trace) => deadlockVictims(trace.lines[line]));
      return mine !== undefined && other !== undefined && mine !== '' && other !== '' && mine !== other;
    },
  },
];

/** The sessions that a step made victims of a deadlock. */
function deadlockVictims(line: TraceLine | undefined): string {
  return [...(line?.answers ?? [])]
    .filter(([, answer]) => answer.kind === 'error' && answer.code === '1213')
    .map(([session]) => session)
    .toSorted((a, b) => a - b)
    .join();
}

export function knownDifference(difference: Difference): KnownDifference | undefined {
  const signature = signatureOf(difference);
  return knownDifferences.find(
    ({ dialect, matches }) => dialect === difference.schedule.dialect && matches(difference, signature),
  );
}
