/**
 * What the rows that a run of a SQL program read and wrote, and what its conditions did not find, say of its failure: the weakest level that
 * forbids it; or a cycle between sessions that no level forbids; or that the run is serial.
 */
import { type History, INITIAL, type TransactionIndex } from '../history/index.ts';
import {
  type AnomalyName,
  check,
  type Edge,
  type IsolationLevel,
  nameCycle,
  type Violated,
  weakestViolation,
} from '../isolation/index.ts';
import { sessionName } from './cause-text.ts';
import { sessionCycle } from './session-cycle.ts';

/** Evidence is searched in histories that a person could read; a larger one is recorded and left to `moirai check`. */
const transactionsMax = 60;

/** Of the connection on which the invariant asks. */
const observer = 'invariant';

export function isLarge({ transactions }: History): boolean {
  return transactions.length > transactionsMax;
}

export type SqlEvidence =
  /** `cycle` is that of `verdict`, or the lost update that it contains. */
  | {
      readonly kind: 'transactions';
      readonly level: IsolationLevel;
      readonly anomaly: AnomalyName;
      readonly cycle: readonly Edge[];
      readonly verdict: Violated;
      /** It takes the reads of a transaction that failed: what failed it is no matter of levels. */
      readonly hasFailed: boolean;
    }
  /** The transactions are serializable, the sessions are not. */
  | { readonly kind: 'sessions'; readonly anomaly: AnomalyName; readonly cycle: readonly Edge[] }
  /** It equals these transactions one after the other. */
  | { readonly kind: 'serial'; readonly order: readonly TransactionIndex[] }
  | { readonly kind: 'unknown' };

/**
 * What aborted transactions read does not count against a level, but it counts as a cause: a transaction that looked, found nothing and then
 * failed on what another one had inserted meanwhile.
 */
export function evidenceIn(history: History): SqlEvidence {
  if (isLarge(history)) return { kind: 'unknown' };
  const found = weakestViolation(history, { abortedReads: 'ignored' });
  if (found !== null) return transactionEvidence(history, found, false);
  const failed = weakestViolation(history, { abortedReads: 'constrained' });
  if (failed !== null) return transactionEvidence(history, failed, true);
  const verdict = check(history, 'serializable', { abortedReads: 'ignored' });
  if (verdict.kind !== 'satisfied') return { kind: 'unknown' };
  const program = withoutObserver(history);
  const order = verdict.commitOrder.filter((t) => isOfProgram(history, t));
  const cycle = sessionCycle(program, order);
  return cycle === null ? { kind: 'serial', order } : { kind: 'sessions', anomaly: nameCycle(cycle), cycle };
}

/** The name for `--json`: `null` where no anomaly was found. */
export function anomalyOf(evidence: SqlEvidence): AnomalyName | null {
  return evidence.kind === 'transactions' || evidence.kind === 'sessions' ? evidence.anomaly : null;
}

function transactionEvidence(
  history: History,
  { level, verdict }: { readonly level: IsolationLevel; readonly verdict: Violated },
  hasFailed: boolean,
): SqlEvidence {
  const lostUpdate = lostUpdateIn(history, verdict.cycle);
  const cycle = lostUpdate ?? verdict.cycle;
  const anomaly = lostUpdate === null ? verdict.anomaly : 'lost-update';
  return { kind: 'transactions', level, anomaly, cycle, verdict, hasFailed };
}

/**
 * Berenson et al. 1995, P4: r1[x] ... w2[x] ... w1[x]. An UPDATE reads the row that it writes, so a transaction that read the row before
 * sees two versions of it, and the weaker name would be a non-repeatable read, which the developer never wrote.
 */
function lostUpdateIn({ transactions }: History, cycle: readonly Edge[]): readonly Edge[] | null {
  const [first, second, third] = cycle;
  if (first === undefined || second === undefined || third !== undefined) return null;
  const rw = [first, second].find(({ relation, condition }) => relation === 'rw' && condition === undefined);
  const isObserved = [first, second].some(({ relation }) => relation === 'wr');
  if (rw === undefined || !isObserved) return null;
  const { from, to, key, operation = 0 } = rw;
  const writesAfter = transactions[from]?.operations.some(
    (each, o) => each.kind === 'write' && each.key === key && o > operation,
  );
  return writesAfter === true && key !== undefined ? [rw, { from: to, to: from, relation: 'ww', key }] : null;
}

function isOfProgram({ sessions, transactions }: History, t: TransactionIndex): boolean {
  return t === INITIAL || sessionName(sessions[transactions[t]?.session ?? -1] ?? '') !== observer;
}

/** The transactions keep their places; what the invariant read is no evidence. */
function withoutObserver(history: History): History {
  const transactions = history.transactions.map((transaction, t) =>
    isOfProgram(history, t) ? transaction : { ...transaction, operations: [] },
  );
  return { ...history, transactions };
}
