/**
 * Runs in which the sessions go one after another, in every order. What fails in each of them is wrong by itself: no schedule and no weak read
 * says anything about it. Of more orders than can be tried, what fails in some says nothing of the others.
 */

export type SerialOutcome<T> =
  | { readonly kind: 'fails'; readonly failure: T }
  | { readonly kind: 'fine' }
  /** There was no time left for the run. */
  | { readonly kind: 'late' };

/**
 * @param run a run in which the sessions, by index, go in this order
 * @returns the failure in the first order, where all orders fail; `fine` for six sessions and more, whose orders are not tried
 */
export async function inEveryOrder<T>(
  sessions: number,
  run: (order: readonly number[]) => Promise<SerialOutcome<T>>,
): Promise<SerialOutcome<T>> {
  let first: SerialOutcome<T> = { kind: 'fine' };
  if (sessions > SESSIONS_MAX) return first;
  const indexes = Array.from({ length: sessions }, (_, i) => i);
  for (const order of ordersOf(indexes)) {
    const outcome = await run(order);
    if (outcome.kind !== 'fails') return outcome;
    if (first.kind === 'fine') first = outcome;
  }
  return first;
}

/** The orders of these sessions. Each goes first in one of the first orders: what fails in some orders only ends the search early. */
export function* ordersOf(sessions: readonly number[]): Generator<readonly number[]> {
  if (sessions.length < 2) return yield sessions;
  const ofRests = sessions.map((first) => ({ first, rests: ordersOf(sessions.filter((each) => each !== first)) }));
  for (;;)
    for (const { first, rests } of ofRests) {
      const rest = rests.next();
      if (rest.done === true) return;
      yield [first, ...rest.value];
    }
}

/** They have 120 orders. */
const SESSIONS_MAX = 5;
