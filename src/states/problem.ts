/**
 * The observed transactions as the search sees them: dense numbers for transactions and keys, and for each read the transactions
 * whose last write it may have seen. What the search never needs is left out: aborted transactions, those of unknown fate that
 * no transaction may have read from (to take one away from an execution takes no read state away and adds no conflict), and reads that
 * their own transaction explains.
 */
import {
  canonicalText,
  INITIAL,
  type Key,
  type Read,
  sameValue,
  type TransactionIndex,
  type Value,
} from '../history/index.ts';
import { endedBefore, finalWrites, type ObservedTransactions, precedesInSession } from './observed.ts';

/** A position in `Problem.transactions`, or `INITIAL`. */
export type Member = number;

export interface Problem {
  readonly transactions: readonly ProblemTransaction[];
  readonly keys: number;
}

export interface ProblemTransaction {
  readonly index: TransactionIndex;
  /** Of unknown fate, it may be left out. */
  readonly isRequired: boolean;
  readonly reads: readonly ProblemRead[];
  readonly keys: readonly number[];
  /** Those that ended before it started. */
  readonly endedBefore: readonly Member[];
  /** Those before it in its session. */
  readonly sessionBefore: readonly Member[];
}

export interface ProblemRead {
  readonly key: number;
  /** After whose writes the key has the value that was read; in no state if empty. */
  readonly sources: ReadonlySet<Member>;
}

export function problemOf(observed: ObservedTransactions): Problem {
  const members = membersOf(observed);
  const numbers = new Map<Key, number>();
  const numberOf = (key: Key): number => numbers.get(key) ?? (numbers.set(key, numbers.size), numbers.size - 1);
  const sourcesOf = sourceIndex(observed, members);
  const transactions = members.map((index): ProblemTransaction => {
    const transaction = observed.transactions[index];
    const membersBefore = (isBefore: typeof endedBefore): Member[] =>
      [...members.keys()].filter((other) => isBefore(observed, members[other], index));
    return {
      index,
      isRequired: transaction?.status !== 'unknown',
      reads: externalReads(observed, index).map((read) => ({
        key: numberOf(read.key),
        sources: sourcesOf(read, index),
      })),
      keys: [...finalWrites(transaction?.operations ?? []).keys()].map(numberOf),
      endedBefore: membersBefore(endedBefore),
      sessionBefore: membersBefore(precedesInSession),
    };
  });
  return { transactions, keys: numbers.size };
}

function membersOf(observed: ObservedTransactions): TransactionIndex[] {
  const { transactions } = observed;
  const seen = new Set<string>();
  transactions.forEach(({ status }, t) => {
    if (status !== 'aborted') for (const { key, value } of externalReads(observed, t)) seen.add(cellText(key, value));
  });
  return [...transactions.keys()].filter((t) => {
    const { status = 'committed', operations } = transactions[t];
    if (status !== 'unknown') return status === 'committed';
    return [...finalWrites(operations)].some(([key, value]) => seen.has(cellText(key, value)));
  });
}

interface ExternalRead extends Read {
  /** It should have seen an own write and did not. */
  readonly missesOwn: boolean;
}

/** The reads that another transaction, the initial state or nothing must explain, each once. */
function externalReads({ transactions }: ObservedTransactions, t: TransactionIndex): readonly ExternalRead[] {
  const own = new Map<Key, Value>();
  const reads = new Map<string, ExternalRead>();
  for (const o of transactions[t]?.operations ?? []) {
    const last = own.get(o.key);
    if (o.kind === 'write') own.set(o.key, o.value);
    else if (last === undefined || !sameValue(last, o.value) || (o.from ?? t) !== t) {
      const missesOwn = last !== undefined;
      reads.set(`${cellText(o.key, o.value)} ${o.from} ${missesOwn}`, { ...o, missesOwn });
    }
  }
  return [...reads.values()];
}

/** The sources of a read: members by the last value they wrote to its key, never the reader. */
function sourceIndex(
  observed: ObservedTransactions,
  members: readonly TransactionIndex[],
): (read: ExternalRead, by: TransactionIndex) => ReadonlySet<Member> {
  const writers = new Map<string, Member[]>();
  members.forEach((t, member) => {
    for (const [key, value] of finalWrites(observed.transactions[t]?.operations ?? [])) {
      const text = cellText(key, value);
      const writersOfCell = writers.get(text) ?? [];
      writersOfCell.push(member);
      writers.set(text, writersOfCell);
    }
  });
  return ({ key, value, from, missesOwn }, by) => {
    if (missesOwn) return new Set();
    const isInitial = sameValue(observed.initial.get(key) ?? null, value);
    const candidates = [...(isInitial ? [INITIAL] : []), ...(writers.get(cellText(key, value)) ?? [])];
    const indexOf = (member: Member): TransactionIndex => members[member] ?? INITIAL;
    return new Set(candidates.filter((m) => indexOf(m) !== by && (from === undefined || indexOf(m) === from)));
  };
}

const cellText = (key: Key, value: Value): string => `${JSON.stringify(key)} ${canonicalText(value)}`;

/** The same transactions as positions in what was observed. */
export function transactionIndexes({ transactions }: Problem, members: readonly Member[]): TransactionIndex[] {
  return members.map((member) => transactions[member].index);
}
