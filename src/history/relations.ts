/**
 * The relations of a history, resolved once and asked by index: session order, write-read, who writes what.
 * MonkeyDB (OOPSLA 2021), section 3.1. Cost: linear in the operations; `so` and `wr` answer in constant time.
 */
import { type History, INITIAL, type TransactionIndex } from './history.ts';
import { type ReadSource, readSources } from './read-sources.ts';
import type { Key } from './value.ts';

/** A read that saw the last write of another transaction, or the initial value. */
export interface ExternalRead {
  readonly by: TransactionIndex;
  /** Position in the operations of `by`. */
  readonly operation: number;
  readonly key: Key;
  readonly from: TransactionIndex;
  /** The condition of a statement that the row did not satisfy: the read is part of a predicate-based read. */
  readonly condition?: string;
}

/**
 * A read that no commit order can explain, at read-committed and up.
 * `thin-air-read`: of a value that no transaction wrote, or not the one that is recorded; `from` is then the reader.
 * `G1a`: of an aborted transaction's write. `G1b`: of a write that its transaction overwrote. `internal`: not of the own last write.
 */
export interface ReadPhenomenon extends ExternalRead {
  readonly kind: 'thin-air-read' | 'G1a' | 'G1b' | 'internal';
}

/** A read of a value that several transactions wrote, where nothing says which of them it saw. */
export interface AmbiguousRead extends Omit<ExternalRead, 'from'> {
  /** Transactions, or `INITIAL`, in the order of the history. */
  readonly candidates: readonly TransactionIndex[];
}

/** Which reads count as evidence. */
export interface RelationsOptions {
  /**
   * `ignored` (default): what an aborted transaction read is no evidence, as in Adya's definitions.
   * `constrained`: its reads count like any other's, as in the papers' semantics, where the store cannot know when it answers
   * a read that the transaction will abort.
   */
  readonly abortedReads?: 'ignored' | 'constrained';
  /** `forbidden` (default): a phenomenon. `ignored`: the history is judged as if these reads were not in it. */
  readonly thinAirReads?: 'forbidden' | 'ignored';
  /** `listed` (default): in `Relations.ambiguous`. `ignored`: the history is judged as if these reads were not in it. */
  readonly ambiguousReads?: 'listed' | 'ignored';
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
  /**
   * Reads that are in neither of the two: wr is not known of them. Of transactions too that are members for some choice of the writers that
   * these reads saw.
   */
  readonly ambiguous: readonly AmbiguousRead[];
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

export function relationsOf(history: History, options: RelationsOptions = {}): Relations {
  const { transactions } = history;
  const sources = readSources(history);
  const withAborted = options.abortedReads === 'constrained';
  const members = membersOf(history, sources, { withAborted, withCandidates: false });
  const { reads, phenomena } = classifyReads(history, members, sources, options.thinAirReads ?? 'forbidden');
  const ambiguous =
    options.ambiguousReads === 'ignored'
      ? []
      : ambiguousReads(history, membersOf(history, sources, { withAborted, withCandidates: true }), sources);
  const keysWritten = transactions.map(({ status, operations }) => {
    return new Set(status === 'aborted' ? [] : operations.filter((o) => o.kind === 'write').map((o) => o.key));
  });
  const readsByReader = new Map<TransactionIndex, ExternalRead[]>();
  for (const read of reads) readsByReader.set(read.by, pushed(readsByReader.get(read.by) ?? [], read));
  const writers = new Map<Key, TransactionIndex[]>();
  for (const t of members)
    for (const key of keysWritten[t] ?? []) writers.set(key, pushed(writers.get(key) ?? [INITIAL], t));
  const wrPairs = new Set(reads.map(({ from, by }) => `${from} ${by}`));
  /** A client without an answer does not know when its transaction ended. */
  const end = (t: TransactionIndex): number =>
    transactions[t]?.status === 'unknown' ? Infinity : (transactions[t]?.end ?? Infinity);
  const start = (t: TransactionIndex): number => transactions[t]?.start ?? -Infinity;
  return {
    history,
    members,
    reads,
    phenomena,
    ambiguous,
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

/** @param withCandidates counts every writer that an ambiguous read may have seen as seen */
function membersOf(
  history: History,
  sources: Sources,
  { withAborted, withCandidates }: { readonly withAborted: boolean; readonly withCandidates: boolean },
): TransactionIndex[] {
  const isMember = history.transactions.map(
    ({ status }) => status === 'committed' || (withAborted && status === 'aborted'),
  );
  const queue = [...isMember.keys()].filter((t) => isMember[t]);
  for (let t = queue.pop(); t !== undefined; t = queue.pop()) {
    for (const source of sources[t] ?? []) {
      for (const seen of seenIn(source, withCandidates)) {
        if (seen === INITIAL || isMember[seen] || history.transactions[seen]?.status !== 'unknown') continue;
        isMember[seen] = true;
        queue.push(seen);
      }
    }
  }
  return [...isMember.keys()].filter((t) => isMember[t]);
}

function seenIn(source: ReadSource | undefined, withCandidates: boolean): readonly TransactionIndex[] {
  if (source === undefined || source.kind === 'thin-air') return [];
  if (source.kind === 'ambiguous') return withCandidates ? source.candidates : [];
  return [source.transaction];
}

function ambiguousReads(
  { transactions }: History,
  readers: readonly TransactionIndex[],
  sources: Sources,
): AmbiguousRead[] {
  return readers.flatMap((by) =>
    (transactions[by]?.operations ?? []).flatMap(({ key }, operation) => {
      const source = sources[by]?.[operation];
      return source?.kind === 'ambiguous' ? [{ by, operation, key, candidates: source.candidates }] : [];
    }),
  );
}

function classifyReads(
  history: History,
  members: readonly TransactionIndex[],
  sources: Sources,
  thinAirReads: 'forbidden' | 'ignored',
): Pick<Relations, 'reads' | 'phenomena'> {
  const reads: ExternalRead[] = [];
  const phenomena: ReadPhenomenon[] = [];
  for (const by of members) {
    history.transactions[by]?.operations.forEach((each, operation) => {
      const { key } = each;
      const condition = each.kind === 'read' && each.condition !== undefined ? { condition: each.condition } : {};
      const source = sources[by]?.[operation];
      if (source === undefined || source.kind === 'own' || source.kind === 'ambiguous') return;
      if (source.kind === 'thin-air') {
        if (thinAirReads === 'forbidden') phenomena.push({ kind: 'thin-air-read', by, operation, key, from: by });
        return;
      }
      const read = { by, operation, key, from: source.transaction, ...condition };
      const aborted = history.transactions[source.transaction]?.status === 'aborted';
      if (source.kind === 'internal') phenomena.push({ kind: 'internal', ...read });
      else if (aborted) phenomena.push({ kind: 'G1a', ...read });
      else if (source.kind === 'intermediate') phenomena.push({ kind: 'G1b', ...read });
      else reads.push(read);
    });
  }
  return { reads, phenomena };
}
