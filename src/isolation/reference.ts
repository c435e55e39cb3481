/**
 * The reference checker: tries every commit order. Factorial, obviously right, for small histories and for tests.
 * Orders are built from left to right and cut as soon as they leave so or wr; every complete one is asked of the definition.
 */
import { type History, type RelationsOptions, type TransactionIndex } from '../history/index.ts';
import { knownRelations, satisfiedBy, soOrWr } from './definition.ts';
import { type Levels, levelOfEach } from './level.ts';

/** The answer of the definition; a violation has no evidence but the orders that were tried. */
export type ReferenceVerdict =
  | { readonly kind: 'satisfied'; readonly commitOrder: readonly TransactionIndex[] }
  | { readonly kind: 'violated' }
  | { readonly kind: 'unknown'; readonly reason: 'step-limit' };

/** How far the definition is asked. */
export interface ReferenceOptions extends RelationsOptions {
  /** Complete commit orders to try before giving up. Default 1,000,000. */
  readonly ordersMax?: number;
}

/**
 * Asks the definition of every commit order, one after another: exponential in the transactions, for comparisons with small histories.
 * @throws InputError `history/duplicate-write` where several transactions wrote what a read saw
 */
export function referenceCheck(history: History, level: Levels, options: ReferenceOptions = {}): ReferenceVerdict {
  const levelOf = levelOfEach(level);
  const relations = knownRelations(history, levelOf, options);
  const ordersMax = options.ordersMax ?? 1_000_000;
  let orders = 0;
  const order: TransactionIndex[] = [];

  const extend = (left: readonly TransactionIndex[]): boolean => {
    if (left.length === 0) {
      orders += 1;
      return orders <= ordersMax && satisfiedBy(relations, order, levelOf);
    }
    for (const next of left) {
      if (orders > ordersMax) return false;
      const rest = left.filter((t) => t !== next);
      if (rest.some((t) => soOrWr(relations, t, next))) continue;
      order.push(next);
      if (extend(rest)) return true;
      order.pop();
    }
    return false;
  };

  if (extend(relations.members)) return { kind: 'satisfied', commitOrder: [...order] };
  return orders > ordersMax ? { kind: 'unknown', reason: 'step-limit' } : { kind: 'violated' };
}
