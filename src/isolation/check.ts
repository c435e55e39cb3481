/**
 * Is a history at a level? The incremental constraints decide; evidence is then built for people and for `certify`.
 * For histories of up to some hundred transactions: the order is a bit matrix.
 */
import { assert } from '../base/assert.ts';
import {
  type History,
  INITIAL,
  type Relations,
  type RelationsOptions,
  relationsOf,
  type TransactionIndex,
} from '../history/index.ts';
import { nameCycle } from './anomaly.ts';
import { CommitOrders } from './commit-orders.ts';
import type { ConstrainingLevel } from './commit-constraints.ts';
import { satisfiedBy, soOrWr } from './definition.ts';
import { dependencyCycle } from './dependency-cycle.ts';
import { type IsolationLevel, isolationLevels, type Levels } from './level.ts';
import { refute } from './refutation.ts';
import type { Verdict, Violated } from './verdict.ts';

export interface CheckOptions extends RelationsOptions {
  /** Decisions that the search may take. Default 100,000. */
  readonly stepsMax?: number;
}

/**
 * @param level one level, or each transaction's own
 * @throws InputError where wr is not known: `history/thin-air-read`, `history/duplicate-write`
 */
export function check(history: History, level: Levels, options: CheckOptions = {}): Verdict {
  const relations = relationsOf(history, options);
  const levelOf = typeof level === 'function' ? level : () => level;
  const phenomenon = relations.phenomena.find(({ by }) => levelOf(by) !== 'read-uncommitted');
  if (phenomenon !== undefined) return { kind: 'violated', anomaly: phenomenon.kind, cycle: [], read: phenomenon };
  const outcome = searchCommitOrder(relations, levelOf, options.stepsMax);
  if (outcome === 'violated') return violated(relations, levelOf);
  if (outcome === 'unknown') return { kind: 'unknown', reason: 'step-limit' };
  if (lacksTimes(relations, levelOf)) return { kind: 'unknown', reason: 'missing-times' };
  assert(satisfiedBy(relations, outcome, level), `the commit order ${outcome.join(' ')} must satisfy the definition`);
  return { kind: 'satisfied', commitOrder: outcome };
}

/** The strongest level at which the history is; `read-uncommitted` asks nothing, so there always is one. */
export function strongestLevel(history: History, options: CheckOptions = {}): IsolationLevel {
  return isolationLevels.findLast((level) => check(history, level, options).kind === 'satisfied') ?? 'read-uncommitted';
}

type LevelOf = (t: TransactionIndex) => IsolationLevel;

/** strict-serializable without times is a claim that the history can refute (as serializable) but not confirm. */
function lacksTimes({ history, members }: Relations, levelOf: LevelOf): boolean {
  return (
    members.some((t) => levelOf(t) === 'strict-serializable') &&
    members.some((t) => history.transactions[t]?.start === undefined || history.transactions[t]?.end === undefined)
  );
}

function searchCommitOrder(
  relations: Relations,
  levelOf: LevelOf,
  stepsMax?: number,
): TransactionIndex[] | 'violated' | 'unknown' {
  const sorted = topologicalOrder(relations, levelOf);
  if (sorted === null) return 'violated';
  const orders = new CommitOrders(stepsMax === undefined ? {} : { stepsMax });
  const keys = new Map<string, number>();
  const keyId = (key: string): number => keys.get(key) ?? (keys.set(key, keys.size), keys.size - 1);
  const nodeOf = new Map<TransactionIndex, number>([[INITIAL, 0]]);
  for (const t of sorted) {
    const level = levelOf(t);
    const session = relations.history.transactions[t]?.session ?? 0;
    const node = orders.constraints.begin(session, constraining(level));
    nodeOf.set(t, node);
    const reads = level === 'read-uncommitted' ? [] : relations.readsOf(t);
    for (const read of reads) orders.constraints.addRead(node, keyId(read.key), nodeOf.get(read.from) as number);
    orders.constraints.addWrites(node, [...relations.keysWrittenBy(t)].map(keyId));
  }
  const realTime = sorted
    .filter((b) => levelOf(b) === 'strict-serializable')
    .flatMap((b) =>
      sorted
        .filter((a) => relations.realTime(a, b))
        .map((a): [number, number] => [nodeOf.get(a) as number, nodeOf.get(b) as number]),
    );
  if (!orders.rebuild(realTime)) return orders.gaveUp ? 'unknown' : 'violated';
  return orders.commitOrder().map((node) => sorted[node - 1] as TransactionIndex);
}

/** A read-uncommitted transaction has no reads that count: any level will do for it. */
function constraining(level: IsolationLevel): ConstrainingLevel {
  return level === 'read-uncommitted' ? 'read-committed' : level === 'strict-serializable' ? 'serializable' : level;
}

/** The members in an order that contains so and wr; `null` where they are cyclic. */
function topologicalOrder(relations: Relations, levelOf: LevelOf): TransactionIndex[] | null {
  const sorted: TransactionIndex[] = [];
  const left = new Set(relations.members);
  const precedes = (a: TransactionIndex, b: TransactionIndex): boolean =>
    levelOf(b) === 'read-uncommitted' ? relations.so(a, b) : soOrWr(relations, a, b);
  while (left.size > 0) {
    const next = [...left].find((b) => [...left].every((a) => !precedes(a, b)));
    if (next === undefined) return null;
    left.delete(next);
    sorted.push(next);
  }
  return sorted;
}

function violated(relations: Relations, levelOf: LevelOf): Violated {
  const refutation = refute(relations, levelOf);
  assert(refutation !== null, 'what the search refutes, the rules refute');
  const cycle = dependencyCycle(relations, refutation);
  return { kind: 'violated', anomaly: nameCycle(cycle), cycle, refutation };
}
