/** What a transaction did in a run of explore-ce, and what is read from the transactions of a whole run. */
import { defaultId, type History, type Operation, type Transaction } from '../history/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import type { Program } from '../program/index.ts';
import type { Numbers } from './numbers.ts';
import { type Log, writesKey } from './ordered-history.ts';

export interface ExploredLog extends Log {
  readonly level: ConstrainingLevel;
  /** Of each of `writeKeys`, the number of the value that was written last. */
  readonly writeValues: number[];
  /** What it did, three numbers an operation: the key, the value's number, and the position that an external read saw, `OWN` or `WRITE`. */
  readonly operations: number[];
}

/** A read of the transaction's own write. */
export const OWN = -2;
export const WRITE = -3;

/** The number of the value that a committed transaction, or the initial state (-1), gave a key. */
export function valueOf(logs: readonly ExploredLog[], source: number, key: number, numbers: Numbers): number {
  if (source < 0) return numbers.initialOf(key);
  const { writeKeys, writeValues } = logs[source] as ExploredLog;
  return writeValues[writeKeys.indexOf(key)] as number;
}

/** Did the session write, and abort every transaction that did? */
export function hasLostWrites(logs: readonly ExploredLog[], session: number): boolean {
  const writing = logs.filter((log) => log.session === session && log.writeKeys.length > 0);
  return writing.length > 0 && writing.every(({ status }) => status === 'aborted');
}

/** The external reads that saw an older write than the newest before them in the order of the run, as `transaction operation`. */
export function olderReadsOf(logs: readonly ExploredLog[]): ReadonlySet<string> {
  const places = new Set<string>();
  logs.forEach(({ operations }, t) => {
    for (let i = 0; i < operations.length; i += 3) {
      const [key, source] = [operations[i] as number, operations[i + 2] as number];
      if (source < -1) continue;
      const newest = logs.findLastIndex((log, w) => w < t && writesKey(log, key));
      if (newest !== source) places.add(`${t} ${i / 3}`);
    }
  });
  return places;
}

/** @param level of the transactions that name none */
export function historyOf(
  logs: readonly ExploredLog[],
  { sessionNames, initial }: Program,
  level: ConstrainingLevel,
  numbers: Numbers,
): History {
  const transactions = logs.map(
    (log): Transaction => ({
      id: defaultId(sessionNames[log.session] as string, log.index),
      session: log.session,
      status: log.status === 'committed' ? 'committed' : 'aborted',
      operations: operationsOf(log, numbers),
      ...(log.level === level ? {} : { level: log.level }),
    }),
  );
  return { sessions: sessionNames, transactions, initial };
}

function operationsOf(log: ExploredLog, numbers: Numbers): Operation[] {
  const operations: Operation[] = [];
  for (let i = 0; i < log.operations.length; i += 3) {
    const key = numbers.keyOf(log.operations[i] as number);
    const value = numbers.copyOf(log.operations[i + 1] as number);
    const from = log.operations[i + 2] as number;
    if (from === WRITE) operations.push({ kind: 'write', key, value });
    else operations.push({ kind: 'read', key, value, ...(from === OWN ? {} : { from }) });
  }
  return operations;
}
