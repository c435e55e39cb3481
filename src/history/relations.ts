/**
 * The relations of a history, resolved once and asked by index: session order, write-read, who writes what.
 * MonkeyDB (OOPSLA 2021), section 3.1. Cost: linear in the operations; `so` and `wr` answer in constant time.
 */
import { type History, INITIAL, type TransactionIndex } from './history.ts';
import { type PlaceOf, type ReadSource, readSources } from './read-sources.ts';
import type { Key } from './value.ts';

/** A read that saw the last write of another transaction, or the initial value. */
export interface ExternalRead {
  readonly by: TransactionIndex;
  /** Position in the operations of `by`. */
  readonly operation: number;
  readonly key: Key;
  readonly from: TransactionIndex;
}

/**
 * A read that no commit order can explain, at read-committed and up.
 * `G1a`: of an aborted transaction's write. `G1b`: of a write that its transaction overwrote. `internal`: not of the own last write.
 */
export interface ReadPhenomenon extends ExternalRead {
  readonly kind: 'G1a' | 'G1b' | 'internal';
}

export interface RelationsOptions {
  /**
   * `ignored` (default): what an aborted transaction read is no evidence, as in Adya's definitions.
   * `constrained`: its reads count like any other's, as in the papers' semantics, where the store cannot know when it answers
   * a read that the transaction will abort.
   */
  readonly abortedReads?: 'ignored' | 'constrained';
  readonly placeOf?: PlaceOf;
}

export interface Relations {
  readonly history: History;
  /**
   * The transactions that a commit order orders: the committed ones, those of unknown fate whose writes were seen (the others
   * may be left out, which only helps), and the aborted ones where their reads are constrained.
   */
  readonly members: readonly TransactionIndex[];
  /** The external reads of members, in program order for each reader. */
  readonly reads: readonly ExternalRead[];
  readonly phenomena: readonly ReadPhenomenon[];
  readonly readsOf: (t: TransactionIndex) => readonly ExternalRead[];
  /** The initial transaction writes every key; an aborted one writes none. */
  readonly writes: (t: TransactionIndex, key: Key) => boolean;
  readonly keysWrittenBy: (t: TransactionIndex) => ReadonlySet<Key>;
  /** `INITIAL` and the members that write `key`. */
  readonly writersOf: (key: Key) => readonly TransactionIndex[];
  readonly so: (a: TransactionIndex, b: TransactionIndex) => boolean;
  /** wr between transactions: has `b` an external read from `a`? */
  readonly wr: (a: TransactionIndex, b: TransactionIndex) => boolean;
  /** Did `a` end before `b` started? False where a time is missing. */
  readonly realTime: (a: TransactionIndex, b: TransactionIndex) => boolean;
}

/** @throws InputError `history/thin-air-read`, `history/duplicate-write` */
export function relationsOf(history: History, options: RelationsOptions = {}): Relations {
  const { transactions } = history;
  const sources = readSources(history, options.placeOf);
  const members = membersOf(history, sources, options.abortedReads === 'constrained');
  const { reads, phenomena } = classifyReads(history, members, sources);
  const keysWritten = transactions.map(({ status, operations }) => {
    return new Set(status === 'aborted' ? [] : operations.filter((o) => o.kind === 'write').map((o) => o.key));
  });
  const readsByReader = new Map<TransactionIndex, ExternalRead[]>();
  for (const read of reads) readsByReader.set(read.by, pushed(readsByReader.get(read.by) ?? [], read));
  const writers = new Map<Key, TransactionIndex[]>();
  for (const t of members)
    for (const key of keysWritten[t] ?? []) writers.set(key, pushed(writers.get(key) ?? [INITIAL], t));
  const wrPairs = new Set(reads.map(({ from, by }) => `${from} ${by}`));
  /** Whoever never heard back does not know when it ended. */
  const end = (t: TransactionIndex): number =>
    transactions[t]?.status === 'unknown' ? Infinity : (transactions[t]?.end ?? Infinity);
  const start = (t: TransactionIndex): number => transactions[t]?.start ?? -Infinity;
  return {
    history,
    members,
    reads,
    phenomena,
    readsOf: (t) => readsByReader.get(t) ?? [],
    writes: (t, key) => t === INITIAL || (keysWritten[t]?.has(key) ?? false),
    keysWrittenBy: (t) => keysWritten[t] ?? new Set(),
    writersOf: (key) => writers.get(key) ?? [INITIAL],
    so: (a, b) => (a === INITIAL ? b !== INITIAL : a < b && transactions[a]?.session === transactions[b]?.session),
    wr: (a, b) => wrPairs.has(`${a} ${b}`),
    realTime: (a, b) => (a === INITIAL ? b !== INITIAL : end(a) < start(b)),
  };
}

/** A copy for each element would make a popular key's cost the square of its writers. */
function pushed<Element>(list: Element[], element: Element): Element[] {
  list.push(element);
  return list;
}

type Sources = readonly (readonly (ReadSource | undefined)[])[];

function membersOf(history: History, sources: Sources, withAborted: boolean): TransactionIndex[] {
  const isMember = history.transactions.map(
    ({ status }) => status === 'committed' || (withAborted && status === 'aborted'),
  );
  const queue = [...isMember.keys()].filter((t) => isMember[t]);
  for (let t = queue.pop(); t !== undefined; t = queue.pop()) {
    for (const source of sources[t] ?? []) {
      const seen = source?.transaction;
      if (seen === undefined || seen === INITIAL || isMember[seen] || history.transactions[seen]?.status !== 'unknown')
        continue;
      isMember[seen] = true;
      queue.push(seen);
    }
  }
  return [...isMember.keys()].filter((t) => isMember[t]);
}

function classifyReads(
  history: History,
  members: readonly TransactionIndex[],
  sources: Sources,
): { reads: ExternalRead[]; phenomena: ReadPhenomenon[] } {
  const reads: ExternalRead[] = [];
  const phenomena: ReadPhenomenon[] = [];
  for (const by of members) {
    history.transactions[by]?.operations.forEach(({ key }, operation) => {
      const source = sources[by]?.[operation];
      if (source === undefined || source.kind === 'own') return;
      const read = { by, operation, key, from: source.transaction };
      const aborted = history.transactions[source.transaction]?.status === 'aborted';
      if (source.kind === 'internal') phenomena.push({ kind: 'internal', ...read });
      else if (aborted) phenomena.push({ kind: 'G1a', ...read });
      else if (source.kind === 'intermediate') phenomena.push({ kind: 'G1b', ...read });
      else reads.push(read);
    });
  }
  return { reads, phenomena };
}
