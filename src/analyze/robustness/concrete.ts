import { accessesConflict, exclude, readsWhatIsWritten, type Level, type RowAccess } from './access.ts';

/** A statement: all its accesses take place at one moment. */
export type Statement = readonly ConcreteAccess[];

export interface ConcreteAccess extends RowAccess {
  /** A row of the database, by number. */
  readonly row: number;
  /** Rows that it refers to. Default: not known. */
  readonly parents?: readonly ConcreteParent[];
}

export interface ConcreteParent {
  /** By which column, by number. */
  readonly reference: number;
  readonly row: number;
}

/** A number may stand for several rows, of different parents: as a condition finds the row under each parent that it is asked for. */
export function areOfOneRow(a: ConcreteAccess, b: ConcreteAccess): boolean {
  return a.row === b.row && !haveOtherParents(a, b);
}

function haveOtherParents({ parents: own = [] }: ConcreteAccess, { parents = [] }: ConcreteAccess): boolean {
  return own.some((one) => parents.some(({ reference, row }) => reference === one.reference && row !== one.row));
}

export interface ConcreteTransaction {
  readonly level: Level;
  readonly statements: readonly Statement[];
}

/**
 * A schedule that the levels allow and that no serial order explains: `split` runs its statements up to and including number `after`, the
 * transactions of `between` run one after another, and `split` runs the rest and commits.
 */
export interface SplitSchedule {
  readonly split: number;
  readonly after: number;
  readonly between: readonly number[];
}

/**
 * Is every schedule of these transactions that their levels allow conflict-serializable? `undefined` is yes: the set is robust.
 *
 * After research on allocating isolation levels (Vandevoort, Ketsman, Neven, PODS 2023), recalled, not read: a set is not robust exactly if a split
 * schedule is allowed. Row locks beside writes are ours. What it rests on is the test's comparison with every interleaving.
 * Complexity: O(n^2) comparisons of transactions for each of the n transactions' m statements.
 */
export function findSplitSchedule(transactions: readonly ConcreteTransaction[]): SplitSchedule | undefined {
  const followers = transactions.map((a) => [...transactions.keys()].filter((b) => conflict(a, at(transactions, b))));
  for (const [split, first] of transactions.entries()) {
    // A snapshot is taken with the first statement: to split later would only hold more locks.
    const statements = first.level === 'RC' ? first.statements : first.statements.slice(0, 1);
    for (const after of statements.keys()) {
      const between = chainBetween(transactions, followers, split, after);
      if (between !== undefined) return { split, after, between };
    }
  }
  return undefined;
}

/** A transaction of the chain, and whether the chain's first one is serializable: both decide what SERIALIZABLE refuses. */
interface Link {
  readonly transaction: number;
  readonly isSecondSerializable: boolean;
  readonly before: Link | undefined;
}

/** The shortest chain T2, …, Tm that makes a cycle with the transaction that is split after a statement. */
function chainBetween(
  transactions: readonly ConcreteTransaction[],
  followers: readonly (readonly number[])[],
  split: number,
  after: number,
): readonly number[] | undefined {
  const first = at(transactions, split);
  const mayRun = transactions.map((t, index) => index !== split && runsInside(t, first, after));
  const queue: Link[] = [];
  const seen = new Set<string>();
  const arrive = (transaction: number, isSecondSerializable: boolean, before: Link | undefined): void => {
    const key = `${transaction} ${isSecondSerializable}`;
    if (mayRun[transaction] !== true || seen.has(key)) return;
    seen.add(key);
    queue.push({ transaction, isSecondSerializable, before });
  };
  for (const [index, second] of transactions.entries()) {
    if (mayRun[index] === true && opens(first, after, second)) arrive(index, second.level === 'SSI', undefined);
  }
  for (let link = queue.shift(); link !== undefined; link = queue.shift()) {
    if (closes(first, after, link.isSecondSerializable, at(transactions, link.transaction))) return chainTo(link);
    const isInner = link.before !== undefined;
    if (isInner && followers[split]?.includes(link.transaction) === true) continue;
    for (const follower of followers[link.transaction] ?? []) arrive(follower, link.isSecondSerializable, link);
  }
  return undefined;
}

function chainTo(last: Link): readonly number[] {
  const before = last.before === undefined ? [] : chainTo(last.before);
  return [...before, last.transaction];
}

function at(transactions: readonly ConcreteTransaction[], index: number): ConcreteTransaction {
  return transactions[index] as ConcreteTransaction;
}

function runsInside(t: ConcreteTransaction, first: ConcreteTransaction, after: number): boolean {
  return !somePair(
    t,
    first,
    (access, held, _, heldAt) =>
      (heldAt <= after || first.level !== 'RC') && exclude(access, t.level, held, first.level),
  );
}

/**
 * The split transaction reads what `second` then writes: in the statement that it is split after, or by its snapshot. And they are not part of
 * what SERIALIZABLE refuses.
 */
function opens(first: ConcreteTransaction, after: number, second: ConcreteTransaction): boolean {
  const isOld = (readAt: number): boolean => readAt === after || first.level !== 'RC';
  if (!somePair(first, second, (read, write, readAt) => isOld(readAt) && readsWhatIsWritten(read, write))) return false;
  return !(isSerializable(first, second) && readsWritten(second, first));
}

/** A dependency of `first` on `last`: `last` reads what `first` writes, or `first` at read committed continues after what `last` left. */
function closes(
  first: ConcreteTransaction,
  after: number,
  isSecondSerializable: boolean,
  last: ConcreteTransaction,
): boolean {
  if (isSerializable(first, last) && (isSecondSerializable || readsWritten(first, last))) return false;
  if (readsWritten(last, first)) return true;
  return first.level === 'RC' && somePair(first, last, (a, b, i) => i > after && accessesConflict(a, b));
}

function isSerializable(a: ConcreteTransaction, b: ConcreteTransaction): boolean {
  return a.level === 'SSI' && b.level === 'SSI';
}

function readsWritten(reader: ConcreteTransaction, writer: ConcreteTransaction): boolean {
  return somePair(reader, writer, readsWhatIsWritten);
}

function conflict(a: ConcreteTransaction, b: ConcreteTransaction): boolean {
  return somePair(a, b, accessesConflict);
}

/** Is there a pair of accesses of one row with the relation? Their statements' numbers are given too. */
function somePair(
  a: ConcreteTransaction,
  b: ConcreteTransaction,
  relation: (a: ConcreteAccess, b: ConcreteAccess, aAt: number, bAt: number) => boolean,
): boolean {
  return a.statements.some((aStatement, aAt) =>
    aStatement.some((x) =>
      b.statements.some((bStatement, bAt) => bStatement.some((y) => areOfOneRow(x, y) && relation(x, y, aAt, bAt))),
    ),
  );
}
