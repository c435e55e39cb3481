/**
 * Reads of keys with appends: what they saw is a list, element by element. Changes the columns `kind` and `value` of such
 * reads in place. Cost: linear in the elements read.
 */
import { InputError } from '../base/index.ts';
import { type CompactHistory, type Lists, operationKind, placeOf } from './compact-history.ts';
import type { Int32Column } from './growing-column.ts';
import type { ValueTable } from './value-table.ts';
import type { Value } from './value.ts';

/** Lists as they grow: list i is `element[start[i]]` to `element[start[i + 1] - 1]`. */
export interface GrowingLists {
  readonly start: Int32Column;
  readonly element: Int32Column;
}

/**
 * @param lists those of operations that are list reads already; where the key has no append they become reads again
 * @returns `null`: there are no appends
 * @throws InputError `history/append`
 */
export function listsOf(history: CompactHistory, values: ValueTable, lists: GrowingLists): Lists | null {
  const { kind, key, value, operationCount, operationStart, transactionCount } = history;
  const isList = new Uint8Array(history.keyCount);
  for (let o = 0; o < operationCount; o += 1) if (kind[o] === operationKind.append) isList[key[o] as number] = 1;
  const refuse = (t: number, o: number, what: string): never => {
    const name = history.names.key(key[o] as number);
    throw new InputError('history/append', `${name} is appended to, and ${what}`, placeOf(history, t));
  };
  for (let t = 0; t < transactionCount; t += 1) {
    for (let o = operationStart[t] as number; o < (operationStart[t + 1] as number); o += 1) {
      const k = key[o] as number;
      if (kind[o] === operationKind.listRead) {
        if (isList[k] === 0) readAgain(kind, value, o, values.of(k, listAt(lists, value[o] as number, values)));
        continue;
      }
      if (isList[k] === 0 || kind[o] === operationKind.append) continue;
      if (kind[o] === operationKind.write) refuse(t, o, 'written as a whole elsewhere');
      const seen = values.valueOf(value[o] as number) ?? [];
      if (!Array.isArray(seen)) refuse(t, o, `read as ${JSON.stringify(seen)}, which is no list`);
      for (const part of seen as readonly Value[]) lists.element.push(values.of(k, part));
      kind[o] = operationKind.listRead;
      value[o] = lists.start.length - 1;
      lists.start.push(lists.element.length);
    }
  }
  return isList.includes(1) ? { start: lists.start.taken(), element: lists.element.taken() } : null;
}

function listAt({ start, element }: GrowingLists, list: number, values: ValueTable): Value[] {
  const [begin, end] = [start.array[list] as number, start.array[list + 1] as number];
  return [...element.array.subarray(begin, end)].map((id) => values.valueOf(id));
}

function readAgain(kind: Uint8Array, value: Int32Array, operation: number, id: number): void {
  kind[operation] = operationKind.read;
  value[operation] = id;
}
