/**
 * What the name of an anomaly is decided on: not the transactions of the one cycle that was found, but all that can take part in one. These
 * are the connected components of the history, by sessions and by keys that are written, that violate the level. `check` of src/isolation chooses among all
 * cycles in them, so the name is the one that it gives the whole history, however many unrelated transactions there are beside.
 */
import { type CompactHistory, INITIAL, subHistory, type TransactionIndex } from '../history/index.ts';
import { isWithin, type Reads } from './reads.ts';

/** Finds, in a history of its own, transactions that violate together; `null`: there are none. */
export type FindViolation = (history: CompactHistory) => readonly TransactionIndex[] | null;

/**
 * The transactions of all components that violate, sorted; `null`: more than `transactionsMax`.
 * @param found some that violate together, hence in one component
 */
export function violatingRegion(
  history: CompactHistory,
  reads: Reads,
  found: readonly TransactionIndex[],
  find: FindViolation,
  transactionsMax: number,
): TransactionIndex[] | null {
  const components = componentsOf(history, reads);
  const taken = new Set<number>();
  for (let next: readonly TransactionIndex[] | null = found; next !== null; ) {
    const before = taken.size;
    for (const t of next) taken.add(components.of[t]);
    if (taken.size === before) break;
    let size = 0;
    for (const component of taken) size += components.size[component];
    if (size > transactionsMax) return null;
    next = elsewhere(history, reads, find, (t) => !taken.has(components.of[t]));
  }
  return membersOf(reads).filter((t) => taken.has(components.of[t]));
}

/** A violation among the other transactions. */
function elsewhere(
  history: CompactHistory,
  reads: Reads,
  find: FindViolation,
  isOther: (t: TransactionIndex) => boolean,
): readonly TransactionIndex[] | null {
  const others = membersOf(reads).filter(isOther);
  const among = new Set(others);
  const rest = subHistory(history, others, (o) => isWithin(reads.source, o, among));
  return find(rest)?.map((t) => others[t]) ?? null;
}

function membersOf({ isMember }: Reads): TransactionIndex[] {
  return [...isMember.keys()].filter((t) => isMember[t] === 1);
}

interface Components {
  /** By transaction. */
  readonly of: Int32Array;
  /** By component: how many members. */
  readonly size: Int32Array;
}

/** Linear, by union and find. A key that no member writes joins nothing: its reads see the initial state in every order. */
function componentsOf(history: CompactHistory, reads: Reads): Components {
  const { transactionCount, session, sessionCount, keyCount } = history;
  const { isMember, writeStart, writeKey, readStart, readKey, readFrom } = reads;
  const [sessions, keys] = [transactionCount, transactionCount + sessionCount];
  const parent = Int32Array.from({ length: keys + keyCount }, (_, i) => i);
  const isWritten = new Uint8Array(keyCount);
  const forEachMember = (look: (t: TransactionIndex) => void): void => {
    for (let t = 0; t < transactionCount; t += 1) if (isMember[t] === 1) look(t);
  };
  forEachMember((t) => {
    union(parent, t, sessions + session[t]);
    for (let w = writeStart[t]; w < writeStart[t + 1]; w += 1) {
      isWritten[writeKey[w]] = 1;
      union(parent, t, keys + writeKey[w]);
    }
  });
  forEachMember((t) => {
    for (let r = readStart[t]; r < readStart[t + 1]; r += 1) {
      if (readFrom[r] !== INITIAL || isWritten[readKey[r]] === 1) union(parent, t, keys + readKey[r]);
    }
  });
  const size = new Int32Array(parent.length);
  const of = Int32Array.from({ length: transactionCount }, (_, t) => rootOf(parent, t));
  forEachMember((t) => (size[of[t]] = size[of[t]] + 1));
  return { of, size };
}

function rootOf(parent: Int32Array, node: number): number {
  let root = node;
  while (parent[root] !== root) {
    parent[root] = parent[parent[root]]; // halves the way
    root = parent[root];
  }
  return root;
}

function union(parent: Int32Array, a: number, b: number): void {
  const [one, two] = [rootOf(parent, a), rootOf(parent, b)];
  parent[Math.max(one, two)] = Math.min(one, two);
}
