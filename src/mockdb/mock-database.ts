/**
 * The mock database, key-value, axiomatic family: a read returns any value that keeps the history at its level.
 *
 * MonkeyDB (OOPSLA 2021), section 4: transactions may run one after another and reads still show every behaviour of the level, because
 * the concurrency is in the choice of the write that a read sees. Here they may overlap as well. One thing the paper's two levels do not
 * show: at snapshot isolation and serializable a commit can find that its writes make an earlier, then legal, read illegal (lost update and
 * write skew are just that). The transaction then rolls back without trace: a serialization failure.
 */
import { InputError } from '../base/index.ts';
import {
  copyValue,
  type History,
  INITIAL,
  type Key,
  type Operation,
  type Transaction,
  type TransactionIndex,
  type Value,
} from '../history/index.ts';
import {
  CommitOrders,
  type ConstrainingLevel,
  constrainingLevels,
  type IsolationLevel,
  parseLevel,
} from '../isolation/index.ts';
import type { Store, StoreTransaction } from '../program/index.ts';
import { AxiomaticCore, type AxiomaticTransaction, historyOf, visibleOf } from './axiomatic-core.ts';
import { type Decisions, drawing, type DecisionsOptions, type ReadPoint } from './decisions.ts';
import type { Version } from './strategy.ts';
import { ValueHash } from './value-hash.ts';

export interface MockDatabaseOptions {
  readonly level: ConstrainingLevel;
  /** Initial values; other keys start as `null`. */
  readonly initial?: ReadonlyMap<Key, Value>;
  /** Names for the history; sessions without one are named by their number. */
  readonly sessionNames?: readonly string[];
}

/** A database whose reads draw from `chooser`. `decisions` instead of `chooser` replays or enumerates: see decisions.ts. */
export function mockDatabase(
  options: MockDatabaseOptions & (DecisionsOptions | { readonly decisions: Decisions }),
): MockDatabase {
  const database = new MockDatabase(options);
  database.reset('decisions' in options ? options.decisions : drawing(options));
  return database;
}

export class MockDatabase implements Store {
  readonly #level: ConstrainingLevel;
  readonly #initial: ReadonlyMap<Key, Value>;
  readonly #sessionNames: readonly string[];
  readonly #orders = new CommitOrders();
  readonly #keyIds = new Map<Key, number>();
  readonly #keys: Key[] = [];
  /** Per key, in order of commit, the initial value first: in step with the writers that `#orders` keeps. */
  readonly #versions: Version[][] = [];
  readonly #transactions: MockTransaction[] = [];
  readonly #core = new AxiomaticCore(drawing({ chooser: { choose: () => 0 } }));
  /** Sessions of which a read could see the write of another, and those others. */
  readonly #overlapped = new Set<number>();

  constructor(options: MockDatabaseOptions) {
    this.#level = parseLevel(options.level, constrainingLevels);
    this.#initial = options.initial ?? new Map<Key, Value>();
    this.#sessionNames = options.sessionNames ?? [];
  }

  /** Back to the initial state, with the memory kept; from here `decisions` decides. */
  reset(decisions: Decisions): void {
    this.#orders.reset();
    for (const versions of this.#versions) versions.length = 1;
    this.#transactions.length = 0;
    this.#core.reset();
    this.#overlapped.clear();
    this.#core.decisions = decisions;
  }

  begin(session: number, level: IsolationLevel = this.#level): MockTransaction {
    const node = this.#orders.begin(session, parseLevel(level, constrainingLevels));
    const transaction = new MockTransaction(this, node, session, this.#core.begin(session), level);
    this.#transactions.push(transaction);
    return transaction;
  }

  /** @internal for MockTransaction: a read that no own write answers. */
  externalRead(reader: MockTransaction, key: number, point: ReadPoint): Version {
    const versions = this.#versions[key] as Version[];
    return this.#core.read(this.#orders, reader, key, versions, point, this.#noteOverlap);
  }

  /**
   * Sessions overlap also where they run one after another: in this store, what is left open is which write a read sees. A read that may see or
   * not see the write of another session is a choice between the steps of the two.
   */
  get overlapped(): ReadonlySet<number> {
    return this.#overlapped;
  }

  readonly #noteOverlap = (reader: number, admissible: readonly Version[]): void => {
    const others = admissible.filter(({ session }) => session >= 0 && session !== reader);
    if (others.length === 0) return;
    this.#overlapped.add(reader);
    for (const { session } of others) this.#overlapped.add(session);
  };

  /** @internal for MockTransaction */
  commit(
    writer: MockTransaction,
    keys: readonly number[],
    values: readonly Value[],
  ): 'committed' | 'serialization-failure' {
    if (!this.#core.commits(this.#orders, writer, keys)) {
      this.#core.forget(this.#orders, writer);
      return 'serialization-failure';
    }
    keys.forEach((key, i) => {
      (this.#versions[key] as Version[]).push({
        node: writer.node,
        session: writer.session,
        value: values[i] as Value,
      });
    });
    return 'committed';
  }

  /** Those that were read or written, also before a reset. */
  get keys(): readonly Key[] {
    return this.#keys;
  }

  /** @internal for MockTransaction */
  keyId(key: Key): number {
    let id = this.#keyIds.get(key);
    if (id === undefined) {
      id = this.#keys.length;
      this.#keyIds.set(key, id);
      this.#keys.push(key);
      this.#versions.push([{ node: 0, session: -1, value: this.#initial.get(key) ?? null }]);
    }
    return id;
  }

  /**
   * A final state that some commit order of the history allows, drawn by the decisions: what a serializable observer after all
   * transactions may read. The observer is not part of the history. No transaction may be open, and none may follow.
   */
  finalState(): Record<Key, Value> {
    for (const key of this.#initial.keys()) this.keyId(key);
    const observer = this.#core.sessions;
    const node = this.#orders.beginObserver(observer);
    const reader = new MockTransaction(this, node, observer, 0, 'serializable');
    const keys = this.#keys.filter((key, id) => this.#initial.has(key) || (this.#versions[id] as Version[]).length > 1);
    // Sorted, so that what is drawn does not depend on which run used a key first.
    return Object.fromEntries(keys.toSorted().map((key) => [key, reader.read(key)]));
  }

  /** What happened: committed and aborted transactions in the order in which they began; every read names its writer. */
  history(): History {
    const visible = visibleOf(this.#transactions);
    const indexOf = new Map<number, TransactionIndex>([
      [0, INITIAL],
      ...visible.map((t, i): [number, number] => [t.node, i]),
    ]);
    const operations = (t: MockTransaction): Operation[] =>
      t.operations((node) => indexOf.get(node) as TransactionIndex, this.#keys);
    return { ...historyOf(visible, operations, this.#level, this.#sessionNames), initial: this.#initial };
  }

  /** All transactions of the run that have ended, in the order in which they began, also those whose commit failed, which histories leave out. */
  attempts(): readonly Attempt[] {
    return this.#transactions.flatMap((t): Attempt | [] =>
      t.status === 'open'
        ? []
        : { session: t.session, outcome: t.status, operations: t.operations(() => INITIAL, this.#keys) },
    );
  }

  /** Where `history()` has a read, as positions of its transaction and operation; `null` where its transaction left no trace. */
  placeOf(point: ReadPoint): { readonly transaction: TransactionIndex; readonly operation: number } | null {
    const visible = visibleOf(this.#transactions);
    const transaction = visible.findIndex((t) => t.session === point.session && t.attempt === point.attempt);
    const operation = visible[transaction]?.operationOfRead(point.read) ?? -1;
    return operation < 0 ? null : { transaction, operation };
  }

  /**
   * The client-observable state (MonkeyDB, section 7.3): a hash of the vector of all values that reads returned, session by session.
   * 53 bits: two different vectors among a million collide with a probability of about 1 in 20,000.
   */
  observedState(): number {
    const hashes: ValueHash[] = [];
    for (const t of this.#transactions) {
      if (t.status === 'forgotten') continue;
      hashes[t.session] ??= new ValueHash();
      t.hashReads(hashes[t.session] as ValueHash);
    }
    const whole = new ValueHash();
    for (const hash of hashes) whole.addNumber(hash?.digest() ?? 0);
    return whole.digest();
  }

  /** A commit order of `history()`, by position in its transactions, at the transactions' levels. */
  commitOrder(): TransactionIndex[] {
    const visible = visibleOf(this.#transactions);
    const indexOf = new Map(visible.map((t, i) => [t.node, i]));
    return this.#orders.commitOrder().flatMap((node) => indexOf.get(node) ?? []);
  }
}

/** One try of a transaction. Its reads do not name their writers. */
export interface Attempt {
  readonly session: number;
  /** `forgotten`: its commit failed. */
  readonly outcome: 'committed' | 'aborted' | 'forgotten';
  readonly operations: Transaction['operations'];
}

const OWN = -1;

/** One transaction. A serialization failure takes it back: it leaves no trace in the history. */
class MockTransaction implements StoreTransaction {
  status: AxiomaticTransaction['status'] = 'open';
  readonly node: number;
  readonly session: number;
  readonly level: IsolationLevel;
  /** Which of its session's attempts it is: those that were rolled back count. */
  readonly attempt: number;
  readonly #database: MockDatabase;
  #externalReads = 0;
  /** Its operations, in columns: key, value, and for a read the node it saw (`OWN` for its own write), for a write `undefined`. */
  readonly #operationKeys: number[] = [];
  readonly #operationValues: Value[] = [];
  readonly #operationSources: (number | undefined)[] = [];
  /** Its last write of each key. */
  readonly #writtenKeys: number[] = [];
  readonly #writtenValues: Value[] = [];

  constructor(database: MockDatabase, node: number, session: number, attempt: number, level: IsolationLevel) {
    this.#database = database;
    this.node = node;
    this.session = session;
    this.attempt = attempt;
    this.level = level;
  }

  read(key: Key): Value {
    this.#mustBeOpen();
    const id = this.#database.keyId(key);
    const own = this.#writtenKeys.indexOf(id);
    if (own >= 0) return copyValue(this.#note(id, this.#writtenValues[own] as Value, OWN));
    const point = { session: this.session, attempt: this.attempt, read: this.#externalReads };
    this.#externalReads += 1;
    const version = this.#database.externalRead(this, id, point);
    return copyValue(this.#note(id, version.value, version.node));
  }

  write(key: Key, value: unknown): void {
    this.#mustBeOpen();
    const id = this.#database.keyId(key);
    const copy = this.#note(id, copyWritten(key, value), undefined);
    const own = this.#writtenKeys.indexOf(id);
    if (own < 0) this.#writtenKeys.push(id);
    this.#writtenValues[own < 0 ? this.#writtenKeys.length - 1 : own] = copy;
  }

  commit(): 'committed' | 'serialization-failure' {
    this.#mustBeOpen();
    const outcome = this.#database.commit(this, this.#writtenKeys, this.#writtenValues);
    this.status = outcome === 'committed' ? 'committed' : 'forgotten';
    return outcome;
  }

  abort(): void {
    this.#mustBeOpen();
    this.status = 'aborted';
  }

  operations(indexOf: (node: number) => TransactionIndex, keys: readonly Key[]): Operation[] {
    return this.#operationKeys.map((id, i): Operation => {
      const key = keys[id] as Key;
      const value = this.#operationValues[i] as Value;
      const source = this.#operationSources[i];
      if (source === undefined) return { kind: 'write', key, value };
      return source === OWN ? { kind: 'read', key, value } : { kind: 'read', key, value, from: indexOf(source) };
    });
  }

  /** The position of its n-th external read among its operations; -1 where there is none. */
  operationOfRead(read: number): number {
    const external = (source: number | undefined): boolean => source !== undefined && source !== OWN;
    return [...this.#operationSources.keys()].filter((i) => external(this.#operationSources[i]))[read] ?? -1;
  }

  hashReads(hash: ValueHash): void {
    for (let i = 0; i < this.#operationKeys.length; i += 1) {
      if (this.#operationSources[i] !== undefined) hash.addValue(this.#operationValues[i] as Value);
    }
  }

  #note(key: number, value: Value, source: number | undefined): Value {
    this.#operationKeys.push(key);
    this.#operationValues.push(value);
    this.#operationSources.push(source);
    return value;
  }

  #mustBeOpen(): void {
    if (this.status !== 'open')
      throw new InputError('store/transaction-ended', 'this transaction has ended; its handle cannot be used any more');
  }
}

export type { MockTransaction };

function copyWritten(key: Key, value: unknown): Value {
  try {
    return copyValue(value);
  } catch (error) {
    throw error instanceof InputError ? new InputError(error.code, `write of ${key}: ${error.message}`) : error;
  }
}
