/**
 * Chains: the transactions of a history in as few lines as can be found quickly, each transaction after the one before it by so and wr. Clocks
 * have an entry for each chain. Sessions are chains; where they are many and short, as when every request is a session of its own, a
 * transaction may also follow one that it reads from. Linear.
 */
import type { CompactHistory } from '../history/index.ts';
import type { Reads } from './reads.ts';
import type { SessionOrder } from './session-order.ts';

export interface Chains {
  readonly count: number;
  /** By transaction. */
  readonly of: Int32Array;
  /** The members in chain c, in order: `member[start[c]]` to `member[start[c + 1] - 1]`. */
  readonly start: Int32Array;
  readonly member: Int32Array;
  /** By transaction: 1 for the first member of its chain, and so on. */
  readonly position: Int32Array;
}

/**
 * @param order the members in an order that contains so and wr
 * @param sessionsMax up to so many sessions they are the chains
 */
export function chainsOf(
  history: CompactHistory,
  reads: Reads,
  sessions: SessionOrder,
  order: Int32Array,
  sessionsMax: number,
): Chains {
  const { start, member, position } = sessions;
  const plain = { count: history.sessionCount, of: history.session, start, member, position };
  if (history.sessionCount <= sessionsMax) return plain;
  const found = greedyChains(history, reads, sessions, order);
  return found.count < plain.count ? found : plain;
}

/** Each transaction extends a chain that ends in one before it, the one of its session if that is possible. */
function greedyChains(
  { transactionCount }: CompactHistory,
  { readStart, readFrom }: Reads,
  { previous }: SessionOrder,
  order: Int32Array,
): Chains {
  const of = new Int32Array(transactionCount).fill(-1);
  const position = new Int32Array(transactionCount);
  const isEnd = new Uint8Array(transactionCount);
  let count = 0;
  for (const t of order) {
    let before = previous[t];
    const end = readStart[t + 1];
    for (let i = readStart[t]; i < end && (before < 0 || isEnd[before] === 0); i += 1) before = readFrom[i];
    const follows = before >= 0 && isEnd[before] === 1;
    of[t] = follows ? of[before] : count;
    position[t] = follows ? position[before] + 1 : 1;
    if (follows) isEnd[before] = 0;
    else count += 1;
    isEnd[t] = 1;
  }
  return { count, of, position, ...listed(order, of, count) };
}

function listed(order: Int32Array, of: Int32Array, count: number): Pick<Chains, 'start' | 'member'> {
  const start = new Int32Array(count + 1);
  for (const t of order) {
    const after = of[t] + 1;
    start[after] += 1;
  }
  for (let c = 0; c < count; c += 1) start[c + 1] += start[c];
  const next = start.slice(0, count);
  const member = new Int32Array(order.length);
  for (const t of order) {
    const at = next[of[t]];
    member[at] = t;
    next[of[t]] = at + 1;
  }
  return { start, member };
}
