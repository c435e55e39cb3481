/**
 * Runs in which the sessions go one after another, in every order. What fails in each of them is wrong by itself: no schedule and no weak read
 * says anything about it.
 */

export type SerialOutcome<T> =
  | { readonly kind: 'fails'; readonly failure: T }
  | { readonly kind: 'fine' }
  /** There was no time left for the run. */
  | { readonly kind: 'late' };

/** @param run a run in which the sessions, by index, go in this order. @returns the failure in the first order, where all orders fail */
export async function inEveryOrder<T>(
  sessions: number,
  run: (order: readonly number[]) => Promise<SerialOutcome<T>>,
): Promise<SerialOutcome<T>> {
  let first: SerialOutcome<T> = { kind: 'fine' };
  for (const order of ordersOf(sessions, ORDERS_MAX)) {
    const outcome = await run(order);
    if (outcome.kind !== 'fails') return outcome;
    if (first.kind === 'fine') first = outcome;
  }
  return first;
}

/** The permutations of 0 to count - 1 in lexicographic order, at most so many. */
function ordersOf(count: number, max: number): readonly (readonly number[])[] {
  const orders: number[][] = [];
  const extend = (order: readonly number[]): void => {
    if (orders.length === max) return;
    if (order.length === count) orders.push([...order]);
    for (let next = 0; next < count; next += 1) if (!order.includes(next)) extend([...order, next]);
  };
  extend([]);
  return orders;
}

/** All orders of four sessions. */
const ORDERS_MAX = 24;
