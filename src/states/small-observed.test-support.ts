/**
 * Observed transactions from a text that names them, as the paper's figures do, and small ones from choices: every set of a size with
 * `forEveryChoice`, random ones with a seed or fast-check. For tests of everything that answers to the commit tests.
 */
import { assert, type Chooser } from '../base/index.ts';
import { INITIAL, type Key, type Operation, type Read, type Status, type Value } from '../history/index.ts';
import type { ObservedTransaction, ObservedTransactions } from './observed.ts';

/** `observe({ x: 0 }, { ta: 'w x 1', tb: 'r x 0, w x 2' })`; unlike a history, it may read what nobody wrote. */
export function observe(
  initial: Readonly<Record<Key, Value>>,
  transactions: Readonly<Record<string, string>>,
  times: Readonly<Record<string, readonly [start: number, end: number]>> = {},
): ObservedTransactions {
  const parsed = Object.entries(transactions).map(([id, text]): ObservedTransaction => {
    const time = times[id];
    const operations = parseOperations(text);
    return time === undefined ? { id, operations } : { id, operations, start: time[0], end: time[1] };
  });
  return { initial: new Map(Object.entries(initial)), transactions: parsed };
}

export function parseOperations(text: string): readonly Operation[] {
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [letter, key, value] = part.trim().split(/\s+/);
      assert((letter === 'r' || letter === 'w') && key !== undefined, `"${part}" is no operation`);
      return { kind: letter === 'r' ? 'read' : 'write', key, value: JSON.parse(value ?? '') as Value };
    });
}

export interface SmallObservedOptions {
  readonly transactionsMax: number;
  /** Per transaction. */
  readonly operationsMax: number;
  readonly keysMax: number;
  /** Values are 0 to this; keys start as 0. Few values are written often. */
  readonly valueMax: number;
  readonly statuses?: readonly Status[];
  /** Do some reads record a writer, which may have written something else? */
  readonly withWriters?: boolean;
  /** Where given, each transaction is in one of so many sessions. */
  readonly sessionsMax?: number;
  /** Where given, most transactions have a time up to this. */
  readonly timeMax?: number;
}

export function smallObserved(chooser: Chooser, options: SmallObservedOptions): ObservedTransactions {
  const { transactionsMax, operationsMax, keysMax, valueMax, statuses = ['committed'] } = options;
  const count = 1 + chooser.choose(transactionsMax);
  const operation = (): Operation => {
    const isWrite = chooser.choose(2) === 0;
    const key = 'xyz'.charAt(chooser.choose(keysMax));
    const value = chooser.choose(valueMax + 1);
    if (isWrite) return { kind: 'write', key, value };
    const read: Read = { kind: 'read', key, value };
    const from = options.withWriters === true ? chooser.choose(3 * (count + 1)) : count + 1;
    return from > count ? read : { ...read, from: from === count ? INITIAL : from };
  };
  const transactions = Array.from({ length: count }, (_, t): ObservedTransaction => {
    const operations = Array.from({ length: chooser.choose(operationsMax + 1) }, operation);
    const status = statuses[chooser.choose(statuses.length)] as Status;
    const session = options.sessionsMax === undefined ? {} : { session: chooser.choose(options.sessionsMax) };
    return { id: `t${t}`, operations, status, ...session, ...chooseTimes(chooser, options.timeMax) };
  });
  return { initial: new Map(['x', 'y', 'z'].map((key) => [key, 0])), transactions };
}

function chooseTimes(chooser: Chooser, timeMax: number | undefined): { start?: number; end?: number } {
  if (timeMax === undefined || chooser.choose(5) === 0) return {};
  const start = chooser.choose(timeMax);
  return { start, end: start + chooser.choose(timeMax - start + 1) };
}

/**
 * As a store might have given them: transactions commit one after another and read from a recent state, or each read from another one.
 * Close to the border between satisfied and violated at every level, which `smallObserved` seldom is.
 */
export function simulatedObserved(chooser: Chooser, options: SmallObservedOptions): ObservedTransactions {
  const { transactionsMax, operationsMax, keysMax, valueMax, statuses = ['committed'] } = options;
  const states: Record<Key, Value>[] = [{ x: 0, y: 0, z: 0 }];
  const count = 2 + chooser.choose(transactionsMax - 1);
  const perRead = chooser.choose(3) === 0;
  const ages = 1 + chooser.choose(3);
  const recent = (): Record<Key, Value> => states[Math.max(0, states.length - 1 - chooser.choose(ages))] ?? {};
  const simulated = Array.from({ length: count }, (_, t): ObservedTransaction => {
    const snapshot = recent();
    const own: Record<Key, Value> = {};
    const operations = Array.from({ length: chooser.choose(operationsMax + 1) }, (): Operation => {
      const key = 'xyz'.charAt(chooser.choose(keysMax));
      if (chooser.choose(2) === 0) {
        own[key] = chooser.choose(valueMax + 1);
        return { kind: 'write', key, value: own[key] };
      }
      const seen = perRead ? recent() : snapshot;
      return { kind: 'read', key, value: own[key] ?? (seen[key] as Value) };
    });
    const status = statuses[chooser.choose(statuses.length)] as Status;
    if (status !== 'aborted') states.push({ ...(states.at(-1) as Record<Key, Value>), ...own });
    const session = options.sessionsMax === undefined ? {} : { session: chooser.choose(options.sessionsMax) };
    const start = 2 * t - chooser.choose(4);
    const times = options.timeMax === undefined ? {} : { start, end: 2 * t + chooser.choose(4) };
    return { id: `t${t}`, operations, status, ...session, ...times };
  });
  const transactions: ObservedTransaction[] = [];
  while (simulated.length > 0) transactions.push(...simulated.splice(chooser.choose(simulated.length), 1));
  return { initial: new Map(Object.entries(states[0] ?? {})), transactions };
}
