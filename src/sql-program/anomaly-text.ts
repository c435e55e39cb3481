/** Why a run failed, as the last lines of its report: the cycle in the words of the developer, or that there is none. */
import { forbiddingLevel, type Profile } from '../database/index.ts';
import { anomalies, type Edge, explain } from '../isolation/index.ts';
import { formatCycle, printable, type Styler, wrap } from '../report/index.ts';
import { causeText } from './cause-text.ts';
import type { SqlFailure } from './sql-failure.ts';
import { evidenceIn, isLarge, type SqlEvidence } from './sql-evidence.ts';

/** Why a run failed. */
export interface Cause {
  readonly text: string;
  /** The evidence as a cycle, and each of its edges in words; none where the run is serial, or not known to be. */
  readonly cycle: readonly Edge[];
  readonly sentences: readonly string[];
}

/** @param profile names the level that forbids an anomaly @returns `null`: the history is too large to be searched */
export function causeOf(failure: SqlFailure, profile: Profile): Cause | null {
  const { history } = failure;
  if (isLarge(history)) return null;
  const evidence = evidenceIn(history);
  const text = sentence(failure, evidence, profile);
  if (evidence.kind === 'serial' || evidence.kind === 'unknown') return { text, cycle: [], sentences: [] };
  const { anomaly, cycle } = evidence;
  const verdict = evidence.kind === 'transactions' ? evidence.verdict : { kind: 'violated' as const, anomaly };
  return { text, cycle, sentences: explain(history, { ...verdict, cycle }) };
}

/** @param profile names the level that forbids an anomaly */
export function anomalyText(
  failure: SqlFailure,
  { profile, width, style }: { readonly profile: Profile; readonly width: number; readonly style: Styler },
): string[] {
  const { history } = failure;
  if (isLarge(history)) return [];
  const evidence = evidenceIn(history);
  const lines = wrap(printable(sentence(failure, evidence, profile)), width);
  if (evidence.kind !== 'transactions') return lines;
  const { verdict, cycle } = evidence;
  return [...lines, ...formatCycle(history, { ...verdict, cycle }, width).map((line) => style('faint', line))];
}

function sentence(failure: SqlFailure, evidence: SqlEvidence, profile: Profile): string {
  const { history } = failure;
  switch (evidence.kind) {
    case 'transactions': {
      const { title, meaning, forbiddenBy } = anomalies[evidence.anomaly];
      // A read that no commit order explains has no cycle.
      const what = evidence.cycle.length === 0 ? meaning : causeText(history, evidence.cycle, false);
      const error = evidence.hasFailed ? failureOf(failure) : null;
      return error === null
        ? `Cause: ${title}: ${what}. The level ${forbiddingLevel(profile, forbiddenBy)} forbids it.`
        : `Cause: ${title}: ${what}: ${error.text}.`;
    }
    case 'sessions': {
      const { title } = anomalies[evidence.anomaly];
      const error = failureOf(failure);
      return (
        `Cause: ${title} between sessions: ${causeText(history, evidence.cycle, true)}` +
        `${error === null ? '' : ` (${error.session}: ${error.text})`}. ` +
        'No isolation level forbids it: each looked in one transaction and acted in another.'
      );
    }
    case 'serial':
      return [nameText(failure) ?? serialText(failure, evidence.order), ...undecidedText(failure)].join(' ');
    case 'unknown':
      return ['Whether the run is serializable is not known.', ...undecidedText(failure)].join(' ');
  }
}

/** The error that failed a session, before those that only say that its transaction has failed. */
function failureOf({ message, statements }: SqlFailure): FailedStatement | null {
  const session = /^session "(.*?)" failed: /.exec(message)?.[1];
  const isError = /^(?!25P02)[0-9A-Z]{5} /;
  const last = statements.findLast((each) => each.session === session && isError.test(each.outcome));
  return session === undefined || last === undefined ? null : { session, text: last.outcome, sql: last.sql };
}

interface FailedStatement {
  readonly session: string;
  readonly text: string;
  readonly sql: string;
}

/**
 * PostgreSQL looks for a name before it enters it in a unique index of its catalog, and then waits for another that enters it. IF NOT EXISTS is for the
 * first look alone: the later ones fail.
 */
function nameText(failure: SqlFailure): string | null {
  const error = failureOf(failure);
  if (error === null) return null;
  const { session, text, sql } = error;
  const isEntered = /^23505 .*"pg_(class_relname_nsp|type_typname_nsp|namespace_nspname)_index"$/.test(text);
  const isSeenLate = /^(?:42P07|42710) /.test(text) && /\bif\s+not\s+exists\b/i.test(sql);
  if (!isEntered && !isSeenLate) return null;
  const what = `${session} looked for it before the other had committed it (${text})`;
  return `Cause: two sessions make the same name at a time: ${what}. IF NOT EXISTS does not look again.`;
}

/** The order explains what was read and written; whether the sessions give the same in that order, only a run would tell. */
function serialText(failure: SqlFailure, order: readonly number[]): string {
  const { history } = failure;
  const names = order.map((t) => history.transactions[t]?.id ?? '');
  const equals = names.length < 2 ? '' : `: they equal ${names.join(', ')}, one after the other`;
  const error = failureOf(failure);
  const what = error === null ? 'read and written' : 'read, written and committed';
  const serial =
    `The rows that were ${what} are serializable${equals}. ` +
    'Uniqueness and foreign-key checks are not in the history.';
  if (error === null) return serial;
  const { session, text } = error;
  return isRetryable(text)
    ? `${serial} The run fails because ${session} did not retry: ${text}.`
    : `${serial} The run fails because of an error in ${session}: ${text}.`;
}

/** A serialization failure or a deadlock: the transaction is to be run again. */
function isRetryable(error: string): boolean {
  return /^40(001|P01) /.test(error);
}

function undecidedText({ undecided }: SqlFailure): string[] {
  if (undecided.length === 0) return [];
  const conditions = undecided.map((condition) => `"${condition}"`).join(', ');
  return [`Probably a phantom: whether rows of the others satisfy ${conditions} could not be decided.`];
}
