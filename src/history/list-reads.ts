/**
 * Reads of keys that somebody appends to: what they saw is a list, element by element. Changes the columns `kind` and `value` of such
 * reads in place. Cost: linear in the elements read.
 */
import { InputError } from '../base/input-error.ts';
import { type CompactHistory, type Lists, operationKind, placeOf } from './compact-history.ts';
import { Int32Column } from './growing-column.ts';
import type { ValueTable } from './value-table.ts';
import type { Value } from './value.ts';

/** @throws InputError `history/append` */
export function listsOf(history: CompactHistory, values: ValueTable): Lists {
  const { kind, key, value, operationCount, operationStart, transactionCount } = history;
  const isList = new Uint8Array(history.keyCount);
  for (let o = 0; o < operationCount; o += 1) if (kind[o] === operationKind.append) isList[key[o] as number] = 1;
  const start = new Int32Column();
  const element = new Int32Column();
  start.push(0);
  const refuse = (t: number, o: number, what: string): never => {
    const name = history.names.key(key[o] as number);
    throw new InputError('history/append', `${name} is appended to, and ${what}`, placeOf(history, t));
  };
  for (let t = 0; t < transactionCount; t += 1) {
    for (let o = operationStart[t] as number; o < (operationStart[t + 1] as number); o += 1) {
      const k = key[o] as number;
      if (isList[k] === 0 || kind[o] === operationKind.append) continue;
      if (kind[o] === operationKind.write) refuse(t, o, 'written as a whole elsewhere');
      const seen = values.valueOf(value[o] as number) ?? [];
      if (!Array.isArray(seen)) refuse(t, o, `read as ${JSON.stringify(seen)}, which is no list`);
      for (const part of seen as readonly Value[]) element.push(values.of(k, part));
      kind[o] = operationKind.listRead;
      value[o] = start.length - 1;
      start.push(element.length);
    }
  }
  return { start: start.taken(), element: element.taken() };
}
