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
    dialect: 'postgres',
    row: 'A GIN index is no way to rows',
    matches: ({ schedule, line, ours, theirs }) =>
      schedule.setUp.some((sql) => /using gin/i.test(sql)) &&
      hasCode(ours.lines[line], '40001') &&
      !hasCode(theirs.lines[line], '40001'),
  },
  {
    dialect: 'postgres',
    row: 'Sessions that set `deadlock_timeout` differently',
    matches: ({ schedule: { steps } }) =>
      new Set(steps.flatMap(({ sql }) => /deadlock_timeout = '(\w+)'/.exec(sql)?.[1] ?? [])).size > 1,
  },
  {
    dialect: 'mysql',
    row: "Which of two transactions is InnoDB's victim",
    matches: ({ line, ours, theirs }) => {
      const [mine, other] = [ours, theirs].map((trace) => deadlockVictims(trace.lines[line]));
      return mine !== undefined && other !== undefined && mine !== '' && other !== '' && mine !== other;
    },
  },
];

function hasCode(line: TraceLine | undefined, code: string): boolean {
  return [...(line?.answers.values() ?? [])].some((answer) => answer.kind === 'error' && answer.code === code);
}

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
