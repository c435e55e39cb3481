/**
 * A history as a text gives it: reads name their writer by ID, and that writer may come later in the text. All text formats
 * end here, so that all of them refuse the same things.
 */
import { InputError, type Place } from '../base/index.ts';
import { type History, INITIAL, type Operation, type Status, type TransactionIndex } from './history.ts';
import type { Key, Value } from './value.ts';

export interface DraftOperation {
  readonly kind: 'read' | 'write';
  readonly key: Key;
  readonly value: Value;
  /** The ID of the transaction whose write a read saw; `null`: it saw the initial state; `undefined`: not recorded. */
  readonly writer: string | null | undefined;
  /** Of a read: the condition of a statement that the row did not satisfy. */
  readonly condition?: string;
}

export interface DraftTransaction {
  readonly id: string;
  readonly session: number;
  readonly status: Status;
  readonly operations: readonly DraftOperation[];
  readonly start?: number;
  readonly end?: number;
  readonly level?: string;
}

export interface Draft {
  readonly sessions: readonly string[];
  readonly transactions: readonly DraftTransaction[];
  readonly initial: ReadonlyMap<Key, Value>;
}

/** Asked only when something is wrong there. */
export interface DraftPlaces {
  readonly ofId: (transaction: TransactionIndex) => Place;
  readonly ofWriter: (transaction: TransactionIndex, operation: number) => Place;
}

/**
 * The history that a draft means. What its reads saw is for `relationsOf`.
 * @throws InputError `history/duplicate-id`, `history/unknown-writer`
 */
export function historyOf(draft: Draft, places: DraftPlaces): History {
  const indexes = indexById(draft, places);
  const operationOf = (drafted: DraftOperation, place: () => Place): Operation => {
    const { kind, key, value, writer } = drafted;
    if (kind === 'write') return { kind, key, value };
    const condition = drafted.condition === undefined ? {} : { condition: drafted.condition };
    if (writer === undefined) return { kind, key, value, ...condition };
    const from = writer === null ? INITIAL : indexes.get(writer);
    if (from !== undefined) return { kind, key, value, from, ...condition };
    throw new InputError('history/unknown-writer', `no transaction has the ID ${JSON.stringify(writer)}`, place());
  };
  return {
    sessions: draft.sessions,
    transactions: draft.transactions.map((transaction, t) => ({
      ...transaction,
      operations: transaction.operations.map((drafted, o) => operationOf(drafted, () => places.ofWriter(t, o))),
    })),
    initial: draft.initial,
  };
}

function indexById(draft: Draft, places: DraftPlaces): ReadonlyMap<string, TransactionIndex> {
  const indexes = new Map<string, TransactionIndex>();
  draft.transactions.forEach(({ id }, t) => {
    if (indexes.has(id)) {
      throw new InputError(
        'history/duplicate-id',
        `two transactions have the ID ${JSON.stringify(id)}`,
        places.ofId(t),
      );
    }
    indexes.set(id, t);
  });
  return indexes;
}
