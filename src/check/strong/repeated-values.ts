/**
 * Values that several transactions wrote, where nothing says which of them a read saw: the history is at a level if it is for some choice of
 * writers. First, writers are left out that cannot be meant whatever the others are: those that come after the reader, and those that were
 * surely overwritten before it. Then a choice is tried, first the one of the recorded order; what violates the level says which of the choices contradict each other, and that
 * combination is not tried again. (Hyper-polygraphs leave the choice open too: VeriStrong, 2025.)
 *
 * Cost: that of a check for each try; the number of tries has a limit.
 */
import { type TimeLimit, unlimited } from '../../base/index.ts';
import { chooseAvoiding, type Nogood, writersInRecordedOrder } from '../../isolation/index.ts';
import {
  type CompactHistory,
  fromUnrecorded,
  INITIAL,
  statusCode,
  type TransactionIndex,
} from '../../history/index.ts';
import { commitOrder } from '../commit-order.ts';
import { type Reads, readsOf, source, transactionOf } from '../reads.ts';
import { sessionOrder } from '../session-order.ts';
import type { CompactLevel, CompactVerdict, CompactViolated } from '../verdict.ts';
import { type SurelyBefore, surelyBefore } from './surely-before.ts';

export interface RepeatedSearchOptions {
  /** Choices of writers that are tried where values are written repeatedly. Default 10,000. */
  readonly writerChoicesMax?: number;
}

export interface RepeatedOptions extends RepeatedSearchOptions {
  /** As for `checkStrong`. */
  readonly limit?: TimeLimit;
}

/** A read with several possible writers. */
export interface OpenRead {
  readonly operation: number;
  readonly by: TransactionIndex;
  readonly key: number;
  /** Transactions, or `INITIAL`: the likeliest first. */
  readonly candidates: readonly TransactionIndex[];
}

type Check = (history: CompactHistory, reads: Reads) => CompactVerdict;

export function checkRepeatedValues(
  history: CompactHistory,
  level: CompactLevel,
  check: Check,
  { writerChoicesMax = 10_000, limit = unlimited }: RepeatedOptions = {},
): CompactVerdict {
  const from = history.from?.slice() ?? new Int32Array(history.operationCount).fill(fromUnrecorded);
  const chosen: CompactHistory = { ...history, from };
  const ambiguous = openReads(history, readsOf(history)).map(({ operation }) => operation);
  const open = narrowed(chosen, from, level, limit);
  const nogoods: Nogood[] = [];
  let violated: CompactViolated | null = null;
  for (let tries = 0; tries < writerChoicesMax; tries += 1) {
    const choice =
      tries === 0
        ? writersInRecordedOrder((t) => history.end?.[t] ?? NaN, open)
        : chooseAvoiding(open, nogoods, 1_000_000, limit);
    limit.checkNow();
    if (choice === 'none') return violated ?? { kind: 'unknown', reason: 'step-limit' };
    if (choice === 'step-limit') return { kind: 'unknown', reason: 'step-limit' };
    open.forEach((read, i) => (from[read.operation] = choice[i]));
    const reads = readsOf(chosen);
    const verdict = check(chosen, reads);
    if (verdict.kind === 'satisfied')
      return { ...verdict, chosen: ambiguous.map((o) => ({ operation: o, from: from[o] })) };
    if (verdict.kind !== 'violated') return verdict;
    const nogood = contradicting(open, choice, verdict);
    if (nogood.length === 0) return verdict;
    nogoods.push(nogood);
    // What shows that one choice is wrong does not show it of the others.
    violated = { kind: 'violated', anomaly: verdict.anomaly, cycle: [], evidence: null };
  }
  return { kind: 'unknown', reason: 'step-limit' };
}

/** The choices that the evidence rests on; all of them where there is none. The evidence violates the level by itself. */
function contradicting(open: readonly OpenRead[], choice: readonly number[], { evidence }: CompactViolated): Nogood {
  const among = evidence === null ? null : new Set(evidence.transactions);
  const isWithin = (t: TransactionIndex): boolean => among === null || t === INITIAL || among.has(t);
  return open.flatMap(({ by }, read) => {
    const writer = choice[read];
    return isWithin(by) && isWithin(writer) ? [{ read, writer }] : [];
  });
}

/** The reads that stay open, with the writers that stay possible. Where one is left, it is recorded in `from`. */
function narrowed(history: CompactHistory, from: Int32Array, level: CompactLevel, limit: TimeLimit): OpenRead[] {
  let reads = readsOf(history);
  let open = openReads(history, reads);
  for (let pass = 0; pass < 20; pass += 1) {
    const known = surelyBefore(history, reads, level, limit);
    if (known !== null) open = open.map((read) => ({ ...read, candidates: possible(reads, read, known, limit) }));
    const closed = open.filter(({ candidates }) => candidates.length === 1);
    open = open.filter(({ candidates }) => candidates.length > 1);
    for (const { operation, candidates } of closed) from[operation] = candidates[0];
    if (closed.length === 0 || open.length === 0) break;
    reads = readsOf(history);
  }
  return likeliestFirst(history, readsOf(history), open);
}

function openReads(history: CompactHistory, { source: sources, writers }: Reads): OpenRead[] {
  const open: OpenRead[] = [];
  sources.forEach((found, operation) => {
    if (found !== source.ambiguous) return;
    const by = transactionOf(history, operation);
    if (history.status[by] === statusCode.aborted) return;
    const key = history.key[operation];
    const all = writers.candidates(by, key, history.value[operation]);
    // A write that was aborted or overwritten is a violation in itself: meant only if there is no other.
    const good = all.filter(
      ({ transaction: t, isFinal }) => isFinal && (t === INITIAL || history.status[t] !== statusCode.aborted),
    );
    open.push({ operation, by, key, candidates: (good.length > 0 ? good : all).map(({ transaction }) => transaction) });
  });
  return open;
}

/** If none is possible all stay: each is then found to be wrong, which says how. */
function possible(
  reads: Reads,
  { by, key, candidates }: OpenRead,
  known: SurelyBefore,
  limit: TimeLimit,
): readonly TransactionIndex[] {
  if (candidates.length < 2 || reads.isMember[by] === 0) return candidates;
  const overwriters = known.overwriting ? known.writersOf(key).filter((w) => known.isBefore(w, by)) : [];
  const left = candidates.filter((c) => {
    limit.check();
    if (c !== INITIAL && known.isBefore(by, c)) return false;
    return !overwriters.some((w) => w !== c && (c === INITIAL || known.isBefore(c, w)));
  });
  return left.length > 0 ? left : candidates;
}

/** The one that comes last before the reader in some order of what is known. */
function likeliestFirst(history: CompactHistory, reads: Reads, open: readonly OpenRead[]): OpenRead[] {
  const order = commitOrder({ history, reads, sessions: sessionOrder(history, reads), forced: null });
  const place = new Int32Array(history.transactionCount).fill(-1);
  order.forEach((t, i) => (place[t] = i));
  return open.map((read) => {
    const own = place[read.by];
    const rank = (t: TransactionIndex): number => {
      const at = t === INITIAL ? -1 : place[t];
      return at < own ? own - at : history.transactionCount + at;
    };
    return { ...read, candidates: read.candidates.toSorted((a, b) => rank(a) - rank(b)) };
  });
}
