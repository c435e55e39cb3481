/**
 * What reads of lists say: in which order the elements of each key were appended, and as reads of a register, which transactions each read saw.
 * Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations", VLDB 2020, section 4.
 *
 * The longest read of a key gives the order of its versions; every other must be a prefix of it. A read after own appends saw what it ends with
 * besides them, at its first own append. Linear in the elements that were read.
 */
import { InputError } from '../../base/index.ts';
import {
  type CompactHistory,
  Int32Column,
  operationKind,
  placeOf,
  statusCode,
  type TransactionIndex,
  Uint8Column,
} from '../../history/index.ts';

/** The names are Elle's, but for `thin-air-read`: Elle has none for an element that no transaction appended. */
export type ListReadAnomaly =
  | 'thin-air-read'
  | 'duplicate-elements'
  | 'incompatible-order'
  | 'internal'
  | 'future-read'
  | 'G1a'
  | 'G1b'
  | 'dirty-update';

export interface AnomalousListRead {
  readonly kind: ListReadAnomaly;
  /** The read, in the history of lists. */
  readonly operation: number;
  readonly by: TransactionIndex;
  /** The other transaction: whose append was seen, or whose read says another order. */
  readonly from: TransactionIndex;
  readonly key: number;
}

export interface ListReads {
  /** By transaction: is it committed, or of unknown fate and a member saw an element of it? */
  readonly isMember: Uint8Array;
  /** The same history with registers: an append is a write of its element, a read sees the last element of its list, or the initial value. */
  readonly registers: CompactHistory;
  /** The versions of key k in order, as value IDs: `version[start[k]]` to `version[start[k + 1] - 1]`. Of anomalous reads not all are in it. */
  readonly versionStart: Int32Array;
  readonly version: Int32Array;
  /** By value ID: its place in that order from 1, or 0. */
  readonly position: Int32Array;
  /** By value ID: the transaction that appended it, or -1. */
  readonly appender: Int32Array;
  /** Of each kind the first. */
  readonly anomalous: readonly AnomalousListRead[];
  /** Are there writes of registers in it too? They are in no order that is known. */
  readonly hasRegisters: boolean;
}

/**
 * @param history without reads of elements that no transaction appended (`thin-air.ts`)
 * @throws InputError `history/duplicate-write`
 */
export function listReadsOf(history: CompactHistory): ListReads {
  const appends = appendsOf(history);
  const isMember = membersOf(history, appends.transaction);
  const anomalies = new Anomalies(history);
  const order = versionsOf(history, isMember, anomalies);
  const position = new Int32Array(history.valueCount);
  for (let k = 0; k < history.keyCount; k += 1) {
    const begin = order.versionStart[k];
    for (let i = begin; i < order.versionStart[k + 1]; i += 1) position[order.version[i]] = i - begin + 1;
  }
  lookAtVersions(history, order, appends, anomalies);
  const registers = registersOf(history, isMember, appends, anomalies);
  const hasRegisters = history.kind.includes(operationKind.write);
  return {
    isMember,
    registers,
    ...order,
    position,
    appender: appends.transaction,
    anomalous: anomalies.found(),
    hasRegisters,
  };
}

/** Keeps the first of each kind. */
class Anomalies {
  readonly #history: CompactHistory;
  readonly #found = new Map<ListReadAnomaly, AnomalousListRead>();

  constructor(history: CompactHistory) {
    this.#history = history;
  }

  add(kind: ListReadAnomaly, operation: number, by: TransactionIndex, from: TransactionIndex): void {
    if (this.#found.has(kind)) return;
    this.#found.set(kind, { kind, operation, by, from, key: this.#history.key[operation] });
  }

  found(): AnomalousListRead[] {
    return [...this.#found.values()];
  }
}

interface Appends {
  /** By value ID: who appended it, and whether no later append of that transaction to the key follows. -1: none. */
  readonly transaction: Int32Array;
  readonly isLast: Uint8Array;
  /** The value ID of the append before it of the same transaction to the key, or -1. */
  readonly previous: Int32Array;
}

function appendsOf(history: CompactHistory): Appends {
  const { kind, key, value, operationStart, transactionCount, valueCount } = history;
  const transaction = new Int32Array(valueCount).fill(-1);
  const isLast = new Uint8Array(valueCount);
  const previous = new Int32Array(valueCount).fill(-1);
  const lastBy = new Int32Array(history.keyCount).fill(-1);
  const lastValue = new Int32Array(history.keyCount);
  for (let t = 0; t < transactionCount; t += 1) {
    for (let o = operationStart[t]; o < operationStart[t + 1]; o += 1) {
      if (kind[o] !== operationKind.append) continue;
      const [k, v] = [key[o], value[o]];
      if (transaction[v] !== -1) throw duplicate(history, v, k, transaction[v], t);
      transaction[v] = t;
      if (lastBy[k] === t) {
        isLast[lastValue[k]] = 0;
        previous[v] = lastValue[k];
      }
      lastBy[k] = t;
      lastValue[k] = v;
      isLast[v] = 1;
    }
  }
  return { transaction, isLast, previous };
}

function duplicate(history: CompactHistory, value: number, key: number, first: number, second: number): InputError {
  const { names } = history;
  return new InputError(
    'history/duplicate-write',
    `${JSON.stringify(names.value(value))} is appended to ${names.key(key)} by ${names.id(first)} and by ${names.id(second)}: append each element once`,
    placeOf(history, second),
  );
}

/** The elements of the list that a list read saw: a part of `element`. */
function boundsOf({ lists, value }: CompactHistory, operation: number): readonly [number, number] {
  const list = value[operation];
  return [lists?.start[list] ?? 0, lists?.start[list + 1] ?? 0];
}

function membersOf(history: CompactHistory, appender: Int32Array): Uint8Array {
  const { status, operationStart, transactionCount, kind } = history;
  const element = history.lists?.element ?? new Int32Array();
  const isMember = new Uint8Array(transactionCount);
  const queue: TransactionIndex[] = [];
  const look = (t: TransactionIndex): void => {
    for (let o = operationStart[t]; o < operationStart[t + 1]; o += 1) {
      if (kind[o] !== operationKind.listRead) continue;
      const [begin, end] = boundsOf(history, o);
      for (let i = begin; i < end; i += 1) {
        const by = appender[element[i]];
        if (by === -1 || isMember[by] === 1 || status[by] !== statusCode.unknown) continue;
        isMember[by] = 1;
        queue.push(by);
      }
    }
  };
  for (let t = 0; t < transactionCount; t += 1) if (status[t] === statusCode.committed) isMember[t] = 1;
  for (let t = 0; t < transactionCount; t += 1) if (status[t] === statusCode.committed) look(t);
  for (let t = queue.pop(); t !== undefined; t = queue.pop()) look(t);
  return isMember;
}

type Versions = Pick<ListReads, 'versionStart' | 'version'> & {
  /** By key: the read that it is taken from, and who read; -1: none did. */
  readonly longest: Int32Array;
  readonly reader: Int32Array;
};

/** Of each key the longest list that a member read. */
function versionsOf(history: CompactHistory, isMember: Uint8Array, anomalies: Anomalies): Versions {
  const { key, keyCount } = history;
  const element = history.lists?.element ?? new Int32Array();
  const longest = new Int32Array(keyCount).fill(-1);
  const reader = new Int32Array(keyCount).fill(-1);
  forEachRead(history, isMember, (t, o) => {
    const k = key[o];
    const [begin, end] = boundsOf(history, o);
    const [longBegin, longEnd] = longest[k] === -1 ? [0, -1] : boundsOf(history, longest[k]);
    if (end - begin > longEnd - longBegin) {
      longest[k] = o;
      reader[k] = t;
    }
  });
  const versionStart = new Int32Array(keyCount + 1);
  for (let k = 0; k < keyCount; k += 1) {
    const [begin, end] = longest[k] === -1 ? [0, 0] : boundsOf(history, longest[k]);
    versionStart[k + 1] = versionStart[k] + end - begin;
  }
  const version = new Int32Array(versionStart[keyCount]);
  for (let k = 0; k < keyCount; k += 1) {
    if (longest[k] === -1) continue;
    const [begin, end] = boundsOf(history, longest[k]);
    version.set(element.subarray(begin, end), versionStart[k]);
  }
  forEachRead(history, isMember, (t, o) => {
    const k = key[o];
    const [begin, end] = boundsOf(history, o);
    const first = versionStart[k];
    for (let i = begin; i < end; i += 1) {
      if (element[i] === version[first + i - begin]) continue;
      anomalies.add('incompatible-order', o, t, reader[k]);
      break;
    }
  });
  return { versionStart, version, longest, reader };
}

function forEachRead(
  { kind, operationStart, transactionCount }: CompactHistory,
  isMember: Uint8Array,
  look: (transaction: TransactionIndex, operation: number) => void,
): void {
  for (let t = 0; t < transactionCount; t += 1) {
    if (isMember[t] === 0) continue;
    for (let o = operationStart[t]; o < operationStart[t + 1]; o += 1)
      if (kind[o] === operationKind.listRead) look(t, o);
  }
}

/** Elements that are there twice, or without what their transaction appended before, and those of aborted transactions. */
function lookAtVersions(history: CompactHistory, order: Versions, appends: Appends, anomalies: Anomalies): void {
  const { status, keyCount, valueCount } = history;
  const isSeen = new Uint8Array(valueCount);
  for (let k = 0; k < keyCount; k += 1) {
    let aborted = -1;
    const [operation, by] = [order.longest[k], order.reader[k]];
    for (let i = order.versionStart[k]; i < order.versionStart[k + 1]; i += 1) {
      const v = order.version[i];
      const writer = appends.transaction[v];
      if (isSeen[v] === 1) anomalies.add('duplicate-elements', operation, by, writer);
      const before = appends.previous[v];
      if (before !== -1 && isSeen[before] === 0) anomalies.add('incompatible-order', operation, by, writer);
      isSeen[v] = 1;
      if (status[writer] !== statusCode.aborted) {
        if (aborted !== -1) anomalies.add('dirty-update', operation, writer, aborted);
        continue;
      }
      aborted = writer;
      anomalies.add('G1a', operation, by, writer);
    }
  }
}

/** Which appends of one transaction to each key came before. */
class OwnAppends {
  readonly #by: Int32Array;
  readonly #values: Int32Array[];

  constructor(keyCount: number) {
    this.#by = new Int32Array(keyCount).fill(-1);
    this.#values = [];
  }

  of(t: TransactionIndex, key: number): Int32Array | null {
    return this.#by[key] === t ? (this.#values[key] ?? null) : null;
  }

  add(t: TransactionIndex, key: number, value: number): void {
    const before = this.of(t, key) ?? new Int32Array();
    this.#by[key] = t;
    this.#values[key] = Int32Array.of(...before, value);
  }
}

function registersOf(
  history: CompactHistory,
  isMember: Uint8Array,
  appends: Appends,
  anomalies: Anomalies,
): CompactHistory {
  const { kind, key, value, status, operationStart, transactionCount } = history;
  const columns = new RegisterColumns(history.operationCount);
  const own = new OwnAppends(history.keyCount);
  const base = new BaseReads(history, appends);
  const start = new Int32Array(transactionCount + 1);
  const newStatus = status.slice();
  for (let t = 0; t < transactionCount; t += 1) {
    const end = operationStart[t + 1];
    if (isMember[t] === 1) newStatus[t] = statusCode.committed;
    base.begin(t);
    for (let o = operationStart[t]; o < end; o += 1) {
      const k = key[o];
      if (kind[o] === operationKind.append) {
        const seen = own.of(t, k) === null ? base.of(k, o) : null;
        if (seen !== null) columns.add(operationKind.read, k, seen);
        columns.add(operationKind.write, k, value[o]);
        own.add(t, k, value[o]);
      } else if (kind[o] === operationKind.listRead) {
        const seen = externalOf(history, t, o, own.of(t, k), appends, isMember[t] === 1 ? anomalies : null);
        if (seen !== null) columns.add(operationKind.read, k, seen);
      } // Registers are in no order that is known: they are left out.
    }
    start[t + 1] = columns.kind.length;
  }
  return {
    ...history,
    operationCount: columns.kind.length,
    operationStart: start,
    status: newStatus,
    kind: columns.kind.taken(),
    key: columns.key.taken(),
    value: columns.value.taken(),
    from: null,
    lists: null,
  };
}

class RegisterColumns {
  readonly kind: Uint8Column;
  readonly key: Int32Column;
  readonly value: Int32Column;

  constructor(capacity: number) {
    this.kind = new Uint8Column(capacity + 1);
    this.key = new Int32Column(capacity + 1);
    this.value = new Int32Column(capacity + 1);
  }

  add(kind: number, key: number, value: number): void {
    this.kind.push(kind);
    this.key.push(key);
    this.value.push(value);
  }
}

/** The value that a read saw of others; `null`: it saw own appends, or is anomalous and then reported. */
function externalOf(
  history: CompactHistory,
  t: TransactionIndex,
  operation: number,
  own: Int32Array | null,
  { transaction, isLast }: Appends,
  anomalies: Anomalies | null,
): number | null {
  const element = history.lists?.element ?? new Int32Array();
  const [begin, end] = boundsOf(history, operation);
  const ownCount = own?.length ?? 0;
  for (let i = 0; i < ownCount; i += 1) {
    if (end - ownCount + i >= begin && element[end - ownCount + i] === own?.[i]) continue;
    anomalies?.add('internal', operation, t, t);
    return null;
  }
  for (let i = begin; i < end - ownCount; i += 1) {
    if (transaction[element[i]] !== t) continue;
    anomalies?.add('future-read', operation, t, t);
    return null;
  }
  const last = end - ownCount > begin ? element[end - ownCount - 1] : -1;
  if (last === -1) return ownCount > 0 ? null : history.initialValue[history.key[operation]];
  if (isLast[last] === 0) {
    anomalies?.add('G1b', operation, t, transaction[last]);
    return null;
  }
  return ownCount > 0 ? null : last;
}

/** What the first own append to a key was appended to, where a later read shows it. */
class BaseReads {
  readonly #history: CompactHistory;
  readonly #appends: Appends;
  #transaction = -1;
  #hasReads = false;

  constructor(history: CompactHistory, appends: Appends) {
    this.#history = history;
    this.#appends = appends;
  }

  begin(t: TransactionIndex): void {
    const { kind, operationStart } = this.#history;
    this.#transaction = t;
    this.#hasReads = false;
    let appended = false;
    for (let o = operationStart[t]; o < operationStart[t + 1]; o += 1) {
      if (kind[o] === operationKind.append) appended = true;
      else if (appended && kind[o] === operationKind.listRead) this.#hasReads = true;
    }
  }

  /** @param append the first own append to the key. @returns the value ID; `null`: it is not known */
  of(k: number, append: number): number | null {
    if (!this.#hasReads) return null;
    const { kind, key, value, operationStart, lists, initialValue } = this.#history;
    for (let o = append + 1; o < operationStart[this.#transaction + 1]; o += 1) {
      if (key[o] !== k || kind[o] !== operationKind.listRead) continue;
      const [begin, end] = boundsOf(this.#history, o);
      let at = begin;
      while (at < end && lists?.element[at] !== value[append]) at += 1;
      if (at === end) return null;
      const last = at > begin ? (lists?.element[at - 1] as number) : initialValue[k];
      const isIntermediate = at > begin && this.#appends.isLast[last] === 0;
      return isIntermediate || this.#appends.transaction[last] === this.#transaction ? null : last;
    }
    return null;
  }
}
