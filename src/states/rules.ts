/**
 * The commit tests as the search asks them: of the transaction that would come next, with the prefix for its past. Each rule answers
 * to its row in `commit-tests.ts`.
 */
import { INITIAL } from '../history/index.ts';
import type { CommitTestLevel } from './level.ts';
import {
  extended,
  firstShown,
  isPlaced,
  isShown,
  lastShown,
  mayCome,
  type Prefix,
  transactionOf,
  unplaced,
  wasShown,
} from './prefix.ts';
import type { Member, ProblemRead, ProblemTransaction } from './problem.ts';

export interface Rule {
  /** Would it pass its commit test if it came next? */
  readonly holds: (prefix: Prefix, next: Member) => boolean;
  /** Can it never pass, whatever comes before it? May answer false too often, never true. */
  readonly isLost: (prefix: Prefix, member: Member) => boolean;
  /** Those that must come before it if they come at all. */
  readonly after: (transaction: ProblemTransaction) => readonly Member[];
  /**
   * Beside which transactions are placed, all of the past that the future depends on. Then what failed once after the same
   * transactions in another order need not be tried again.
   */
  readonly memory: (prefix: Prefix, waiting: readonly Member[]) => string;
  /** The prefix with one more. */
  readonly place: (prefix: Prefix, next: Member) => Prefix;
  /** What it keeps of the empty prefix. */
  readonly start: (empty: Prefix) => Prefix;
  /** Does any transaction that passes now leave every solution open, also one that writes? */
  readonly isMonotone: boolean;
}

const anybody: Rule = {
  holds: () => true,
  isLost: () => false,
  after: () => [],
  memory: () => '',
  place: extended,
  start: (empty) => empty,
  isMonotone: false,
};

const prereads: Rule = {
  ...anybody,
  holds: (prefix, next) => readsOf(prefix, next).every((read) => wasShown(prefix, read)),
  isLost: (prefix, member) => readsOf(prefix, member).some((read) => !wasShown(prefix, read) && !mayCome(prefix, read)),
  isMonotone: true,
};

const serializable: Rule = {
  ...anybody,
  holds: (prefix, next) => readsOf(prefix, next).every((read) => isShown(prefix, read)),
  isLost: (prefix, member) =>
    readsOf(prefix, member).some((read) => !isShown(prefix, read) && comesTooLate(prefix, read, member)),
  memory: (prefix, waiting) => keysReadBy(prefix, waiting, (writers) => String(writers.at(-1))),
};

/** Which states could serve is kept for each transaction as one bit: a write to a key of its own clears it, a complete state sets it. */
function snapshots(after: Rule['after']): Rule {
  const refresh = (prefix: Prefix): Prefix => {
    for (const t of unplaced(prefix)) {
      const transaction = transactionOf(prefix.problem, t);
      if (transaction.reads.every((read) => isShown(prefix, read))) prefix.snapshots[t] = 1;
    }
    return prefix;
  };
  const place = (before: Prefix, next: Member): Prefix => {
    const prefix = { ...extended(before, next), snapshots: before.snapshots.slice() };
    const written = transactionOf(prefix.problem, next).keys;
    for (const t of unplaced(prefix)) {
      const transaction = transactionOf(prefix.problem, t);
      const isConflict = transaction.keys.some((key) => written.includes(key));
      if (isConflict || after(transaction).includes(next)) prefix.snapshots[t] = 0;
    }
    return refresh(prefix);
  };
  return {
    ...serializable,
    holds: (prefix, next) => prefix.snapshots[next] === 1,
    isLost: (prefix, member) => prefix.snapshots[member] === 0 && serializable.isLost(prefix, member),
    after,
    memory: (prefix, waiting) =>
      `${serializable.memory(prefix, waiting)} ${waiting.map((t) => prefix.snapshots[t]).join('')}`,
    place,
    start: refresh,
  };
}

const readAtomic: Rule = {
  ...prereads,
  holds: (prefix, next) => prereads.holds(prefix, next) && !isFractured(prefix, next, () => true),
  isLost: (prefix, member) => isLate(prefix, member) || isFractured(prefix, member, (missed) => isOver(prefix, missed)),
  memory: (prefix, waiting) => keysReadBy(prefix, waiting, (writers) => writers.join('-')),
  isMonotone: false,
};

const parallelSnapshots: Rule = {
  ...prereads,
  holds: (prefix, next) => prereads.holds(prefix, next) && !missesPrecedent(prefix, next, () => true),
  isLost: (prefix, member) =>
    isLate(prefix, member) || missesPrecedent(prefix, member, (missed) => isOver(prefix, missed)),
  memory: ({ writers, precedents }) => {
    const sets = precedents.map((set) => [...(set ?? [])].toSorted((a, b) => a - b).join('-'));
    return `${writers.map((list) => list.join('-')).join(' ')} ${sets.join(' ')}`;
  },
  place: (prefix, next) => {
    const precedents = [...prefix.precedents];
    precedents[next] = precedentsOf(prefix, next);
    return { ...extended(prefix, next), precedents };
  },
  isMonotone: false,
};

export const rules: Record<CommitTestLevel, Rule> = {
  'read-uncommitted': { ...anybody, isMonotone: true },
  preread: prereads,
  'read-atomic': readAtomic,
  'parallel-snapshot-isolation': parallelSnapshots,
  'snapshot-isolation': snapshots(() => []),
  'session-snapshot-isolation': snapshots(({ sessionBefore }) => sessionBefore),
  serializable,
  'strict-serializable': { ...serializable, after: ({ endedBefore }) => endedBefore },
};

/** Will a read that no state showed so far never be shown together with the others? */
function isLate(prefix: Prefix, member: Member): boolean {
  return readsOf(prefix, member).some((read) => !wasShown(prefix, read) && comesTooLate(prefix, read, member));
}

/** Every transaction that may still write what was read overwrites something else that the member read and that no other writes again. */
function comesTooLate(prefix: Prefix, read: ProblemRead, member: Member): boolean {
  for (const source of read.sources) {
    if (isPlaced(prefix, source)) continue;
    const { keys } = transactionOf(prefix.problem, source);
    const overwrites = (other: ProblemRead): boolean =>
      keys.includes(other.key) && !other.sources.has(source) && !mayCome(prefix, other);
    if (!readsOf(prefix, member).some(overwrites)) return false;
  }
  return true;
}

/** No later state shows it. */
const isOver = (prefix: Prefix, read: ProblemRead): boolean => !isShown(prefix, read) && !mayCome(prefix, read);

function isFractured(prefix: Prefix, member: Member, counts: (missed: ProblemRead) => boolean): boolean {
  const reads = readsOf(prefix, member);
  return reads.some((seen) => {
    const { state, maker } = firstShown(prefix, seen);
    return state > 0 && reads.some((missed) => misses(prefix, missed, maker, state) && counts(missed));
  });
}

function missesPrecedent(prefix: Prefix, member: Member, counts: (missed: ProblemRead) => boolean): boolean {
  const reads = readsOf(prefix, member);
  for (const maker of precedentsOf(prefix, member)) {
    const result = prefix.parents[maker] + 1;
    if (reads.some((missed) => misses(prefix, missed, maker, result) && counts(missed))) return true;
  }
  return false;
}

/** Does it read a key that `maker` wrote from a state before `result`? */
function misses(prefix: Prefix, read: ProblemRead, maker: Member, result: number): boolean {
  return transactionOf(prefix.problem, maker).keys.includes(read.key) && lastShown(prefix, read) < result;
}

function precedentsOf(prefix: Prefix, member: Member): ReadonlySet<Member> {
  const { keys, reads } = transactionOf(prefix.problem, member);
  const direct = [
    ...reads.map((read) => firstShown(prefix, read).maker),
    ...keys.flatMap((key) => prefix.writers[key] ?? []),
  ].filter((maker) => maker !== INITIAL);
  return new Set(direct.flatMap((maker) => [maker, ...(prefix.precedents[maker] ?? [])]));
}

/** One text for each key that someone waiting reads. */
function keysReadBy(
  prefix: Prefix,
  waiting: readonly Member[],
  textOf: (writers: readonly Member[]) => string,
): string {
  const keys = new Set(waiting.flatMap((t) => readsOf(prefix, t).map(({ key }) => key)));
  return [...keys].map((key) => textOf(prefix.writers[key] ?? [])).join(' ');
}

function readsOf({ problem }: Prefix, member: Member): readonly ProblemRead[] {
  return transactionOf(problem, member).reads;
}
