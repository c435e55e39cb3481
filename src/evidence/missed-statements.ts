/** What sessions and the invariant miss in every run: statements that find no row, and transactions that an error rolls back. A wrong condition or value, perhaps. */
import type { SessionEvidence } from './evidence.ts';
import type { InvariantEvidence } from './invariant-evidence.ts';

/** What a green verdict takes for granted of them, as clauses. */
export function missedAssumed(sessions: readonly SessionEvidence[], invariant: InvariantEvidence): string[] {
  return [
    ...sessions.flatMap(({ name, runs, rolledBackRuns, rolledBack }) =>
      rolledBack === null || rolledBackRuns < runs
        ? []
        : [
            `session "${name}": its transaction was rolled back by ${rolledBack.error} in every run${rolledBack.statement === null ? '' : `: ${rolledBack.statement}`}`,
          ],
    ),
    ...sessions.flatMap(({ name, answers }) =>
      answers.statements.flatMap(({ statement, rows }) =>
        rows === 'none-changed' || rows === 'none-found'
          ? [`session "${name}" ${misses[rows]} no row in any run by: ${statement}`]
          : [],
      ),
    ),
    ...invariant.statements
      .filter(({ rows }) => rows === 'none-found')
      .map(({ statement }) => `the invariant finds no row in any run, and tests that there is none, by: ${statement}`),
  ];
}

const misses = { 'none-changed': 'changes', 'none-found': 'finds' } as const;
