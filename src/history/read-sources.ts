/**
 * Which write did each read see? By `from` where it is recorded, else by its value.
 *
 * A value that nobody wrote and a value that two transactions wrote are bad input, for then wr is not known (MonkeyDB,
 * Definition 3.2: the inverse of wr is a total function on reads). Cost: linear in the operations.
 */
import { InputError, type Place } from '../base/input-error.ts';
import { type History, INITIAL, type Read, type TransactionIndex } from './history.ts';
import { canonicalText, type Key, sameValue, type Value } from './value.ts';

/**
 * `own`: the transaction's own last write before the read. `internal`: should have been that, or is a later write of its own.
 * `final`, `intermediate`: the last write of another transaction to that key, or one that it overwrote itself.
 */
export interface ReadSource {
  readonly kind: 'own' | 'internal' | 'final' | 'intermediate';
  readonly transaction: TransactionIndex;
}

/** Where a transaction, or one of its operations, stands in the text that it came from. */
export type PlaceOf = (transaction: TransactionIndex, operation: number) => Place;

/** For each transaction, for each operation: the source of a read, `undefined` for a write. */
export function readSources(history: History, placeOf?: PlaceOf): readonly (readonly (ReadSource | undefined)[])[] {
  const index = indexWrites(history);
  return history.transactions.map(({ operations }, t) => {
    const own = new Map<Key, Value>();
    return operations.map((operation, position) => {
      if (operation.kind === 'write') {
        own.set(operation.key, operation.value);
        return undefined;
      }
      const last = own.get(operation.key);
      if (last === undefined) return sourceOf(history, index, t, operation, () => placeOf?.(t, position));
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
function sourceOf(
  history: History,
  index: WriteIndex,
  by: TransactionIndex,
  read: Read,
  place: () => Place | undefined,
): ReadSource {
  const writers = index.get(read.key)?.get(canonicalText(read.value)) ?? noWriters;
  const readsInitial = sameValue(history.initial.get(read.key) ?? null, read.value);
  const candidates =
    read.from === undefined ? candidatesBut(by, writers, readsInitial) : recorded(read.from, writers, readsInitial);
  const [source, other] = candidates;
  if (source !== undefined && other !== undefined) throw duplicateWrite(history, by, read, [source, other], place());
  if (source === undefined) {
    if (read.from !== undefined || !writers.has(by)) throw thinAir(history, by, read, place());
    return { kind: 'internal', transaction: by };
  }
  if (source === by) return { kind: 'internal', transaction: by };
  return { kind: source === INITIAL || writers.get(source) ? 'final' : 'intermediate', transaction: source };
}

const noWriters: Writers = new Map();

function recorded(from: TransactionIndex, writers: Writers, readsInitial: boolean): TransactionIndex[] {
  return (from === INITIAL ? readsInitial : writers.has(from)) ? [from] : [];
}

/** Up to two of those whose write a read by `by` may have seen: more would not tell more. */
function candidatesBut(by: TransactionIndex, writers: Writers, readsInitial: boolean): TransactionIndex[] {
  const candidates = readsInitial ? [INITIAL] : [];
  for (const t of writers.keys()) {
    if (candidates.length === 2) break;
    if (t !== by) candidates.push(t);
  }
  return candidates;
}

function thinAir(history: History, by: TransactionIndex, read: Read, place: Place | undefined): InputError {
  const who = read.from === undefined ? 'nobody wrote' : `${nameOf(history, read.from)} did not write`;
  const text = JSON.stringify(read.value);
  return new InputError(
    'history/thin-air-read',
    `${nameOf(history, by)} reads ${read.key} = ${text}, which ${who}`,
    place,
  );
}

function duplicateWrite(
  history: History,
  by: TransactionIndex,
  read: Read,
  candidates: readonly TransactionIndex[],
  place: Place | undefined,
): InputError {
  const writers = candidates.map((t) => nameOf(history, t)).join(' and ');
  return new InputError(
    'history/duplicate-write',
    `${nameOf(history, by)} reads ${read.key} = ${JSON.stringify(read.value)}, which both ${writers} wrote: ` +
      'write each value once, or record the writer that each read saw',
    place,
  );
}

/** How messages name a transaction. */
export function nameOf(history: History, transaction: TransactionIndex): string {
  return transaction === INITIAL
    ? 'the initial state'
    : `transaction ${history.transactions[transaction]?.id ?? transaction}`;
}
