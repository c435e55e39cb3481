/** Differences that are known, each with its reason. Every one has its row in docs/engines.md, under "Where they still differ". */
import type { Answer } from '../test/sql-oracle/answer.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import { type Difference, signatureOf } from './difference.ts';
import { deadlockVictims, type TraceLine } from './schedule.ts';

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
      schedule.steps.some(({ sql }) => readsByGin(sql, schedule.setUp)) &&
      hasCode(ours.lines[line], '40001') &&
      !hasError(theirs.lines[line]),
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
      const [mine = '', other = ''] = [ours, theirs].map((trace) => deadlockVictims(trace.lines[line]).join());
      return mine !== '' && other !== '' && mine !== other;
    },
  },
  {
    dialect: 'mysql',
    row: '`NOWAIT` is for row locks alone',
    matches: ({ line, ours, theirs }) =>
      /\bnowait\b/i.test(theirs.lines[line]?.step?.sql ?? '') &&
      hasCode(theirs.lines[line], '1205') &&
      !hasError(ours.lines[line]),
  },
  {
    dialect: 'mysql',
    row: 'gets 3058 of `GET_LOCK` here',
    matches: ({ line, ours, theirs }) =>
      [...(ours.lines[line]?.answers ?? [])].some(([session, answer]) => {
        const other = theirs.lines[line]?.answers.get(session);
        return isError(answer, '3058') && other !== undefined && isError(other, '1213');
      }),
  },
];

/** Does the statement look for elements in a column that has a GIN index? moirai reads the whole table then, and remembers that it did. */
function readsByGin(sql: string, setUp: readonly string[]): boolean {
  return setUp
    .flatMap((text) => [...text.matchAll(/\bon (?<table>\w+) using gin ?\((?<column>\w+)/gi)])
    .some(({ groups: { table, column } = {} }) =>
      new RegExp(`\\b${table}\\b.*\\b${column} *(?:@>|<@|&&)`, 'is').test(sql),
    );
}

function hasError(line: TraceLine | undefined): boolean {
  return [...(line?.answers.values() ?? [])].some(({ kind }) => kind === 'error');
}

function hasCode(line: TraceLine | undefined, code: string): boolean {
  return [...(line?.answers.values() ?? [])].some((answer) => isError(answer, code));
}

function isError(answer: Answer, code: string): boolean {
  return answer.kind === 'error' && answer.code === code;
}

export function knownDifference(difference: Difference): KnownDifference | undefined {
  const signature = signatureOf(difference);
  return knownDifferences.find(
    ({ dialect, matches }) => dialect === difference.schedule.dialect && matches(difference, signature),
  );
}
