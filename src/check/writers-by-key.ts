/** Who writes each key, chain by chain. Linear. */
import type { CompactHistory } from '../history/index.ts';
import type { Chains } from './chains.ts';
import type { Reads } from './reads.ts';

export interface WritersByKey {
  /** The segments of key k are `[segmentStart[k], segmentStart[k + 1])`; each is of one chain, in the order of chains. */
  readonly segmentStart: Int32Array;
  readonly segmentChain: Int32Array;
  /** The writers of segment g are `[writerStart[g], writerStart[g + 1])`, in the order of the chain. */
  readonly writerStart: Int32Array;
  readonly writer: Int32Array;
  /** Of the writer, in its chain. */
  readonly position: Int32Array;
}

export function writersByKey({ keyCount }: CompactHistory, reads: Reads, chains: Chains): WritersByKey {
  const { writeStart, writeKey } = reads;
  const keyStart = new Int32Array(keyCount + 1);
  for (const t of chains.member) {
    for (let w = writeStart[t]; w < writeStart[t + 1]; w += 1) {
      const after = writeKey[w] + 1;
      keyStart[after] += 1;
    }
  }
  for (let k = 0; k < keyCount; k += 1) keyStart[k + 1] += keyStart[k];
  const count = keyStart[keyCount];
  const writer = new Int32Array(count);
  const position = new Int32Array(count);
  const next = keyStart.slice(0, keyCount);
  let segments = 0;
  for (const t of chains.member) {
    for (let w = writeStart[t]; w < writeStart[t + 1]; w += 1) {
      const k = writeKey[w];
      const at = next[k];
      if (at === keyStart[k] || chains.of[writer[at - 1]] !== chains.of[t]) segments += 1;
      writer[at] = t;
      position[at] = chains.position[t];
      next[k] = at + 1;
    }
  }
  return { ...segmentsOf(chains, keyStart, writer, segments), writer, position };
}

function segmentsOf(
  { of }: Chains,
  keyStart: Int32Array,
  writer: Int32Array,
  segments: number,
): Pick<WritersByKey, 'segmentStart' | 'segmentChain' | 'writerStart'> {
  const segmentStart = new Int32Array(keyStart.length);
  const segmentChain = new Int32Array(segments);
  const writerStart = new Int32Array(segments + 1);
  let g = 0;
  for (let k = 0; k + 1 < keyStart.length; k += 1) {
    segmentStart[k] = g;
    const end = keyStart[k + 1];
    for (let at = keyStart[k]; at < end; at += 1) {
      const chain = of[writer[at]];
      if (at !== keyStart[k] && segmentChain[g - 1] === chain) continue;
      segmentChain[g] = chain;
      writerStart[g] = at;
      g += 1;
    }
  }
  segmentStart[keyStart.length - 1] = g;
  writerStart[g] = writer.length;
  return { segmentStart, segmentChain, writerStart };
}
