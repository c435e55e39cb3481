/**
 * The common front end of all checkers of large histories: which write did each read see, and which transactions does a commit order
 * order? `relationsOf` and `readSources` of src/history, over columns. Linear in the operations; some 20 bytes an operation.
 */
import {
  type CompactHistory,
  fromUnrecorded,
  INITIAL,
  operationKind,
  statusCode,
  type TransactionIndex,
} from '../history/index.ts';
import { WriterIndex } from './writer-index.ts';

/** What `Reads.source` says of an operation besides 2 * writer + (is it the writer's last write?). */
export const source = {
  initial: -1,
  /** It is no read. */
  none: -2,
  /** The own last write before it. */
  own: -3,
  /** Not the own last write before it; or, with none before it, a later one: a read of the future. */
  internal: -4,
  /** A value that no transaction wrote, or not the writer that is recorded. */
  thinAir: -5,
  /** A value that several transactions wrote, and no writer is recorded. */
  ambiguous: -6,
} as const;

/** A read that no commit order can explain; the names are those of `ReadPhenomenon`. */
export type ReadAnomaly = 'thin-air-read' | 'internal' | 'G1a' | 'G1b';

export interface AnomalousRead {
  readonly kind: ReadAnomaly;
  readonly operation: number;
  readonly by: TransactionIndex;
  readonly from: TransactionIndex;
}

export interface Reads {
  readonly writers: WriterIndex;
  /** By operation: `source`, or 2 * writer + (is it the writer's last write to the key?). */
  readonly source: Int32Array;
  /** The first operation, in the order of the history, that is ambiguous; -1: none. */
  readonly firstAmbiguous: number;
  /** Thin-air reads of members. */
  readonly thinAirCount: number;
  /** By transaction: 1 if a commit order orders it: it is committed, or of unknown fate and a member reads from it. */
  readonly isMember: Uint8Array;
  /**
   * The external reads of members: those of t are `[readStart[t], readStart[t + 1])`, in program order. A read of what an aborted
   * transaction wrote, or of what its writer overwrote, is not among them but in `anomalous`.
   */
  readonly readStart: Int32Array;
  readonly readKey: Int32Array;
  /** A transaction or `INITIAL`. */
  readonly readFrom: Int32Array;
  readonly readOperation: Int32Array;
  /** The keys that transaction t writes, ascending, each once: `writeKey[writeStart[t]]` to `writeKey[writeStart[t + 1] - 1]`. */
  readonly writeStart: Int32Array;
  readonly writeKey: Int32Array;
  /** Of each kind the first, in the order of the history. */
  readonly anomalous: readonly AnomalousRead[];
}

/** Nothing is thrown: what is wrong with a read is in `source`. */
export function readsOf(history: CompactHistory): Reads {
  const writers = new WriterIndex(history);
  const sources = new Int32Array(history.operationCount).fill(source.none);
  const firstAmbiguous = findSources(history, writers, sources);
  const isMember = membersOf(history, sources);
  return {
    writers,
    source: sources,
    firstAmbiguous,
    isMember,
    ...externalReads(history, sources, isMember),
    ...writtenKeys(history),
  };
}

/** The transaction of an operation. Logarithmic. */
export function transactionOf(
  { operationStart, transactionCount }: CompactHistory,
  operation: number,
): TransactionIndex {
  return rangeOf(operation, operationStart, transactionCount);
}

/** The last of `count` ranges that begins at `position` or before. @param starts ascending. Logarithmic. */
function rangeOf(position: number, starts: Int32Array, count: number): number {
  let [low, high] = [0, count];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (starts[middle] <= position) low = middle;
    else high = middle;
  }
  return low;
}

/** Fills `sources`. @returns the first operation that is ambiguous, or -1 */
function findSources(history: CompactHistory, writers: WriterIndex, sources: Int32Array): number {
  const { kind, key, value, from, operationStart, transactionCount } = history;
  const writtenBy = new Int32Array(history.keyCount).fill(-1);
  const lastValue = new Int32Array(history.keyCount);
  let firstAmbiguous = -1;
  for (let t = 0; t < transactionCount; t += 1) {
    const end = operationStart[t + 1];
    for (let o = operationStart[t]; o < end; o += 1) {
      const k = key[o];
      const v = value[o];
      if (kind[o] === operationKind.write) {
        writtenBy[k] = t;
        lastValue[k] = v;
        continue;
      }
      if (kind[o] !== operationKind.read) continue;
      const recorded = from === null ? fromUnrecorded : from[o];
      // Another transaction may have written the same value; where the record says that it was seen, the own write was not.
      const found =
        writtenBy[k] === t
          ? lastValue[k] === v && (recorded === fromUnrecorded || recorded === t)
            ? source.own
            : source.internal
          : sourceOf(writers, t, k, v, recorded);
      sources[o] = found;
      if (found === source.ambiguous && firstAmbiguous < 0) firstAmbiguous = o;
    }
  }
  return firstAmbiguous;
}

/** The source of a read that no own write precedes. */
function sourceOf(writers: WriterIndex, t: TransactionIndex, k: number, v: number, recorded: number): number {
  const writer = recorded === fromUnrecorded ? writers.onlyWriterFor(t, k, v) : writers.recorded(recorded, k, v);
  if (writer >= 0) return writer >> 1 === t ? source.internal : writer;
  if (writer === -2) return source.initial;
  if (writer === -3) return source.ambiguous;
  return recorded === fromUnrecorded && writers.isWrittenBy(t, v) ? source.internal : source.thinAir;
}

function membersOf(history: CompactHistory, sources: Int32Array): Uint8Array {
  const { status, operationStart, transactionCount } = history;
  const isMember = new Uint8Array(transactionCount);
  let unknowns = 0;
  for (let t = 0; t < transactionCount; t += 1) {
    if (status[t] === statusCode.committed) isMember[t] = 1;
    else if (status[t] === statusCode.unknown) unknowns += 1;
  }
  if (unknowns === 0) return isMember;
  const added: TransactionIndex[] = [];
  const addWriters = (t: TransactionIndex): void => {
    for (let o = operationStart[t]; o < operationStart[t + 1]; o += 1) {
      const writer = sources[o] >> 1;
      if (sources[o] < 0 || isMember[writer] === 1 || status[writer] !== statusCode.unknown) continue;
      isMember[writer] = 1;
      added.push(writer);
    }
  };
  for (let t = 0; t < transactionCount; t += 1) if (status[t] === statusCode.committed) addWriters(t);
  for (let t = added.pop(); t !== undefined; t = added.pop()) addWriters(t);
  return isMember;
}

type ExternalReads = Pick<Reads, 'readStart' | 'readKey' | 'readFrom' | 'readOperation' | 'anomalous' | 'thinAirCount'>;

function externalReads(history: CompactHistory, sources: Int32Array, isMember: Uint8Array): ExternalReads {
  const { key, operationStart, transactionCount, operationCount } = history;
  const readStart = new Int32Array(transactionCount + 1);
  const count = countExternal(sources, operationCount);
  const readKey = new Int32Array(count);
  const readFrom = new Int32Array(count);
  const readOperation = new Int32Array(count);
  const anomalous = new Map<ReadAnomaly, AnomalousRead>();
  let next = 0;
  let thinAirCount = 0;
  for (let t = 0; t < transactionCount; t += 1) {
    readStart[t] = next;
    if (isMember[t] === 0) continue;
    const end = operationStart[t + 1];
    for (let o = operationStart[t]; o < end; o += 1) {
      const found = sources[o];
      if (found === source.none || found === source.own || found === source.ambiguous) continue;
      if (found === source.thinAir) thinAirCount += 1;
      const kind = anomalyOf(history, found);
      if (kind === null) {
        readKey[next] = key[o];
        readFrom[next] = found === source.initial ? INITIAL : found >> 1;
        readOperation[next] = o;
        next += 1;
      } else if (!anomalous.has(kind)) {
        anomalous.set(kind, { kind, operation: o, by: t, from: found < 0 ? t : found >> 1 });
      }
    }
  }
  readStart[transactionCount] = next;
  return { readStart, readKey, readFrom, readOperation, anomalous: [...anomalous.values()], thinAirCount };
}

/** At most: those of transactions that are no members are counted too. */
function countExternal(sources: Int32Array, operationCount: number): number {
  let count = 0;
  for (let o = 0; o < operationCount; o += 1) if (sources[o] >= source.initial) count += 1;
  return count;
}

function anomalyOf({ status }: CompactHistory, found: number): ReadAnomaly | null {
  if (found === source.initial) return null;
  if (found === source.internal) return 'internal';
  if (found === source.thinAir) return 'thin-air-read';
  if (status[found >> 1] === statusCode.aborted) return 'G1a';
  return (found & 1) === 0 ? 'G1b' : null;
}

/** Aborted transactions write nothing. */
function writtenKeys(history: CompactHistory): Pick<Reads, 'writeStart' | 'writeKey'> {
  const { kind, key, status, operationStart, transactionCount, operationCount } = history;
  let count = 0;
  for (let o = 0; o < operationCount; o += 1) if (kind[o] === operationKind.write) count += 1;
  const writeStart = new Int32Array(transactionCount + 1);
  const writeKey = new Int32Array(count);
  const writtenBy = new Int32Array(history.keyCount).fill(-1);
  let next = 0;
  for (let t = 0; t < transactionCount; t += 1) {
    const begin = next;
    writeStart[t] = begin;
    if (status[t] === statusCode.aborted) continue;
    const end = operationStart[t + 1];
    for (let o = operationStart[t]; o < end; o += 1) {
      const k = key[o];
      if (kind[o] !== operationKind.write || writtenBy[k] === t) continue;
      writtenBy[k] = t;
      writeKey[next] = k;
      next += 1;
    }
    sortRange(writeKey, begin, next);
  }
  writeStart[transactionCount] = next;
  return { writeStart, writeKey };
}

/** Insertion for the few keys that a transaction usually writes. */
function sortRange(array: Int32Array, begin: number, end: number): void {
  if (end - begin > 32) {
    array.subarray(begin, end).sort();
    return;
  }
  for (let i = begin + 1; i < end; i += 1) {
    const moved = array[i];
    let at = i;
    while (at > begin && array[at - 1] > moved) {
      array[at] = array[at - 1];
      at -= 1;
    }
    array[at] = moved;
  }
}

/** Does transaction t write the key? Logarithmic in its writes. */
export function writesKey({ writeStart, writeKey }: Reads, t: TransactionIndex, key: number): boolean {
  let low = writeStart[t];
  let high = writeStart[t + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = writeKey[middle];
    if (found === key) return true;
    if (found < key) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** Is it a write, or a read of a write in this part or of the initial state? */
export function isWithin(sources: Int32Array, operation: number, among: ReadonlySet<TransactionIndex>): boolean {
  const found = sources[operation];
  return found >= 0 ? among.has(found >> 1) : found >= source.own;
}

/** The transaction of a position in `Reads.readKey`. Logarithmic. */
export function readerOf(
  { transactionCount }: CompactHistory,
  { readStart }: Pick<Reads, 'readStart'>,
  read: number,
): TransactionIndex {
  return rangeOf(read, readStart, transactionCount);
}
