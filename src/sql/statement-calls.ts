/**
 * A statement that has to wait in the middle of an expression stops, and runs again from the same snapshot when it need not wait any more. Its
 * volatile functions then give what they gave before, up to the call that waited, as if it had never stopped.
 */
import type { SqlValue } from './model/index.ts';

interface MadeCall {
  readonly of: object;
  readonly values: readonly SqlValue[];
}

export class StatementCalls {
  readonly #made: (MadeCall & { readonly result: SqlValue })[] = [];
  #next = 0;
  #under: MadeCall | null = null;

  /** @param of the function */
  once(of: object, values: readonly SqlValue[], compute: () => SqlValue): SqlValue {
    const made = this.#made[this.#next];
    if (made !== undefined && isSame(made, of, values)) {
      this.#next += 1;
      return made.result;
    }
    // The rows are not those of before: InnoDB's locking reads see what is committed meanwhile.
    this.#made.length = this.#next;
    this.#under = { of, values };
    const result = compute();
    this.#made.push({ of, values, result });
    this.#next += 1;
    return result;
  }

  /** The result of the call that had to wait. */
  answer(result: SqlValue): void {
    if (this.#under !== null) this.#made.push({ ...this.#under, result });
  }

  restart(): void {
    this.#next = 0;
  }
}

function isSame(made: MadeCall, of: object, values: readonly SqlValue[]): boolean {
  return (
    made.of === of && made.values.length === values.length && made.values.every((value, i) => isAlike(value, values[i]))
  );
}

/** Intervals and the like are made anew for each call. */
function isAlike(a: SqlValue, b: SqlValue | undefined): boolean {
  return a === b || (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null);
}
