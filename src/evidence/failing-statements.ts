/** Statements that fail by their own text in every run that sends them: misspelt names, syntax errors. A program that catches the error tests less than it seems to. */
import type { SessionEvidence } from './evidence.ts';
import type { InvariantEvidence } from './invariant-evidence.ts';
import type { StatementEvidence } from './answer-evidence.ts';

export interface FailingStatement {
  /** `null`: the invariant. */
  readonly session: string | null;
  readonly statement: string;
  readonly failure: string;
}

/**
 * Each once for its session. A session that failed in every run is a gap as a whole, and a name that the sessions themselves create or drop may be
 * missing on purpose.
 */
export function failingStatements(
  sessions: readonly SessionEvidence[],
  invariant: InvariantEvidence,
): FailingStatement[] {
  const definitions = sessions
    .flatMap(({ answers }) => answers.statements)
    .filter(({ hasSucceeded, statement }) => hasSucceeded && defines.test(statement))
    .map(({ statement }) => wordsOf(statement));
  const failingOf = (session: string | null, statements: readonly StatementEvidence[]): FailingStatement[] =>
    statements.flatMap(({ statement, hasSucceeded, failure }) =>
      failure === null || hasSucceeded || definitions.some((words) => names(failure).some((each) => words.has(each)))
        ? []
        : [{ session, statement, failure }],
    );
  return [
    ...sessions
      .filter(({ failedRuns, runs }) => failedRuns < runs)
      .flatMap(({ name, answers }) => failingOf(name, answers.statements)),
    ...failingOf(null, invariant.statements),
  ];
}

/** What an error says is missing: `relation "a.b" does not exist`, `function f(integer) does not exist`, `Unknown column 'x' in 'field list'`. */
function names(failure: string): string[] {
  const quoted = /["']([^"']+)["']|(\w+)\([^)]*\) does not exist/.exec(failure);
  const name = quoted?.[1] ?? quoted?.[2];
  return name === undefined || /syntax error/i.test(failure) ? [] : [...wordsOf(name)].slice(-1);
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu));
}

const defines = /^(?:create|alter|drop|rename|select\b.*\binto)\b/i;
