/**
 * What the axiomatic stores share, that of keys and values (`mock-database.ts`) and that of SQL, whose keys are cells of rows
 * (`engine/axiomatic`): which committed write a read sees, when a commit fails, and what a session that fails again and again reads.
 *
 * Which writes a level permits is for the commit orders (`isolation`); here one of those is chosen. The stores differ in what they offer: all
 * versions of a key, or the versions of a cell that the window still keeps apart.
 */
import { assert } from '../base/index.ts';
import { defaultId, type History, type Operation, type Transaction } from '../history/index.ts';
import type { CommitOrders, IsolationLevel } from '../isolation/index.ts';
import type { Decisions, ReadPoint } from './decisions.ts';
import type { Version } from './strategy.ts';

/** A transaction as the core knows it. */
export interface AxiomaticTransaction {
  /** In the commit orders. */
  readonly node: number;
  readonly session: number;
  readonly level: IsolationLevel;
  /** `forgotten` after a serialization failure. */
  readonly status: 'open' | 'committed' | 'aborted' | 'forgotten';
}

/**
 * A transaction that was rolled back so often in a row reads the newest writes that it may: a read-modify-write of two keys with thirty
 * writes each would otherwise need 900 attempts to draw the one pair that can commit.
 */
export const FAILURES_BEFORE_NEWEST = 8;

export class AxiomaticCore {
  decisions: Decisions;
  /** Per session: attempts so far. */
  readonly #attempts: number[] = [];
  /** Per session: serialization failures since its last commit. */
  readonly #failuresInARow: number[] = [];

  constructor(decisions: Decisions) {
    this.decisions = decisions;
  }

  /** No session has tried anything. */
  reset(): void {
    this.#attempts.length = 0;
    this.#failuresInARow.length = 0;
  }

  /** One more than the highest number of a session that has begun a transaction. */
  get sessions(): number {
    return this.#attempts.length;
  }

  /** A transaction of the session begins. @returns how many it began before, those that were rolled back too */
  begin(session: number): number {
    const attempt = this.#attempts[session] ?? 0;
    this.#attempts[session] = attempt + 1;
    return attempt;
  }

  /**
   * One of the writes that a read may see, as decided: of a session that insists, the newest of them.
   * @param offered versions of the key, the oldest first
   * @param onChoice called with all that it may see, the newest first
   */
  read<V extends Version>(
    orders: CommitOrders,
    { node, session }: AxiomaticTransaction,
    key: number,
    offered: readonly V[],
    point: ReadPoint,
    onChoice?: (session: number, admissible: readonly V[]) => void,
  ): V {
    const isInsisting = (this.#failuresInARow[session] ?? 0) >= FAILURES_BEFORE_NEWEST;
    const admissible: V[] = [];
    for (let i = offered.length - 1; i >= 0; i -= 1) {
      const version = offered[i] as V;
      if (orders.allowsRead(node, key, version.node)) admissible.push(version);
      if (isInsisting && admissible.length > 0) break;
    }
    assert(admissible.length > 0, `some write of key ${key} may be read`);
    if (admissible.length > 1) onChoice?.(session, admissible);
    const version = admissible[this.decisions.read(admissible, point)] as V;
    orders.read(node, key, version.node);
    return version;
  }

  /**
   * @param isReady what else has to hold; asked where no failure is decided
   * @returns false for a serialization failure: the transaction is to be forgotten
   */
  commits(
    orders: CommitOrders,
    { node, session }: AxiomaticTransaction,
    keys: readonly number[],
    isReady: () => boolean = () => true,
  ): boolean {
    if (this.decisions.failure() || !isReady() || !orders.commit(node, keys)) return false;
    this.#failuresInARow[session] = 0;
    return true;
  }

  /** A serialization failure: the transaction leaves no trace. */
  forget(orders: CommitOrders, { node, session }: AxiomaticTransaction): void {
    orders.forget(node);
    this.#failuresInARow[session] = (this.#failuresInARow[session] ?? 0) + 1;
  }
}

/** Those that histories have, in the order in which they began. */
export function visibleOf<T extends AxiomaticTransaction>(all: readonly T[]): T[] {
  return all.filter(({ status }) => status === 'committed' || status === 'aborted');
}

/**
 * What happened, but the initial state: sessions with a name or a transaction, in the order of their numbers.
 * @param level that of the store: transactions at another one say so
 */
export function historyOf<T extends AxiomaticTransaction>(
  visible: readonly T[],
  operations: (transaction: T) => Operation[],
  level: IsolationLevel,
  sessionNames: readonly string[],
): Omit<History, 'initial'> {
  const numbers = new Set([...sessionNames.keys(), ...visible.map(({ session }) => session)]);
  const sessions = [...numbers].toSorted((a, b) => a - b);
  const names = sessions.map((session) => sessionNames[session] ?? String(session));
  const positionOf = new Map(sessions.map((session, i) => [session, i]));
  const ordinals = sessions.map(() => 0);
  const transactions = visible.map((t): Transaction => {
    const session = positionOf.get(t.session) as number;
    const ordinal = ordinals[session] as number;
    ordinals[session] = ordinal + 1;
    return {
      id: defaultId(names[session] as string, ordinal),
      session,
      status: t.status === 'committed' ? 'committed' : 'aborted',
      operations: operations(t),
      ...(t.level === level ? {} : { level: t.level }),
    };
  });
  return { sessions: names, transactions };
}
