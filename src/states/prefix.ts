/**
 * The beginning of an execution, extended by one transaction at a time: what the search asks to decide who may come next. Prefixes
 * share nothing that changes, so the search drops one to go back.
 */
import { INITIAL } from '../history/index.ts';
import type { Member, Problem, ProblemRead, ProblemTransaction } from './problem.ts';

export interface Prefix {
  readonly problem: Problem;
  readonly order: readonly Member[];
  /** s_p of each placed transaction, -1 for the others. */
  readonly parents: Int32Array;
  /** The transactions that wrote each key, in order. */
  readonly writers: readonly (readonly Member[])[];
  /** 1 where some state so far is one that an unplaced transaction could take as its snapshot, were it next. */
  readonly snapshots: Uint8Array;
  /** For each placed transaction, those that precede it (`preceding` in execution.ts); empty where it is not needed. */
  readonly precedents: readonly (ReadonlySet<Member> | undefined)[];
}

export function emptyPrefix(problem: Problem): Prefix {
  return {
    problem,
    order: [],
    parents: new Int32Array(problem.transactions.length).fill(-1),
    writers: Array.from({ length: problem.keys }, () => []),
    snapshots: new Uint8Array(problem.transactions.length),
    precedents: [],
  };
}

export function extended(prefix: Prefix, next: Member): Prefix {
  const { problem, order } = prefix;
  const parents = prefix.parents.slice();
  parents[next] = order.length;
  const { keys } = transactionOf(problem, next);
  const writers = keys.length === 0 ? prefix.writers : [...prefix.writers];
  if (writers !== prefix.writers) {
    for (const key of keys) (writers as (readonly Member[])[])[key] = [...(prefix.writers[key] ?? []), next];
  }
  return { ...prefix, order: [...order, next], parents, writers };
}

export function transactionOf({ transactions }: Problem, member: Member): ProblemTransaction {
  return transactions[member];
}

export function isPlaced({ parents }: Prefix, member: Member): boolean {
  return member === INITIAL || parents[member] >= 0;
}

export function unplaced({ problem, parents }: Prefix): Member[] {
  return [...problem.transactions.keys()].filter((member) => parents[member] < 0);
}

/** Does the last state show what was read? */
export function isShown({ writers }: Prefix, { key, sources }: ProblemRead): boolean {
  return sources.has(writers[key]?.at(-1) ?? INITIAL);
}

/** Did some state so far show it? */
export function wasShown(prefix: Prefix, { sources }: ProblemRead): boolean {
  for (const source of sources) if (isPlaced(prefix, source)) return true;
  return false;
}

/** May a later state show it? */
export function mayCome(prefix: Prefix, { sources }: ProblemRead): boolean {
  for (const source of sources) if (!isPlaced(prefix, source)) return true;
  return false;
}

/** The first state that showed it, -1 if none did, with the transaction that made it. */
export function firstShown(prefix: Prefix, read: ProblemRead): { state: number; maker: Member } {
  let [state, maker] = [-1, INITIAL];
  for (const source of read.sources) {
    if (!isPlaced(prefix, source)) continue;
    const result = source === INITIAL ? 0 : prefix.parents[source] + 1;
    if (state < 0 || result < state) [state, maker] = [result, source];
  }
  return { state, maker };
}

/** The last state so far that showed it, -1 if none did. */
export function lastShown(prefix: Prefix, read: ProblemRead): number {
  if (isShown(prefix, read)) return prefix.order.length;
  const writers = prefix.writers[read.key] ?? [];
  for (let i = writers.length - 1; i >= 0; i -= 1) {
    // A writer's parent is the last state of the writer before it.
    if (read.sources.has(writers[i - 1] ?? INITIAL)) return prefix.parents[writers[i]];
  }
  return -1;
}
