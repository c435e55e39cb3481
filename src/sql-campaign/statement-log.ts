/** What one run sent and what came of it, in the order in which the statements ended: the story of a failing run. */
import type { StatementEvent } from '../serve/index.ts';
import { printable } from '../report/index.ts';

export interface LoggedStatement {
  /** The name of the program's session. */
  readonly session: string;
  readonly sql: string;
  readonly parameters: readonly string[];
  /** `2 rows`, `40001 could not serialize access...`. */
  readonly outcome: string;
  /** What it had to wait for; `null` when it went on at once. */
  readonly waitedFor: string | null;
}

export function logged(event: StatementEvent, session: string): LoggedStatement {
  const { sql, parameters, waits } = event;
  return {
    session,
    sql,
    parameters,
    outcome: outcomeOf(event),
    waitedFor: waits.length === 0 ? null : waits.join(', then '),
  };
}

function outcomeOf({ command, rows, rowCount, error }: StatementEvent): string {
  if (error !== null) return `${error.code} ${error.message}`;
  if (rows !== null) return rows;
  return /^(insert|update|delete|merge)/i.test(command) ? `${rowCount} ${rowCount === 1 ? 'row' : 'rows'} changed` : '';
}

/** A line a statement: its session, its text with its parameters, what came of it. */
export function formatStatements(statements: readonly LoggedStatement[], width = 80): string[] {
  const names = Math.max(...statements.map(({ session }) => session.length), 0);
  return statements.flatMap(({ session, sql, parameters, outcome, waitedFor }) => {
    const given = parameters.length === 0 ? '' : `  [${parameters.join(', ')}]`;
    const text = printable(`${sql.replaceAll(/\s+/g, ' ').trim()}${given}`);
    const lines = [`  ${session.padEnd(names)}  ${shorten(text, width - names - 4)}`];
    if (waitedFor !== null) lines.push(`  ${' '.repeat(names)}    waited for ${waitedFor}`);
    if (outcome !== '') lines.push(`  ${' '.repeat(names)}    -> ${shorten(printable(outcome), width - names - 9)}`);
    return lines;
  });
}

function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 3))}...`;
}
