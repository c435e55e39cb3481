/**
 * A small database that works by mechanisms, one event at a time: the definition that the verifier is compared with. It shares no code
 * with the verifier. An event happens at one moment inside its operation's interval.
 */
import type { RowImage, TraceOperation } from '../trace/trace.ts';
import type { Mechanisms } from './mechanisms.ts';

export interface Event {
  readonly operation: TraceOperation;
  readonly kind: 'snapshot' | 'read' | 'write' | 'commit' | 'abort' | 'savepoint' | 'rollback-to' | 'release';
  /** The row, or the name of the savepoint. */
  readonly key: string;
  /** What was read or is written; undefined: whatever there is. */
  readonly image: RowImage | undefined;
}

interface Version {
  readonly writer: string | null;
  readonly image: RowImage;
  /** Is it a new row, where the one before was deleted? */
  readonly isNew: boolean;
}

interface Own {
  readonly image: RowImage;
  readonly isNew: boolean;
  /** Was there no row when it was written first? Then nobody's version was updated. */
  readonly isInserted: boolean;
}

interface Savepoint {
  readonly name: string;
  readonly own: ReadonlyMap<string, Own>;
  /** How many locks the transaction held on each row. */
  readonly locks: ReadonlyMap<string, number>;
  /** Was nothing read or written before it? */
  readonly isFirst: boolean;
}

interface Transaction {
  snapshot: ReadonlyMap<string, number> | null;
  snapshotAt: number;
  own: Map<string, Own>;
  savepoints: readonly Savepoint[];
  /** Has it read or written? */
  hasBegun: boolean;
  /** Versions by their position in the row. */
  readonly reads: { readonly key: string; readonly index: number }[];
  committedAt: number;
}

export class Model {
  readonly mechanisms: Mechanisms;
  readonly rows = new Map<string, Version[]>();
  readonly locks = new Map<string, { readonly transaction: string; readonly isExclusive: boolean }[]>();
  readonly transactions = new Map<string, Transaction>();
  #events = 0;

  constructor(mechanisms: Mechanisms, initial: Iterable<readonly [string, RowImage]>) {
    this.mechanisms = mechanisms;
    for (const [key, image] of initial) this.rows.set(key, [{ writer: null, image, isNew: false }]);
  }

  copy(): Model {
    const copy = new Model(this.mechanisms, []);
    for (const [key, versions] of this.rows) copy.rows.set(key, [...versions]);
    for (const [key, locks] of this.locks) copy.locks.set(key, [...locks]);
    for (const [name, { own, reads, ...rest }] of this.transactions)
      copy.transactions.set(name, { ...rest, own: new Map(own), reads: [...reads] });
    copy.#events = this.#events;
    return copy;
  }

  transaction(name: string): Transaction {
    const known = this.transactions.get(name);
    if (known !== undefined) return known;
    const empty = { own: new Map(), savepoints: [], hasBegun: false, reads: [] };
    const created: Transaction = { ...empty, snapshot: null, snapshotAt: 0, committedAt: Infinity };
    this.transactions.set(name, created);
    return created;
  }

  /** What the read sees at this moment. */
  see({ operation, key }: Event): RowImage {
    return this.#find(operation, key).image;
  }

  /** Must the event wait for a lock? */
  isBlocked(event: Event): boolean {
    const name = event.operation.transaction;
    return this.#lockedBy(event).some(({ key, isExclusive }) =>
      (this.locks.get(key) ?? []).some((lock) => lock.transaction !== name && (lock.isExclusive || isExclusive)),
    );
  }

  /** @returns whether the mechanisms let it happen now, with what was seen */
  step(event: Event): boolean {
    this.#events += 1;
    const { operation, kind, key, image } = event;
    const name = operation.transaction;
    const transaction = this.transaction(name);
    if (this.isBlocked(event)) return false;
    if (kind === 'read' || kind === 'write') transaction.hasBegun = true;
    for (const lock of this.#lockedBy(event)) {
      const held = this.locks.get(lock.key) ?? [];
      this.locks.set(lock.key, [...held, { transaction: name, isExclusive: lock.isExclusive }]);
    }
    switch (kind) {
      case 'snapshot':
        transaction.snapshot = new Map([...this.rows].map(([row, versions]) => [row, versions.length]));
        transaction.snapshotAt = this.#events;
        return true;
      case 'read':
        return this.#read(transaction, event);
      case 'write':
        this.#write(transaction, key, image as RowImage);
        return true;
      case 'commit':
        return this.#commit(name, transaction);
      case 'abort':
        transaction.own.clear();
        this.#release(name);
        return true;
      case 'savepoint':
        transaction.savepoints = [
          ...transaction.savepoints,
          { name: key, own: new Map(transaction.own), locks: this.#heldBy(name), isFirst: !transaction.hasBegun },
        ];
        return true;
      case 'rollback-to':
      case 'release':
        this.#unwind(name, transaction, event);
        return true;
    }
  }

  /** May what has committed so far have committed? */
  isCertified(): boolean {
    switch (this.mechanisms.certifier) {
      case null:
      case 'percolator':
        return true;
      case 'ssi':
        return !this.#hasDangerousStructure();
      case 'optimistic':
        return !this.#hasStaleWriter();
      default:
        return !this.#hasCycle();
    }
  }

  #lockedBy({ operation, kind, key }: Event): { readonly key: string; readonly isExclusive: boolean }[] {
    const { mutualExclusion, lockedUnit } = this.mechanisms;
    if (mutualExclusion === 'none') return [];
    if (kind === 'write')
      return [{ key, isExclusive: true }, ...(lockedUnit === 'database' ? [{ key: '', isExclusive: true }] : [])];
    if (kind !== 'read' || operation.kind === 'write') return [];
    if (this.#find(operation, key).image === null) return this.#lockedAbsent(operation, key);
    if (operation.lock !== null) return [{ key, isExclusive: operation.lock === 'update' }];
    return mutualExclusion === 'reads-and-writes' ? [{ key, isExclusive: false }] : [];
  }

  /** A row that is not there has no lock, but for the gap in which it would be: others may lock that too, and insert nothing. */
  #lockedAbsent({ lock }: TraceOperation, key: string): { readonly key: string; readonly isExclusive: boolean }[] {
    const { mutualExclusion, predicateLocks } = this.mechanisms;
    const isLocking = lock !== null || mutualExclusion === 'reads-and-writes';
    return isLocking && predicateLocks ? [{ key, isExclusive: false }] : [];
  }

  #write({ own }: Transaction, key: string, image: RowImage): void {
    const mine = own.get(key);
    const isInserted = mine?.isInserted ?? this.rows.get(key)?.at(-1)?.image === null;
    const isNew = isInserted || mine?.isNew === true || mine?.image === null;
    own.set(key, { image, isNew, isInserted });
  }

  #find(operation: TraceOperation, key: string): { readonly image: RowImage; readonly index: number } {
    const transaction = this.transaction(operation.transaction);
    const own = transaction.own.get(key);
    if (own !== undefined) return { image: own.image, index: -1 };
    const versions = this.rows.get(key) ?? [];
    if (this.mechanisms.consistentRead === 'uncommitted' && !isLockingRead(operation)) {
      const dirty = this.#uncommitted(key);
      if (dirty !== undefined) return { image: dirty, index: -1 };
    }
    if (this.mechanisms.lockingReads === 'followed' && isLockingRead(operation)) {
      const since = versions.slice(transaction.snapshot?.get(key) ?? versions.length);
      if (since.some(({ image, isNew }) => image === null || isNew)) return { image: null, index: -1 };
    }
    const isLatest = seesLatest(this.mechanisms, operation) || transaction.snapshot === null;
    const index = (isLatest ? versions.length : (transaction.snapshot?.get(key) ?? 1)) - 1;
    return { image: versions[index]?.image ?? null, index };
  }

  /** What an open transaction has written: one at most, for it has the lock. */
  #uncommitted(key: string): RowImage | undefined {
    for (const { own, committedAt } of this.transactions.values())
      if (committedAt === Infinity && own.has(key)) return own.get(key)?.image;
    return undefined;
  }

  #read(transaction: Transaction, { operation, key, image }: Event): boolean {
    const found = this.#find(operation, key);
    const isFound = image === undefined || found.image === image;
    if (!isFound) return this.#readBeside(transaction, key, image);
    if (found.index >= 0) transaction.reads.push({ key, index: found.index });
    return true;
  }

  /** What it has inserted is another row than the one that its snapshot has under the key. */
  #readBeside(transaction: Transaction, key: string, image: RowImage | undefined): boolean {
    const { firstUpdaterWins, certifier } = this.mechanisms;
    if (!firstUpdaterWins || certifier !== null || transaction.own.get(key)?.isInserted !== true) return false;
    const index = (transaction.snapshot?.get(key) ?? 0) - 1;
    if (image === null || this.rows.get(key)?.[index]?.image !== image) return false;
    transaction.reads.push({ key, index });
    return true;
  }

  #commit(name: string, transaction: Transaction): boolean {
    const { firstUpdaterWins, certifier } = this.mechanisms;
    if (firstUpdaterWins || certifier === 'percolator') {
      for (const [key, { isInserted }] of transaction.own) {
        if (isInserted && firstUpdaterWins) continue;
        if ((this.rows.get(key) ?? []).length !== (transaction.snapshot?.get(key) ?? 0)) return false;
      }
    }
    for (const [key, { image, isNew }] of transaction.own) this.rows.get(key)?.push({ writer: name, image, isNew });
    transaction.committedAt = this.#events;
    this.#release(name);
    return this.isCertified();
  }

  #heldBy(name: string): ReadonlyMap<string, number> {
    return new Map(
      [...this.locks].map(([key, locks]) => [key, locks.filter(({ transaction }) => transaction === name).length]),
    );
  }

  #unwind(name: string, transaction: Transaction, { kind, key }: Event): void {
    const at = transaction.savepoints.findLastIndex((savepoint) => savepoint.name === key);
    const savepoint = transaction.savepoints[at];
    if (savepoint === undefined) throw new Error(`there is no savepoint ${key}`);
    transaction.savepoints = transaction.savepoints.slice(0, kind === 'release' ? at : at + 1);
    if (kind === 'release') return;
    transaction.own = new Map(savepoint.own);
    if (this.mechanisms.savepointLocks === 'kept' && savepoint.isFirst) {
      transaction.hasBegun = false;
      transaction.snapshot = null;
      transaction.reads.length = 0;
      this.#release(name);
    }
    if (this.mechanisms.savepointLocks === 'kept') return;
    for (const [row, locks] of this.locks) {
      let left = savepoint.locks.get(row) ?? 0;
      this.locks.set(
        row,
        locks.filter((lock) => lock.transaction !== name || (left -= 1) >= 0),
      );
    }
  }

  #release(name: string): void {
    for (const [key, locks] of this.locks) {
      this.locks.set(
        key,
        locks.filter(({ transaction }) => transaction !== name),
      );
    }
  }

  #committed(): [string, Transaction][] {
    return [...this.transactions].filter(([, { committedAt }]) => committedAt < Infinity);
  }

  /** Pairs of a reader and a writer of a later version. */
  #antiDependencies(): [string, string][] {
    return this.#committed().flatMap(([name, { reads }]) =>
      reads.flatMap(({ key, index }) =>
        (this.rows.get(key) ?? [])
          .slice(index + 1)
          .flatMap(({ writer }): [string, string][] => (writer === null || writer === name ? [] : [[name, writer]])),
      ),
    );
  }

  /** To the next version only: what comes after it is no conflict that the engine sees. Who deletes a row has read that it is gone. */
  #directAntiDependencies(): [string, string][] {
    const edges: [string, string][] = [];
    const connect = (from: string, to: string | null | undefined): void => {
      if (typeof to === 'string' && to !== from) edges.push([from, to]);
    };
    for (const [name, { reads }] of this.#committed())
      for (const { key, index } of reads) connect(name, this.rows.get(key)?.[index + 1]?.writer);
    for (const versions of this.rows.values())
      for (const [i, { writer, image }] of versions.entries())
        if (writer !== null && image === null) connect(writer, versions[i + 1]?.writer);
    return edges;
  }

  #hasDangerousStructure(): boolean {
    const edges = this.#directAntiDependencies();
    return edges.some(([first, pivot]) =>
      edges.some(([from, last]) => {
        if (from !== pivot) return false;
        const [t1, t2, t3] = [first, pivot, last].map((name) => this.transaction(name)) as [
          Transaction,
          Transaction,
          Transaction,
        ];
        if (first === last) return true;
        if (t3.committedAt > t1.committedAt || t3.committedAt > t2.committedAt) return false;
        return t1.own.size > 0 || t3.committedAt < t1.snapshotAt;
      }),
    );
  }

  #hasStaleWriter(): boolean {
    return (
      this.#hasCycle() ||
      this.#antiDependencies().some(([reader, writer]) => {
        const [from, to] = [this.transaction(reader), this.transaction(writer)];
        return from.own.size > 0 && to.committedAt < from.committedAt;
      })
    );
  }

  #hasCycle(): boolean {
    const edges = this.#antiDependencies();
    for (const [name, { reads }] of this.#committed()) {
      for (const { key, index } of reads) {
        const writer = this.rows.get(key)?.[index]?.writer;
        if (typeof writer === 'string' && writer !== name) edges.push([writer, name]);
      }
    }
    for (const versions of this.rows.values()) {
      versions.forEach(({ writer }, i) => {
        const next = versions[i + 1]?.writer;
        if (writer !== null && typeof next === 'string' && next !== writer) edges.push([writer, next]);
      });
    }
    let left = this.#committed().map(([name]) => name);
    for (;;) {
      const rest = left.filter((name) => edges.some(([from, to]) => to === name && left.includes(from)));
      if (rest.length === left.length) return left.length > 0;
      left = rest;
    }
  }
}

function seesLatest({ lockingReads, consistentRead }: Mechanisms, operation: TraceOperation): boolean {
  if (consistentRead === 'row' || consistentRead === 'uncommitted') return true;
  return lockingReads !== 'as-plain' && isLockingRead(operation);
}

function isLockingRead({ kind, lock }: TraceOperation): boolean {
  return kind === 'write' || lock !== null;
}

/** The events of an operation in their order, given those of its transaction before it. */
export function eventsOf(
  mechanisms: Mechanisms,
  operation: TraceOperation,
  earlier: readonly TraceOperation[],
): Event[] {
  const { kind, reads, writes, failed } = operation;
  if (kind === 'commit' || kind === 'abort')
    return [{ operation, kind: failed ? 'abort' : kind, key: '', image: undefined }];
  const taken: Event = { operation, kind: 'snapshot', key: '', image: undefined };
  const snapshot = takesSnapshot(mechanisms, operation, earlier) ? [taken] : [];
  if (kind === 'savepoint' || kind === 'rollback-to' || kind === 'release')
    return [...snapshot, { operation, kind, key: operation.savepoint ?? '', image: undefined }];
  return [
    ...snapshot,
    ...reads.map(({ key, image }): Event => ({ operation, kind: 'read', key, image })),
    ...writes.map(({ key, image }): Event => ({ operation, kind: 'write', key, image })),
  ];
}

function takesSnapshot(mechanisms: Mechanisms, operation: TraceOperation, all: readonly TraceOperation[]): boolean {
  const earlier = mechanisms.savepointLocks === 'kept' ? sinceItBeganAnew(all) : all;
  const isPlainRead = ({ kind, lock }: TraceOperation): boolean =>
    kind === 'read' && (lock === null || mechanisms.lockingReads === 'as-plain');
  switch (mechanisms.consistentRead) {
    case 'statement':
      return isStatement(operation) && (mechanisms.lockingReads === 'followed' || !seesLatest(mechanisms, operation));
    case 'begin':
      return earlier.length === 0;
    case 'first-statement':
    case 'transaction': // a correct choice among those that the mechanism leaves
      return isStatement(operation) && !earlier.some(isStatement);
    case 'first-read':
      return isPlainRead(operation) && !earlier.some(isPlainRead);
    default:
      return false;
  }
}

/** Without what a rollback to a savepoint takes back that was set before the first statement. */
function sinceItBeganAnew(operations: readonly TraceOperation[]): readonly TraceOperation[] {
  let [from, hasBegun] = [0, false];
  let savepoints: { readonly name: string | undefined; readonly isFirst: boolean }[] = [];
  for (const [i, operation] of operations.entries()) {
    const { kind, savepoint: name } = operation;
    if (isStatement(operation)) hasBegun = true;
    if (kind === 'savepoint') savepoints.push({ name, isFirst: !hasBegun });
    const at = savepoints.findLastIndex((savepoint) => savepoint.name === name);
    if (kind === 'release') savepoints = savepoints.slice(0, at);
    if (kind !== 'rollback-to') continue;
    savepoints = savepoints.slice(0, at + 1);
    if (savepoints[at]?.isFirst === true) [from, hasBegun] = [i + 1, false];
  }
  return operations.slice(from);
}

/** Does it look at rows, or does it only say where the transaction is? */
function isStatement({ kind }: TraceOperation): boolean {
  return kind === 'read' || kind === 'write';
}

/** Is there a choice of moments, one for each event within its interval, that the mechanisms allow? Exponential. */
export function isExplainable(
  mechanisms: Mechanisms,
  operations: readonly TraceOperation[],
  initial: Iterable<readonly [string, RowImage]>,
): boolean {
  const sessions = new Map<string, Event[]>();
  const before = new Map<string, TraceOperation[]>();
  for (const operation of operations) {
    const earlier = before.get(operation.transaction) ?? [];
    const events = sessions.get(operation.session) ?? [];
    sessions.set(operation.session, [...events, ...eventsOf(mechanisms, operation, earlier)]);
    before.set(operation.transaction, [...earlier, operation]);
  }
  return place(new Model(mechanisms, initial), [...sessions.values()], 0);
}

function place(model: Model, sessions: readonly (readonly Event[])[], depth: number): boolean {
  const heads = sessions.filter((events) => events.length > 0);
  if (heads.length === 0) return true;
  const limit = Math.min(...heads.map(([event]) => (event as Event).operation.end));
  return heads.some((events) => {
    const [event] = events;
    if (event === undefined || event.operation.start > limit) return false;
    const next = model.copy();
    if (!next.step(event)) return false;
    return place(
      next,
      sessions.map((other) => (other === events ? other.slice(1) : other)),
      depth + 1,
    );
  });
}
