/** A history without some of its operations: those that say nothing, because what they name is not in it. */
import type { CompactHistory } from './compact-history.ts';

/** The same keys, values and transactions, without these operations. */
export function withoutOperations(history: CompactHistory, operations: readonly number[]): CompactHistory {
  const isLeftOut = new Uint8Array(history.operationCount);
  for (const o of operations) isLeftOut[o] = 1;
  const stays = (_: number, o: number): boolean => isLeftOut[o] === 0;
  const operationStart = history.operationStart.slice();
  let leftOut = 0;
  for (let t = 0, o = 0; t < history.transactionCount; t += 1) {
    for (const end = history.operationStart[t + 1] as number; o < end; o += 1) leftOut += isLeftOut[o] as number;
    operationStart[t + 1] = o - leftOut;
  }
  return {
    ...history,
    operationCount: history.operationCount - leftOut,
    operationStart,
    kind: history.kind.subarray(0, history.operationCount).filter(stays),
    key: history.key.subarray(0, history.operationCount).filter(stays),
    value: history.value.subarray(0, history.operationCount).filter(stays),
    conditions: movedConditions(history, stays),
    from: history.from?.subarray(0, history.operationCount).filter(stays) ?? null,
  };
}

/** By operation, as they are numbered without those that do not stay. */
function movedConditions(
  { conditions }: CompactHistory,
  stays: (_: number, operation: number) => boolean,
): ReadonlyMap<number, string> {
  if (conditions.size === 0) return conditions;
  const last = Math.max(...conditions.keys());
  const moved = new Map<number, string>();
  for (let o = 0, place = 0; o <= last; o += 1) {
    if (!stays(0, o)) continue;
    const condition = conditions.get(o);
    if (condition !== undefined) moved.set(place, condition);
    place += 1;
  }
  return moved;
}
