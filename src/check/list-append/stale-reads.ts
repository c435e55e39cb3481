/**
 * Reads that saw a version although a newer one was visible to them, at the levels where that is a matter of single steps or of chains of so and
 * wr. Where such a level forces a writer before the one that was read (`../forced-edges.ts`), the order of versions says whether that is so.
 */
import { INITIAL, type TransactionIndex } from '../../history/index.ts';
import { causalEdges } from '../causal.ts';
import { commitOrder } from '../commit-order.ts';
import { causalPath } from '../cycle.ts';
import type { ForcedEdges } from '../forced-edges.ts';
import { readAtomicEdges } from '../read-atomic.ts';
import { readCommittedEdges } from '../read-committed.ts';
import { readerOf, type Reads } from '../reads.ts';
import type { SessionOrder } from '../session-order.ts';
import type { ListReads } from './list-reads.ts';

export type StaleLevel = 'read-committed' | 'read-atomic' | 'causal';

export interface StaleRead {
  /** The version's writer that is visible, and who read an older one. */
  readonly writer: TransactionIndex;
  readonly reader: TransactionIndex;
  readonly key: number;
  /** The read. */
  readonly operation: number;
  /** From the writer to the reader, by so and wr. */
  readonly path: readonly {
    readonly from: TransactionIndex;
    readonly to: TransactionIndex;
    readonly relation: 'so' | 'wr';
    readonly key: number;
    readonly operation?: number;
  }[];
}

/** The first that the level forbids; so, wr and ww must have no cycle. `null`: there is none. */
export function staleRead(level: StaleLevel, lists: ListReads, reads: Reads, sessions: SessionOrder): StaleRead | null {
  const history = lists.registers;
  const newest = newestWrites(lists);
  const forced = forcedEdges(level, lists, reads, sessions);
  for (let e = 0; e < forced.count; e += 1) {
    const [writer, seen] = [forced.from.array[e], forced.to.array[e]];
    const read = forced.read.array[e];
    const key = reads.readKey[read];
    if (seen !== INITIAL && newest(writer, key) < newest(seen, key)) continue;
    const reader = readerOf(history, reads, read);
    return {
      writer,
      reader,
      key,
      operation: reads.readOperation[read],
      path: pathOf(level, lists, reads, sessions, writer, reader),
    };
  }
  return null;
}

function forcedEdges(level: StaleLevel, { registers }: ListReads, reads: Reads, sessions: SessionOrder): ForcedEdges {
  switch (level) {
    case 'read-committed':
      return readCommittedEdges(registers, reads);
    case 'read-atomic':
      return readAtomicEdges(registers, reads, sessions);
    case 'causal': {
      const order = commitOrder({ history: registers, reads, sessions, forced: null });
      return causalEdges(registers, reads, sessions, order);
    }
  }
}

/** The place of the last version of the key that a transaction wrote; after all others where it was not read. */
function newestWrites({ registers, position }: ListReads): (t: TransactionIndex, key: number) => number {
  const { operationStart, kind, key: keys, value } = registers;
  return (t, key) => {
    for (let o = operationStart[t + 1] - 1; o >= operationStart[t]; o -= 1) {
      if (kind[o] !== 1 || keys[o] !== key) continue;
      return position[value[o]] || Infinity;
    }
    return 0;
  };
}

function pathOf(
  level: StaleLevel,
  { registers }: ListReads,
  reads: Reads,
  sessions: SessionOrder,
  writer: TransactionIndex,
  reader: TransactionIndex,
): StaleRead['path'] {
  for (let i = reads.readStart[reader]; i < reads.readStart[reader + 1]; i += 1) {
    if (reads.readFrom[i] !== writer) continue;
    const [key, operation] = [reads.readKey[i], reads.readOperation[i]];
    return [{ from: writer, to: reader, relation: 'wr', key, operation }];
  }
  if (registers.session[writer] === registers.session[reader] || level !== 'causal')
    return [{ from: writer, to: reader, relation: 'so', key: -1 }];
  const path = causalPath({ history: registers, reads, sessions, forced: null }, writer, reader) ?? [];
  return path.map(({ from, to, relation, read }) => ({
    from,
    to,
    relation: relation === 'wr' ? 'wr' : 'so',
    key: relation === 'wr' ? reads.readKey[read] : -1,
  }));
}
