/** Pairs of writers of a key whose order is open and matters: a version that is read, or at snapshot-isolation any two. */
import type { TimeLimit } from '../../base/index.ts';
import { Int32Column } from '../../history/index.ts';
import { commitNode } from './node.ts';
import type { Nodes } from './nodes.ts';
import type { Versions } from './versions.ts';

export interface OpenPairs {
  /** Members. */
  readonly first: Int32Array;
  readonly second: Int32Array;
}

/** @returns `null`: more than `pairsMax` */
export function openPairs(
  nodes: Nodes,
  versions: Versions,
  clocks: Int32Array,
  pairsMax: number,
  limit: TimeLimit,
): OpenPairs | null {
  const { shift, chainOf, chainCount, level } = nodes;
  const { keyStart, writer, segmentStart, segmentFirst, readerStart } = versions;
  const first = new Int32Column();
  const second = new Int32Column();
  const isBefore = (a: number, b: number): boolean => {
    const node = commitNode(a, shift);
    return clocks[commitNode(b, shift) * chainCount + chainOf[node]] >= node;
  };
  const isRead = (version: number): boolean => readerStart[version] !== readerStart[version + 1];
  for (let k = 0; k + 1 < keyStart.length; k += 1) {
    for (let g = segmentStart[k]; g < segmentStart[k + 1]; g += 1) {
      for (let version = segmentFirst[g]; version < segmentFirst[g + 1]; version += 1) {
        const a = writer[version];
        limit.check();
        for (let other = g + 1; other < segmentStart[k + 1]; other += 1) {
          const end = segmentFirst[other + 1];
          let from = segmentFirst[other];
          let to = end;
          while (from < to) {
            const middle = (from + to) >>> 1;
            if (isBefore(writer[middle], a)) from = middle + 1;
            else to = middle;
          }
          for (let v = from; v < end; v += 1) {
            const b = writer[v];
            if (isBefore(a, b)) break;
            if (level !== 'snapshot-isolation' && !isRead(version) && !isRead(v)) continue;
            if (first.length === pairsMax) return null;
            first.push(a);
            second.push(b);
          }
        }
      }
    }
  }
  return { first: first.taken(), second: second.taken() };
}
