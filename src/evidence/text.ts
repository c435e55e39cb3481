/** Gaps and assumptions in words, the same in every tool. */
import type { Conclusion, Gap } from './conclude.ts';
import type { UnsupportedStatement } from './evidence.ts';

/** One clause, without a final full stop. Names and statements are the user's: print them through `printable`. */
export function gapText(gap: Gap): string {
  switch (gap.kind) {
    case 'nothing-looked-at':
    case 'cut':
      return gap.clause;
    case 'silent-session':
      return `session "${gap.session}" sent no ${gap.sent}`;
    case 'failed-session':
      return `session "${gap.session}" failed in every run: ${gap.failure}`;
    case 'lost-session':
      return gap.loss === 'left-open'
        ? `session "${gap.session}" ended its connection with a transaction open in every run: is a COMMIT missing?`
        : `session "${gap.session}" rolled back all that it wrote in every run: it committed nothing`;
    case 'failing-statement':
      return gap.session === null
        ? `the invariant holds although it sent what fails in every run: ${gap.statement}: ${gap.failure}`
        : `session "${gap.session}" sent what fails in every run: ${gap.statement}: ${gap.failure}`;
    case 'invariant-elsewhere':
      return `the invariant looks only at ${gap.tables.join(', ')}, which no session reads or writes in any run`;
    case 'found-nothing':
      return `session "${gap.session}" found and changed no row in any run: ${gap.statement}`;
    case 'never-overlapped':
      return overlapText(gap.sessions) + awaitingText(gap.awaiting);
    case 'unsupported':
      return unsupportedText(gap.statement);
  }
}

/** A lock in memory keeps the sessions of one process apart, and not those of two servers. */
function awaitingText(sessions: readonly string[]): string {
  if (sessions.length === 0) return '';
  const [who, awaits] = [namesOf(sessions), sessions.length === 1 ? 'awaits' : 'await'];
  return (
    `; session ${who} ${awaits} something beside the store, such as another session or a lock in memory, ` +
    'which does not keep two servers apart: let the sessions run without it'
  );
}

function namesOf(sessions: readonly string[]): string {
  return sessions.map((name) => `"${name}"`).join(', ');
}

function overlapText(sessions: readonly string[]): string {
  const names = namesOf(sessions);
  return sessions.length === 1
    ? `session ${names} never overlapped with another in any run`
    : `sessions ${names} never overlapped in any run`;
}

function unsupportedText({ session, statement, reason, place, count }: UnsupportedStatement): string {
  const where = place === null ? '' : ` at ${place}`;
  const times = count === 1 ? '' : ` (${count} times)`;
  return `session "${session}"${where} sent what moirai cannot do${times}: ${statement.replaceAll(/\s+/g, ' ').trim()}: ${reason}`;
}

/** What `--json` adds to every tool's object: why nothing is known, and what a green verdict assumes. */
export function conclusionJson(conclusion: Conclusion): {
  readonly verdict: Conclusion['kind'];
  readonly gaps: readonly string[];
  readonly assumed: readonly string[];
} {
  return {
    verdict: conclusion.kind,
    gaps: conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [],
    assumed: conclusion.kind === 'satisfied' ? conclusion.assumed : [],
  };
}
