/** Reads of lists with an element that no transaction appended. They say nothing about the order of the versions: the rest is judged without them. */
import { type CompactHistory, operationKind, statusCode } from '../../history/index.ts';

/** The operations, in the order of the history. What an aborted transaction read is no evidence. Linear in the elements that were read. */
export function thinAirReads(history: CompactHistory): number[] {
  const { kind, value, status, operationStart, transactionCount, valueCount, lists } = history;
  if (lists === null) return [];
  const isAppended = new Uint8Array(valueCount);
  kind.forEach((code, o) => {
    if (code === operationKind.append) isAppended[value[o]] = 1;
  });
  const found: number[] = [];
  for (let t = 0; t < transactionCount; t += 1) {
    if (status[t] === statusCode.aborted) continue;
    for (let o = operationStart[t]; o < operationStart[t + 1]; o += 1) {
      if (kind[o] !== operationKind.listRead) continue;
      const [begin, end] = [lists.start[value[o]], lists.start[value[o] + 1]];
      for (let i = begin; i < end; i += 1) {
        if (isAppended[lists.element[i]] === 1) continue;
        found.push(o);
        break;
      }
    }
  }
  return found;
}
