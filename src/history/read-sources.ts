/**
 * Which write did each read see? By `from` where it is recorded, else by its value.
 *
 * A value that no transaction wrote has no source: the read came out of thin air. A value that several transactions wrote has several
 * possible ones: `check` decides over the choices. Cost: linear in the operations, and in the writers of the values that are repeated.
 */
import { type History, INITIAL, type Read, type TransactionIndex } from './history.ts';
import { canonicalText, isEmptyList, type Key, sameValue, type Value } from './value.ts';

/**
 * `own`: the transaction's own last write before the read. `internal`: should have been that, or is a later write of its own.
 * `final`, `intermediate`: the last write of another transaction to that key, or one that it overwrote itself.
 * `thin-air`: no transaction wrote the value, or not the writer that is recorded. `ambiguous`: one of `candidates` did.
 */
export type ReadSource =
  | { readonly kind: 'own' | 'internal' | 'final' | 'intermediate'; readonly transaction: TransactionIndex }
  | { readonly kind: 'thin-air' }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly TransactionIndex[] };

/** For each transaction, for each operation: the source of a read, `undefined` for a write. */
export function readSources(history: History): readonly (readonly (ReadSource | undefined)[])[] {
  const index = indexWrites(history);
  return history.transactions.map(({ operations }, t) => {
    const own = new Map<Key, Value>();
    return operations.map((operation): ReadSource | undefined => {
      if (operation.kind === 'write') {
        own.set(operation.key, operation.value);
        return undefined;
      }
      const last = own.get(operation.key);
      if (last === undefined) return sourceOf(history, index, t, operation);
      // Another transaction may have written the same value; where the record says that it was seen, the own write was not.
      const isOwn = sameValue(last, operation.value) && (operation.from ?? t) === t;
      return { kind: isOwn ? 'own' : 'internal', transaction: t };
    });
  });
}

/** key -> value as text -> the transactions that wrote it; `true` where nothing followed it in its transaction. */
type WriteIndex = ReadonlyMap<Key, ReadonlyMap<string, Writers>>;
type Writers = ReadonlyMap<TransactionIndex, boolean>;

function indexWrites(history: History): WriteIndex {
  const index = new Map<Key, Map<string, Map<TransactionIndex, boolean>>>();
  history.transactions.forEach(({ operations }, t) => {
    const last = new Map<Key, Map<TransactionIndex, boolean>>();
    for (const { kind, key, value } of operations) {
      if (kind === 'read') continue;
      const text = canonicalText(value);
      const byValue = index.get(key) ?? new Map<string, Map<TransactionIndex, boolean>>();
      const writers = byValue.get(text) ?? new Map<TransactionIndex, boolean>();
      index.set(key, byValue.set(text, writers));
      last.get(key)?.set(t, false);
      last.set(key, writers.set(t, true));
    }
  });
  return index;
}

/** The source of a read that no own write precedes. */
function sourceOf(history: History, index: WriteIndex, by: TransactionIndex, read: Read): ReadSource {
  const writers = index.get(read.key)?.get(canonicalText(read.value)) ?? noWriters;
  const readsInitial = isInitial(history, index, read);
  const candidates =
    read.from === undefined ? candidatesBut(by, writers, readsInitial) : recorded(read.from, writers, readsInitial);
  const [source] = candidates;
  if (candidates.length > 1) return likelyOf(history, writers, candidates);
  if (source === undefined)
    return read.from === undefined && writers.has(by) ? { kind: 'internal', transaction: by } : { kind: 'thin-air' };
  if (source === by) return { kind: 'internal', transaction: by };
  return readOf(writers, source);
}

/** A key that nothing wrote may be a list to which nothing was appended: what its clients saw is `[]`. */
function isInitial({ initial }: History, index: WriteIndex, { key, value }: Read): boolean {
  const given = initial.get(key) ?? null;
  return sameValue(given, value) || (given === null && isEmptyList(value) && !index.has(key));
}

const noWriters: Writers = new Map();

function readOf(writers: Writers, source: TransactionIndex): ReadSource {
  return { kind: source === INITIAL || writers.get(source) ? 'final' : 'intermediate', transaction: source };
}

/** A write that was aborted or overwritten is a violation in itself: it is meant only where there is no other. */
function likelyOf({ transactions }: History, writers: Writers, candidates: readonly TransactionIndex[]): ReadSource {
  const likely = candidates.filter(
    (t) => t === INITIAL || (writers.get(t) === true && transactions[t]?.status !== 'aborted'),
  );
  const [only] = likely;
  if (only !== undefined && likely.length === 1) return readOf(writers, only);
  return { kind: 'ambiguous', candidates: likely.length > 0 ? likely : candidates };
}

function recorded(from: TransactionIndex, writers: Writers, readsInitial: boolean): TransactionIndex[] {
  return (from === INITIAL ? readsInitial : writers.has(from)) ? [from] : [];
}

/** Those whose write a read by `by` may have seen, the initial state first. */
function candidatesBut(by: TransactionIndex, writers: Writers, readsInitial: boolean): TransactionIndex[] {
  return [...(readsInitial ? [INITIAL] : []), ...[...writers.keys()].filter((t) => t !== by)];
}

/** How messages name a transaction. */
export function nameOf(history: History, transaction: TransactionIndex): string {
  return transaction === INITIAL
    ? 'the initial state'
    : `transaction ${history.transactions[transaction]?.id ?? transaction}`;
}
