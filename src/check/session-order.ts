/** Session order among the members of a history: who comes before whom, and at which place. Linear. */
import { type CompactHistory, sessionLists } from '../history/index.ts';
import type { Reads } from './reads.ts';

export interface SessionOrder {
  /** The members of session s, in order: `member[start[s]]` to `member[start[s + 1] - 1]`. */
  readonly start: Int32Array;
  readonly member: Int32Array;
  /** By transaction: the member before it in its session, or -1. */
  readonly previous: Int32Array;
  /** By transaction: 1 for the first member of its session, and so on; 0: it is no member. */
  readonly position: Int32Array;
}

export function sessionOrder(history: CompactHistory, { isMember }: Reads): SessionOrder {
  const all = sessionLists(history);
  const start = new Int32Array(history.sessionCount + 1);
  const member = new Int32Array(history.transactionCount);
  const previous = new Int32Array(history.transactionCount).fill(-1);
  const position = new Int32Array(history.transactionCount);
  let next = 0;
  for (let s = 0; s < history.sessionCount; s += 1) {
    const first = next;
    start[s] = first;
    for (let i = all.start[s]; i < all.start[s + 1]; i += 1) {
      const t = all.transaction[i];
      if (isMember[t] === 0) continue;
      if (next > first) previous[t] = member[next - 1];
      member[next] = t;
      next += 1;
      position[t] = next - first;
    }
  }
  start[history.sessionCount] = next;
  return { start, member: member.subarray(0, next), previous, position };
}
