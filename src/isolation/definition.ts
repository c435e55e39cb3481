/**
 * The definition of the isolation levels. Slow, literal, the one every algorithm answers to.
 *
 * A history is at a level when some strict total order on its transactions, the commit order co, contains so and wr, and
 *
 *     for all keys x, transactions t1 != t2, reads a of x by t3:
 *         wr(t1, a)  and  t2 writes x  and  visible(t2, a)   implies   co(t2, t1)
 *
 * where `visible` is the level's (with mixed levels: that of the level of t3, which reads). MonkeyDB (OOPSLA 2021), section 3.2,
 * formula (1); the rows for read-atomic, prefix and snapshot-isolation: Biswas and Enea, OOPSLA 2019.
 *
 * Two levels frame the chain. read-uncommitted asks nothing: without the version order, a client cannot see a dirty write. Among
 * transactions of other levels its reads are as if they were not there, for they may have seen what never happened.
 * strict-serializable is serializable by a commit order that also respects real time.
 */
import { assert, InputError } from '../base/index.ts';
import {
  type ExternalRead,
  type History,
  INITIAL,
  nameOf,
  type Relations,
  type RelationsOptions,
  relationsOf,
  type TransactionIndex,
} from '../history/index.ts';
import { type IsolationLevel, type LevelOf, type Levels, levelOfEach } from './level.ts';

/** What `visible` may ask: the relations of the history and an order of its transactions, total or partial. */
export interface Execution extends Relations {
  readonly co: (a: TransactionIndex, b: TransactionIndex) => boolean;
}

type Visible = (e: Execution, t2: TransactionIndex, read: ExternalRead) => boolean;

/** Must the write of t2 be ordered before the write that this read saw? All rows are positive in co, hence monotone in it. */
export const visible: Record<IsolationLevel, Visible> = {
  'read-uncommitted': () => false,
  'read-committed': (e, t2, read) => e.readsOf(read.by).some((b) => b.operation < read.operation && b.from === t2),
  'read-atomic': (e, t2, read) => soOrWr(e, t2, read.by),
  causal: (e, t2, read) => soOrWrClosure(e, t2, read.by),
  prefix: (e, t2, read) => soOrWrBefore(e, read.by).some((t4) => coOrSame(e, t2, t4)),
  'snapshot-isolation': (e, t2, read) =>
    visible.prefix(e, t2, read) || conflicting(e, read.by).some((t4) => coOrSame(e, t2, t4) && e.co(t4, read.by)),
  serializable: (e, t2, read) => e.co(t2, read.by),
  'strict-serializable': (e, t2, read) => e.co(t2, read.by),
};

/** `visible`, row by row, for people. */
export const visibleInWords: Record<IsolationLevel, string> = {
  'read-uncommitted': 'never',
  'read-committed': 'an earlier read of t3 saw a write of t2',
  'read-atomic': 't2 is before t3 in their session, or t3 reads from t2',
  causal: 't2 is before t3 by a chain of such steps',
  prefix: 't2 is, or is committed before, a transaction that is before t3 in its session or that t3 reads from',
  'snapshot-isolation':
    'as for prefix, or t2 is, or is committed before, a transaction that is committed before t3 and writes a key that t3 writes',
  serializable: 't2 is committed before t3',
  'strict-serializable': 'as for serializable, and what ended before t3 started is committed before t3',
};

/**
 * Is `history` at `level`, by this commit order?
 * @param commitOrder the members of the history (`Relations.members`), each once
 */
export function satisfies(
  history: History,
  commitOrder: readonly TransactionIndex[],
  level: Levels,
  options: RelationsOptions = {},
): boolean {
  const levelOf = levelOfEach(level);
  return satisfiedBy(knownRelations(history, levelOf, options), commitOrder, levelOf);
}

/**
 * `bindingRelations` of a history in which wr is known.
 * @throws InputError `history/duplicate-write`
 */
export function knownRelations(history: History, levelOf: LevelOf, options: RelationsOptions = {}): Relations {
  const relations = bindingRelations(history, levelOf, options);
  const [read] = relations.ambiguous;
  if (read === undefined) return relations;
  const value = JSON.stringify(history.transactions[read.by]?.operations[read.operation]?.value);
  const writers = read.candidates.map((t) => nameOf(history, t)).join(' and ');
  throw new InputError(
    'history/duplicate-write',
    `${nameOf(history, read.by)} reads ${read.key} = ${value}, which ${writers} wrote: record the writer that the read saw`,
  );
}

/** The relations of what binds: without the reads of read-uncommitted transactions. */
export function bindingRelations(history: History, levelOf: LevelOf, options: RelationsOptions = {}): Relations {
  const relations = relationsOf(history, options);
  if (relations.members.every((t) => levelOf(t) !== 'read-uncommitted')) return relations;
  const transactions = history.transactions.map((transaction, t) => {
    if (levelOf(t) !== 'read-uncommitted') return transaction;
    return { ...transaction, operations: transaction.operations.filter(({ kind }) => kind === 'write') };
  });
  return relationsOf({ ...history, transactions }, options);
}

/** `satisfies` for relations at hand. */
export function satisfiedBy(relations: Relations, commitOrder: readonly TransactionIndex[], levelOf: LevelOf): boolean {
  const co = totalOrder(relations, commitOrder);
  const e: Execution = { ...relations, co };
  return (
    e.phenomena.length === 0 &&
    containsBaseOrder(e, levelOf) &&
    e.reads.every((read) =>
      e
        .writersOf(read.key)
        // co is the cheaper one to ask.
        .every((t2) => t2 === read.from || co(t2, read.from) || !visible[levelOf(read.by)](e, t2, read)),
    )
  );
}

function totalOrder(relations: Relations, commitOrder: readonly TransactionIndex[]): Execution['co'] {
  const position = new Map(commitOrder.map((t, i) => [t, i]));
  assert(
    commitOrder.length === relations.members.length && relations.members.every((t) => position.has(t)),
    `a commit order of [${relations.members.join(' ')}] cannot be [${commitOrder.join(' ')}]`,
  );
  position.set(INITIAL, -1);
  return (a, b) => (position.get(a) ?? NaN) < (position.get(b) ?? NaN);
}

/** so and wr are in co; so is real time before a strict-serializable transaction. */
function containsBaseOrder(e: Execution, levelOf: LevelOf): boolean {
  const mustPrecede = (a: TransactionIndex, b: TransactionIndex): boolean =>
    e.so(a, b) || (levelOf(b) === 'strict-serializable' && e.realTime(a, b));
  return (
    e.reads.every(({ from, by }) => e.co(from, by)) &&
    e.members.every((a) => e.members.every((b) => e.co(a, b) || !mustPrecede(a, b)))
  );
}

export function soOrWr(e: Relations, a: TransactionIndex, b: TransactionIndex): boolean {
  return e.so(a, b) || e.wr(a, b);
}

/** (a, b) in (so U wr)+ */
function soOrWrClosure(e: Relations, a: TransactionIndex, b: TransactionIndex): boolean {
  return causalPast(e, b).has(a);
}

/** Of a transaction, kept with the members of its history: the definition asks for it once a read and writer. */
function kept<T>(find: (e: Relations, t: TransactionIndex) => T): (e: Relations, t: TransactionIndex) => T {
  const known = new WeakMap<readonly TransactionIndex[], Map<TransactionIndex, T>>();
  return (e, t) => {
    let found = known.get(e.members);
    if (found === undefined) known.set(e.members, (found = new Map()));
    const before = found.get(t);
    if (before !== undefined) return before;
    const now = find(e, t);
    found.set(t, now);
    return now;
  };
}

/** The members t4 with (t4, t) in so U wr. */
const soOrWrBefore = kept((e, t) => e.members.filter((t4) => soOrWr(e, t4, t)));

/** The members that write a key that t writes. */
const conflicting = kept((e, t) => e.members.filter((t4) => writeSameKey(e, t4, t)));

/** Found backwards from b. */
const causalPast = kept((e, b): ReadonlySet<TransactionIndex> => {
  const past = new Set<TransactionIndex>();
  const queue = [b];
  for (let t = queue.pop(); t !== undefined; t = queue.pop()) {
    if (t === INITIAL) continue;
    for (const before of [previousOf(e, t), ...e.readsOf(t).map(({ from }) => from)]) {
      if (past.has(before)) continue;
      past.add(before);
      queue.push(before);
    }
  }
  return past;
});

/** The last member before t in so. */
const previousOf = kept((e, t) => e.members.findLast((other) => e.so(other, t)) ?? INITIAL);

const coOrSame = (e: Execution, a: TransactionIndex, b: TransactionIndex): boolean => a === b || e.co(a, b);

function writeSameKey(e: Relations, a: TransactionIndex, b: TransactionIndex): boolean {
  return [...e.keysWrittenBy(a)].some((key) => e.writes(b, key));
}
