/** What one run sent and what came of it, in the order in which the statements ended: the story of a failing run. */
import type { StatementEvent } from '../database/index.ts';
import { printable } from '../report/index.ts';
import type { StatementMoments } from './statement-moments.ts';

/** A statement of a failing run, in the order in which the statements ended. */
export interface LoggedStatement extends StatementMoments {
  /** The name of the program's session. */
  readonly session: string;
  readonly sql: string;
  readonly parameters: readonly string[];
  /** `2 rows`, `40001 could not serialize access...`. */
  readonly outcome: string;
  /** The same without the values of rows: `2 rows`. */
  readonly summary: string;
  readonly isError: boolean;
  /** What it had to wait for; `null` when it continued at once. */
  readonly waitedFor: string | null;
}

export function logged(event: StatementEvent, session: string, moments: StatementMoments): LoggedStatement {
  const { sql, parameters, waits, rows, rowCount } = event;
  return {
    ...moments,
    session,
    sql,
    parameters,
    outcome: outcomeText(event, rows),
    summary: outcomeText(event, rows === null ? null : `${rowCount} rows`),
    isError: event.error !== null,
    waitedFor: waits.length === 0 ? null : waits.join(', then '),
  };
}

/** What a database says of a statement that has ended. */
interface Outcome extends Pick<StatementEvent, 'command' | 'rowCount'> {
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** What came of a statement, in words. @param rows that it returns, as text; `null`: none */
export function outcomeText({ command, rowCount, error }: Outcome, rows: string | null): string {
  if (error !== null) return `${error.code} ${error.message}`;
  if (rows !== null) return rows;
  return /^(insert|update|delete|merge)/i.test(command) ? `${rowCount} ${rowCount === 1 ? 'row' : 'rows'} changed` : '';
}

/** A statement on the page: whole, or its beginning and its end where another transaction was committed in between. */
export interface DrawnStatement {
  readonly part: 'whole' | 'begin' | 'end';
  readonly statement: LoggedStatement;
  /** Is the snapshot that it reads taken here? `transaction`: later statements read it too, though others have committed since. */
  readonly takesSnapshot: 'statement' | 'transaction' | null;
  /** Does it read a snapshot that was taken further up, before others committed? */
  readonly readsOlder: boolean;
}

export function drawStatements(statements: readonly LoggedStatement[]): DrawnStatement[] {
  const isCommitBetween = (from: number, to: number, connection: number): boolean =>
    statements.slice(from, to).some((each) => each.commits && each.connection !== connection);
  const drawn = statements.map((statement, at) => {
    const { began, snapshot, connection } = statement;
    const isSplit = isCommitBetween(began, at, connection);
    const readsOlder = snapshot !== null && snapshot < began && isCommitBetween(snapshot, at, connection);
    return { statement, at, isSplit, readsOlder };
  });
  const owner = ({ began, snapshot, connection }: LoggedStatement): 'statement' | 'transaction' | null => {
    if (snapshot === null || snapshot !== began) return null;
    const isShared = drawn.some(
      (each) => each.readsOlder && each.statement.connection === connection && each.statement.snapshot === snapshot,
    );
    return isShared ? 'transaction' : 'statement';
  };
  return statements.flatMap((_, at) => {
    const begins = drawn.filter((each) => each.isSplit && each.statement.began === at).map(beginning);
    const { statement, isSplit, readsOlder } = drawn[at] as (typeof drawn)[number];
    const takes = isSplit ? null : owner(statement);
    const takesSnapshot = takes === 'transaction' ? takes : null;
    return [...begins, { part: isSplit ? 'end' : 'whole', statement, takesSnapshot, readsOlder } as const];
  });

  function beginning({ statement }: { readonly statement: LoggedStatement }): DrawnStatement {
    return { part: 'begin', statement, takesSnapshot: owner(statement), readsOlder: false };
  }
}

/** A line a statement: its session, its text with its parameters, what came of it. */
export function formatStatements(statements: readonly LoggedStatement[], width = 80): string[] {
  const names = Math.max(...statements.map(({ session }) => session.length), 0);
  return drawStatements(statements).flatMap((drawn) => {
    const { session, sql, parameters } = drawn.statement;
    const given = parameters.length === 0 ? '' : `  [${parameters.join(', ')}]`;
    const text = printable(`${drawn.part === 'end' ? '... ' : ''}${sql.replaceAll(/\s+/g, ' ').trim()}${given}`);
    return [
      `  ${session.padEnd(names)}  ${shorten(text, width - names - 4)}`,
      ...notesOf(drawn).map((note) => `  ${' '.repeat(names)}    ${shorten(printable(note), width - names - 6)}`),
    ];
  });
}

function notesOf({ part, statement, takesSnapshot, readsOlder }: DrawnStatement): string[] {
  const { waitedFor, outcome } = statement;
  const snapshot = takesSnapshot === 'transaction' ? 'takes the snapshot of its transaction' : 'takes its snapshot';
  if (part === 'begin') return [takesSnapshot === null ? 'begins' : snapshot];
  return [
    ...(takesSnapshot === null ? [] : [snapshot]),
    ...(readsOlder ? ['reads the snapshot of its transaction'] : []),
    ...(waitedFor === null ? [] : [`waited for ${waitedFor}`]),
    ...(outcome === '' ? [] : [`-> ${outcome}`]),
  ];
}

function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 3))}...`;
}
