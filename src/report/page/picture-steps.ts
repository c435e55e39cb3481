/** The reads and writes of each step of a run, from its history: whose write a read saw, and whether a newer one was committed by then. */
import { type History, INITIAL, type Key, type TransactionIndex, type Value } from '../../history/index.ts';
import type { Edge } from '../../isolation/index.ts';
import { writersSeen } from '../writers-seen.ts';
import type { PictureEdge, PictureRead, PictureStep, PictureTransaction, PictureWrite } from './report-data.ts';

/** A step before its reads and writes are told. */
export interface DraftStep extends Omit<PictureStep, 'reads' | 'writes'> {
  /** The operations of the history that it did. */
  readonly places: readonly { readonly transaction: TransactionIndex; readonly operation: number }[];
}

export interface DraftPicture {
  readonly history: History;
  /** Columns. */
  readonly sessions: readonly string[];
  readonly transactions: readonly PictureTransaction[];
  readonly steps: readonly DraftStep[];
  /** Where the transactions of the history are in `transactions`. */
  readonly boxOf: ReadonlyMap<TransactionIndex, number>;
  /** Reads that are stale, as `transaction operation`, where the tool knows; else the order of the commits tells. */
  readonly older: ReadonlySet<string> | null;
}

/** The keys that the run read or wrote, as they were before. */
export function initialOf({ initial, transactions }: History): (readonly [Key, Value])[] {
  const keys = new Set(transactions.flatMap(({ operations }) => operations.map(({ key }) => key)));
  return [...keys].flatMap((key) => {
    const value = initial.get(key) ?? null;
    return value === null ? [] : [[key, value] as const];
  });
}

export function stepsWithReads(draft: DraftPicture): PictureStep[] {
  const sources = writersSeen(draft.history);
  const committed = new Map<Key, TransactionIndex>();
  const hasCommitted = new Set<TransactionIndex>();
  return draft.steps.map(({ places, ...step }, at) => {
    const reads: PictureRead[] = [];
    const writes: PictureWrite[] = [];
    for (const { transaction, operation } of places) {
      const each = draft.history.transactions[transaction]?.operations[operation];
      if (each === undefined) continue;
      const { key, value } = each;
      if (each.kind === 'write') {
        writes.push({ key, value });
        continue;
      }
      const from = sources.get(`${transaction} ${operation}`) ?? each.from ?? INITIAL;
      const isOlder = draft.older?.has(`${transaction} ${operation}`) ?? (committed.get(key) ?? INITIAL) !== from;
      const isOpen = draft.boxOf.has(from) && !hasCommitted.has(from);
      const sight = sightOf({ isOwn: from === transaction, isOlder, isOpen });
      const writer = from === INITIAL ? null : lastWriteOf(draft, from, key, at);
      reads.push({ key, value, condition: each.condition ?? null, from: nameOf(draft.history, from), writer, sight });
    }
    if (step.ends === 'committed') {
      for (const [t, box] of draft.boxOf) {
        if (box !== step.transaction) continue;
        hasCommitted.add(t);
        for (const { kind, key } of draft.history.transactions[t]?.operations ?? [])
          if (kind === 'write') committed.set(key, t);
      }
    }
    return { ...step, reads, writes };
  });
}

function nameOf({ transactions }: History, t: TransactionIndex): string | null {
  return transactions[t]?.id ?? null;
}

/** @param seen is its writer drawn, and had it not committed? */
function sightOf(seen: {
  readonly isOwn: boolean;
  readonly isOlder: boolean;
  readonly isOpen: boolean;
}): PictureRead['sight'] {
  if (seen.isOwn) return 'own';
  if (seen.isOpen) return 'dirty';
  return seen.isOlder ? 'stale' : 'current';
}

/** The last step up to this one in which a transaction wrote a key. */
function lastWriteOf(
  { history, steps }: DraftPicture,
  writer: TransactionIndex,
  key: Key,
  upTo: number,
): number | null {
  const found = steps.findLastIndex(
    ({ places }, i) => i <= upTo && does(history, places, { writer, key, kind: 'write' }),
  );
  return found < 0 ? null : found;
}

function does(
  history: History,
  places: DraftStep['places'],
  {
    writer,
    key,
    kind,
  }: { readonly writer: TransactionIndex; readonly key: Key | undefined; readonly kind: 'read' | 'write' },
): boolean {
  return places.some(({ transaction, operation }) => {
    const each = history.transactions[transaction]?.operations[operation];
    return transaction === writer && each?.kind === kind && each.key === key;
  });
}

/** @param texts a sentence for each edge */
export function pictureEdges(draft: DraftPicture, cycle: readonly Edge[], texts: readonly string[]): PictureEdge[] {
  return cycle.map((edge, i) => {
    const { from, to, relation } = edge;
    const ends = [
      stepOf(draft, edge, from, relation === 'rw' ? 'read' : 'write'),
      stepOf(draft, edge, to, relation === 'wr' ? 'read' : 'write'),
    ];
    return {
      from: draft.boxOf.get(from) ?? null,
      to: draft.boxOf.get(to) ?? null,
      relation,
      text: texts[i] ?? '',
      steps: ends.filter((step) => step >= 0),
    };
  });
}

/** The read that an edge names, or the write of its key; -1: none of the picture. */
function stepOf(
  { history, steps }: DraftPicture,
  edge: Edge,
  transaction: TransactionIndex,
  kind: 'read' | 'write',
): number {
  const { key, operation } = edge;
  const isNamed = kind === 'read' && operation !== undefined;
  return steps.findLastIndex(({ places }) =>
    isNamed
      ? places.some((place) => place.transaction === transaction && place.operation === operation)
      : does(history, places, { writer: transaction, key, kind }),
  );
}
