/**
 * Is a history at a level? The incremental constraints decide; evidence is then built for people and for `certify`.
 * For histories of up to some hundred transactions: the order is a bit matrix.
 */
import { assert, type TimeLimit, unlimited } from '../base/index.ts';
import {
  type History,
  INITIAL,
  type ReadPhenomenon,
  type Relations,
  type RelationsOptions,
  type TransactionIndex,
} from '../history/index.ts';
import { chooseCycle, nameCycle, readAnomalies } from './anomaly.ts';
import { CommitOrders } from './commit-orders.ts';
import { type ConstrainingLevel, constrainingLevels } from './observations.ts';
import { bindingRelations, satisfiedBy, soOrWr } from './definition.ts';
import { dependencyCycles } from './dependency-cycle.ts';
import {
  type IsolationLevel,
  isolationLevels,
  isStrongerOrEqual,
  type LevelOf,
  type Levels,
  levelOfEach,
} from './level.ts';
import { refute } from './refutation.ts';
import type { Verdict, Violated } from './verdict.ts';
import { checkChoices, onlyResolved } from './writer-choices.ts';

export interface CheckOptions extends RelationsOptions {
  /** Decisions that the search may take. Default 100,000. */
  readonly stepsMax?: number;
  /** When it is over, `check` throws: for a caller that catches it (`within` of src/base). Default: none. */
  readonly limit?: TimeLimit;
  /** Choices of writers to try where several transactions wrote what a read saw. Default 1,000. */
  readonly writerChoicesMax?: number;
}

/**
 * Where several transactions wrote the value that a read saw, the history is at the level if it is for some choice of the writer.
 * @param level one level, or each transaction's own
 */
export function check(history: History, level: Levels, options: CheckOptions = {}): Verdict {
  const levelOf = levelOfEach(level);
  const relations = bindingRelations(history, levelOf, options);
  const phenomenon = firstPhenomenon(relations);
  if (phenomenon !== undefined) return { kind: 'violated', anomaly: phenomenon.kind, cycle: [], read: phenomenon };
  if (relations.ambiguous.length > 0) {
    const checkResolved = (resolved: History): Verdict => check(resolved, level, { ...options, ...onlyResolved });
    return checkChoices(history, relations.ambiguous, checkResolved, {
      choicesMax: options.writerChoicesMax ?? 1_000,
      limit: options.limit ?? unlimited,
    });
  }
  const outcome = searchCommitOrder(relations, levelOf, options);
  if (outcome === 'violated') return violated(relations, levelOf, options);
  if (outcome === 'unknown') return { kind: 'unknown', reason: 'step-limit' };
  if (lacksTimes(relations, levelOf)) return { kind: 'unknown', reason: 'missing-times' };
  assert(satisfiedBy(relations, outcome, levelOf), `the commit order ${outcome.join(' ')} must satisfy the definition`);
  return { kind: 'satisfied', commitOrder: outcome };
}

/** The strongest level at which the history is; `read-uncommitted` asks nothing, so there always is one. */
export function strongestLevel(history: History, options: CheckOptions = {}): IsolationLevel {
  return isolationLevels.findLast((level) => check(history, level, options).kind === 'satisfied') ?? 'read-uncommitted';
}

/** The weakest level, up to serializable, that forbids the history, with its verdict; `null` when the history is serializable. */
export function weakestViolation(
  history: History,
  options: CheckOptions = {},
): { readonly level: IsolationLevel; readonly verdict: Violated } | null {
  for (const level of isolationLevels) {
    if (level === 'strict-serializable') break;
    const verdict = check(history, level, options);
    if (verdict.kind === 'violated') return { level, verdict };
  }
  return null;
}

/** The first in the catalogue, so that the order of sessions does not decide. */
function firstPhenomenon({ phenomena }: Relations): ReadPhenomenon | undefined {
  const kinds = Object.keys(readAnomalies);
  return phenomena.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))[0];
}

/**
 * strict-serializable without times is a claim that the history can refute (as serializable) but not confirm. Of a transaction of
 * unknown fate has no known end.
 */
function lacksTimes({ history, members }: Relations, levelOf: LevelOf): boolean {
  const lacks = (t: TransactionIndex): boolean => {
    const { start, end, status } = history.transactions[t];
    return start === undefined || (end === undefined && status !== 'unknown');
  };
  return members.some((t) => levelOf(t) === 'strict-serializable') && members.some(lacks);
}

function searchCommitOrder(
  relations: Relations,
  levelOf: LevelOf,
  { stepsMax, limit }: CheckOptions,
): TransactionIndex[] | 'violated' | 'unknown' {
  const sorted = topologicalOrder(relations);
  if (sorted === null) return 'violated';
  const orders = new CommitOrders({
    ...(stepsMax === undefined ? {} : { stepsMax }),
    ...(limit === undefined ? {} : { limit }),
  });
  const keys = new Map<string, number>();
  const keyId = (key: string): number => keys.get(key) ?? (keys.set(key, keys.size), keys.size - 1);
  const nodeOf = new Map<TransactionIndex, number>([[INITIAL, 0]]);
  for (const t of sorted) {
    const level = levelOf(t);
    const session = relations.history.transactions[t]?.session ?? 0;
    const node = orders.observed.begin(session, constraining(level));
    nodeOf.set(t, node);
    for (const read of relations.readsOf(t))
      orders.observed.addRead(node, keyId(read.key), nodeOf.get(read.from) as number);
    orders.observed.addWrites(node, [...relations.keysWrittenBy(t)].map(keyId));
  }
  const realTime = sorted
    .filter((b) => levelOf(b) === 'strict-serializable')
    .flatMap((b) =>
      sorted
        .filter((a) => relations.realTime(a, b))
        .map((a): [number, number] => [nodeOf.get(a) as number, nodeOf.get(b) as number]),
    );
  if (!orders.rebuild(realTime)) return orders.gaveUp ? 'unknown' : 'violated';
  return orders.commitOrder().map((node) => sorted[node - 1]);
}

/** A read-uncommitted transaction has no reads here: any level will do for it. */
function constraining(level: IsolationLevel): ConstrainingLevel {
  return level === 'read-uncommitted' ? 'read-committed' : level === 'strict-serializable' ? 'serializable' : level;
}

/** The members in an order that contains so and wr; `null` where they are cyclic. */
function topologicalOrder(relations: Relations): TransactionIndex[] | null {
  const sorted: TransactionIndex[] = [];
  const left = new Set(relations.members);
  while (left.size > 0) {
    const next = [...left].find((b) => [...left].every((a) => !soOrWr(relations, a, b)));
    if (next === undefined) return null;
    left.delete(next);
    sorted.push(next);
  }
  return sorted;
}

/**
 * The evidence is sought at the weakest level that is violated: what refutes that, refutes the levels above it, and the anomaly that it
 * shows is none that a level forbids at which the history is.
 */
function violated(relations: Relations, levelOf: LevelOf, options: CheckOptions): Verdict {
  const isViolated = (level: IsolationLevel): boolean =>
    searchCommitOrder(relations, capped(levelOf, level), options) === 'violated';
  const weakest = constrainingLevels.find(isViolated) ?? 'strict-serializable';
  const weakened = capped(levelOf, weakest);
  const refutation = refute(relations, weakened, options.limit);
  if (refutation === null) return { kind: 'unknown', reason: 'step-limit' };
  const cycle = chooseCycle(dependencyCycles(relations, weakened, refutation), weakest);
  return { kind: 'violated', anomaly: nameCycle(cycle), cycle, refutation };
}

function capped(levelOf: LevelOf, cap: IsolationLevel): LevelOf {
  return (t) => (isStrongerOrEqual(levelOf(t), cap) ? cap : levelOf(t));
}
