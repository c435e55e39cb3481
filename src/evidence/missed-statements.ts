/** Statements that met no row in any run: a wrong condition, perhaps, or the run never came to where there are some. */
import type { SessionEvidence } from './evidence.ts';
import type { InvariantEvidence } from './invariant-evidence.ts';

/** What a green verdict takes for granted of them, as clauses. */
export function missedAssumed(sessions: readonly SessionEvidence[], invariant: InvariantEvidence): string[] {
  return [
    ...sessions.flatMap(({ name, answers }) =>
      answers.statements
        .filter(({ rows }) => rows === 'none')
        .map(({ statement }) => `session "${name}" changes no row in any run by: ${statement}`),
    ),
    ...invariant.statements
      .filter(({ rows }) => rows === 'none')
      .map(({ statement }) => `the invariant finds no row in any run, and tests that there is none, by: ${statement}`),
  ];
}
