/**
 * Finds an execution in which every transaction passes its commit test: places transactions from left to right.
 *
 * Four things keep it small. Transactions that share no key that is written, nor an order that the level asks for, are searched apart.
 * One that passes and touches no other's keys is placed at once, for that takes nothing away from the others (at preread: any that
 * passes, for states only add up). A prefix in which some transaction can no longer pass is left. And a prefix that failed is
 * remembered by the set of its transactions and what the rest can still tell of their order. Violated sets cost up to 2^n prefixes
 * where values are unique, more where they are not; `stepsMax` ends it.
 */
import { type TimeLimit, unlimited } from '../base/index.ts';
import type { CommitTestLevel } from './level.ts';
import { emptyPrefix, isPlaced, type Prefix, transactionOf } from './prefix.ts';
import type { Member, Problem } from './problem.ts';
import { type Rule, rules } from './rules.ts';

/** Steps left, shared by searches that share a limit. A step is a prefix. */
export interface Budget {
  steps: number;
  /** When it is over, the search throws: `within` catches it. Default: none. */
  readonly limit?: TimeLimit;
}

/** @param tested those that must pass; the others may come anywhere. Default: all. */
export function search(
  problem: Problem,
  level: CommitTestLevel,
  budget: Budget,
  tested: (member: Member) => boolean = () => true,
): readonly Member[] | 'violated' | 'unknown' {
  const rule = rules[level];
  const { limit = unlimited } = budget;
  const failed = new Set<string>();

  /** Who may come next, one of whom must; those that pass before those that need not. */
  const candidates = (prefix: Prefix, waiting: readonly Member[]): readonly Member[] => {
    const may = waiting.filter((t) => mayFollow(rule, prefix, t, tested));
    const passing = may.filter((t) => rule.holds(prefix, t));
    const safe = passing.find((t) => rule.isMonotone || isHarmless(rule, prefix, t, waiting));
    if (safe !== undefined) return [safe];
    const failing = may.filter((t) => !tested(t) && !passing.includes(t));
    const isAwaited = (t: Member): boolean =>
      waiting.some((other) => rule.after(transactionOf(problem, other)).includes(t));
    // No other needs these; last, they may still pass, and then they explain a violation best.
    const last = failing.filter((t) => isHarmless(rule, prefix, t, waiting) && !isAwaited(t));
    const others = [...passing, ...failing.filter((t) => !last.includes(t))];
    return others.length > 0 ? others : last.slice(0, 1);
  };

  const extend = (prefix: Prefix, scope: readonly Member[]): Prefix | 'violated' | 'unknown' => {
    if (budget.steps <= 0) return 'unknown';
    budget.steps -= 1;
    limit.checkNow();
    const waiting = scope.filter((t) => !isPlaced(prefix, t));
    const required = waiting.filter((t) => transactionOf(problem, t).isRequired);
    if (required.length === 0) return prefix;
    if (required.some((t) => tested(t) && rule.isLost(prefix, t))) return 'violated';
    const memory = `${waiting.join(',')} ${rule.memory(prefix, waiting)}`;
    if (failed.has(memory)) return 'violated';
    for (const next of candidates(prefix, waiting)) {
      const outcome = extend(rule.place(prefix, next), scope);
      if (outcome !== 'violated') return outcome;
    }
    failed.add(memory);
    return 'violated';
  };

  let prefix = rule.start(emptyPrefix(problem));
  for (const scope of components(problem, rule)) {
    const outcome = extend(prefix, scope);
    if (typeof outcome === 'string') return outcome;
    prefix = outcome;
  }
  return prefix.order;
}

/** Transactions connected by a key that one of them writes, or by an order that the level asks for. */
function components({ transactions, keys }: Problem, rule: Rule): readonly (readonly Member[])[] {
  const written = new Set(transactions.flatMap((transaction) => transaction.keys));
  // Members, and after them keys, point towards the root of their component.
  const towardsRoot = Array.from({ length: transactions.length + keys }, (_, node) => node);
  const rootOf = (node: number): number => {
    let root = node;
    while (towardsRoot[root] !== root) root = towardsRoot[root];
    towardsRoot[node] = root;
    return root;
  };
  transactions.forEach((transaction, member) => {
    const touched = [...transaction.keys, ...transaction.reads.map(({ key }) => key)].filter((key) => written.has(key));
    for (const other of [...touched.map((key) => transactions.length + key), ...rule.after(transaction)]) {
      towardsRoot[rootOf(other)] = rootOf(member);
    }
  });
  const found = new Map<number, Member[]>();
  for (const member of transactions.keys()) {
    const component = found.get(rootOf(member)) ?? [];
    component.push(member);
    found.set(rootOf(member), component);
  }
  return [...found.values()];
}

/** No other waiting transaction touches a key that it writes, and all that must precede it do: one of unknown fate could not come any more. */
function isHarmless(rule: Rule, prefix: Prefix, next: Member, waiting: readonly Member[]): boolean {
  const { keys, isRequired } = transactionOf(prefix.problem, next);
  const touches = (other: Member): boolean => {
    const transaction = transactionOf(prefix.problem, other);
    return (
      transaction.keys.some((key) => keys.includes(key)) || transaction.reads.some(({ key }) => keys.includes(key))
    );
  };
  return (
    isRequired &&
    rule.after(transactionOf(prefix.problem, next)).every((other) => isPlaced(prefix, other)) &&
    (keys.length === 0 || waiting.every((other) => other === next || !touches(other)))
  );
}

/** Neither before one that must precede it nor after one that it must precede. */
function mayFollow(rule: Rule, prefix: Prefix, next: Member, tested: (member: Member) => boolean): boolean {
  const { problem, order } = prefix;
  const isFirst = (other: Member): boolean => isPlaced(prefix, other) || !transactionOf(problem, other).isRequired;
  if (tested(next) && !rule.after(transactionOf(problem, next)).every(isFirst)) return false;
  return order.every((placed) => !tested(placed) || !rule.after(transactionOf(problem, placed)).includes(next));
}
