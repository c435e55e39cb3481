/** The versions of keys, who reads them, and where in a key's writers each chain stands. Linear but for a search in the writers of a key. */
import { type CompactHistory, INITIAL } from '../../history/index.ts';
import type { Reads } from '../reads.ts';
import { snapshotNode } from './node.ts';
import type { Nodes } from './nodes.ts';

export interface Versions {
  /** The versions of key k are `[keyStart[k], keyStart[k + 1])`, by writer ascending; the initial one is none of them. */
  readonly keyStart: Int32Array;
  /** By version: the member that writes it, and the key. */
  readonly writer: Int32Array;
  readonly keyOf: Int32Array;
  /** The segments of key k are `[segmentStart[k], segmentStart[k + 1])`: its versions by writers of one chain. */
  readonly segmentStart: Int32Array;
  /** Segment g has the versions `[segmentFirst[g], segmentFirst[g + 1])`. */
  readonly segmentFirst: Int32Array;
  /** What member m writes: the versions `written[writtenStart[m]]` to `written[writtenStart[m + 1] - 1]`. */
  readonly writtenStart: Int32Array;
  readonly written: Int32Array;
  /** What member m reads: `[readStart[m], readStart[m + 1])`. */
  readonly readStart: Int32Array;
  /** By read: the version, or -1 for the initial one; the key; the position in `Reads.readKey`. */
  readonly readVersion: Int32Array;
  readonly readKey: Int32Array;
  readonly readOf: Int32Array;
  /** Of each chain that reads version v the last reader: `reader[readerStart[v]]` to `reader[readerStart[v + 1] - 1]`, ascending. */
  readonly readerStart: Int32Array;
  readonly reader: Int32Array;
  /** The same of the initial version of key k. */
  readonly initialReaderStart: Int32Array;
  readonly initialReader: Int32Array;
}

export function versionsOf({ keyCount }: CompactHistory, nodes: Nodes, reads: Reads): Versions {
  const { memberCount, transactionOf, memberOf } = nodes;
  const { keyStart, writer, keyOf, writtenStart, written } = writtenVersions(keyCount, nodes, reads);
  const count = reads.readKey.length;
  const readStart = new Int32Array(memberCount + 1);
  const readVersion = new Int32Array(count);
  const readKey = new Int32Array(count);
  const readOf = new Int32Array(count);
  let next = 0;
  for (let m = 0; m < memberCount; m += 1) {
    readStart[m] = next;
    const t = transactionOf[m];
    for (let i = reads.readStart[t]; i < reads.readStart[t + 1]; i += 1) {
      const k = reads.readKey[i];
      const from = reads.readFrom[i];
      readVersion[next] = from === INITIAL ? -1 : lastUpTo(writer, keyStart, k, memberOf[from]);
      readKey[next] = k;
      readOf[next] = i;
      next += 1;
    }
  }
  readStart[memberCount] = next;
  const byMember = { readStart, readVersion, readKey };
  const seen = lastReaders(nodes, byMember, readVersion, writer.length);
  const initial = lastReaders(
    nodes,
    byMember,
    readVersion.map((v, i) => (v < 0 ? readKey[i] : -1)),
    keyCount,
  );
  return {
    keyStart,
    writer,
    keyOf,
    ...segmentsOf(nodes, keyStart, writer),
    writtenStart,
    written,
    ...byMember,
    readOf,
    readerStart: seen.start,
    reader: seen.reader,
    initialReaderStart: initial.start,
    initialReader: initial.reader,
  };
}

/** The last version of the key by a writer up to `member`. */
function lastUpTo(writer: Int32Array, keyStart: Int32Array, key: number, member: number): number {
  let low = keyStart[key];
  let high = keyStart[key + 1];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (writer[middle] <= member) low = middle;
    else high = middle;
  }
  return low;
}

type Written = Pick<Versions, 'keyStart' | 'writer' | 'keyOf' | 'writtenStart' | 'written'>;

function writtenVersions(keyCount: number, { memberCount, transactionOf }: Nodes, reads: Reads): Written {
  const { writeStart, writeKey } = reads;
  const keyStart = new Int32Array(keyCount + 1);
  const writtenStart = new Int32Array(memberCount + 1);
  for (let m = 0; m < memberCount; m += 1) {
    const t = transactionOf[m];
    const [first, after] = [writeStart[t], writeStart[t + 1]];
    writtenStart[m + 1] = writtenStart[m] + after - first;
    for (let w = first; w < after; w += 1) {
      const k = writeKey[w] + 1;
      keyStart[k] += 1;
    }
  }
  for (let k = 0; k < keyCount; k += 1) keyStart[k + 1] += keyStart[k];
  const count = keyStart[keyCount];
  const next = keyStart.slice(0, keyCount);
  const writer = new Int32Array(count);
  const keyOf = new Int32Array(count);
  const written = new Int32Array(count);
  let at = 0;
  for (let m = 0; m < memberCount; m += 1) {
    const t = transactionOf[m];
    for (let w = writeStart[t]; w < writeStart[t + 1]; w += 1) {
      const k = writeKey[w];
      const version = next[k];
      next[k] = version + 1;
      writer[version] = m;
      keyOf[version] = k;
      written[at] = version;
      at += 1;
    }
  }
  return { keyStart, writer, keyOf, writtenStart, written };
}

function segmentsOf(
  { shift, chainOf }: Nodes,
  keyStart: Int32Array,
  writer: Int32Array,
): Pick<Versions, 'segmentStart' | 'segmentFirst'> {
  const segmentStart = new Int32Array(keyStart.length);
  const segmentFirst = new Int32Array(writer.length + 1);
  let g = 0;
  for (let k = 0; k + 1 < keyStart.length; k += 1) {
    segmentStart[k] = g;
    let chain = -1;
    for (let v = keyStart[k]; v < keyStart[k + 1]; v += 1) {
      const own = chainOf[snapshotNode(writer[v], shift)];
      if (own === chain) continue;
      chain = own;
      segmentFirst[g] = v;
      g += 1;
    }
  }
  segmentStart[keyStart.length - 1] = g;
  segmentFirst[g] = writer.length;
  return { segmentStart, segmentFirst: segmentFirst.slice(0, g + 1) };
}

/** @param target by read: what is read, or -1 */
function lastReaders(
  { memberCount, shift, chainOf }: Nodes,
  { readStart }: Pick<Versions, 'readStart'>,
  target: Int32Array,
  targetCount: number,
): { start: Int32Array; reader: Int32Array } {
  // Filled from the last member to the first: of each chain the first that comes is the last reader.
  const start = new Int32Array(targetCount + 1);
  const lastChain = new Int32Array(targetCount).fill(-1);
  const forEach = (visit: (v: number, m: number) => void): void => {
    lastChain.fill(-1);
    for (let m = memberCount - 1; m >= 0; m -= 1) {
      const chain = chainOf[snapshotNode(m, shift)];
      for (let i = readStart[m]; i < readStart[m + 1]; i += 1) {
        const v = target[i];
        if (v < 0 || lastChain[v] === chain) continue;
        lastChain[v] = chain;
        visit(v, m);
      }
    }
  };
  forEach((v) => (start[v + 1] += 1));
  for (let v = 0; v < targetCount; v += 1) start[v + 1] += start[v];
  const next = start.slice(1);
  const reader = new Int32Array(start[targetCount]);
  forEach((v, m) => {
    const at = next[v] - 1;
    next[v] = at;
    reader[at] = m;
  });
  return { start, reader };
}
