/**
 * Who waits for whom among MySQL's metadata locks, of which those of GET_LOCK are a kind: the victim of a deadlock is the lightest that waits, and of equals
 * the one that began last. `MDL_context::find_deadlock` and `Deadlock_detection_visitor` (mdl.cc).
 */
import { assert } from '../base/index.ts';
import { type Blockers, WaitsFor } from './waits-for.ts';

/** A statement that reads or writes rows, GET_LOCK, a definition: `MDL_wait_for_subgraph::DEADLOCK_WEIGHT_*`. */
export const waitWeight = { rows: 0, name: 50, definition: 100 } as const;

interface Wait {
  readonly weight: number;
  /** Its place in the order in which waits began. */
  readonly place: number;
}

export class WeighedWaits {
  readonly #graph = new WaitsFor();
  readonly #waits = new Map<number, Wait>();
  #begun = 0;

  begin(transaction: number, weight: number, blockers: Blockers): void {
    this.#graph.begin(transaction, blockers);
    this.#waits.set(transaction, { weight, place: ++this.#begun });
  }

  end(transaction: number): void {
    this.#graph.end(transaction);
    this.#waits.delete(transaction);
  }

  /** @param onLook called with each transaction whose waits were read */
  isVictim(transaction: number, onLook?: (transaction: number) => void): boolean {
    const { place } = this.#wait(transaction);
    const equals = this.#equals(transaction, onLook);
    return equals !== null && equals.every((each) => each.place <= place);
  }

  /** Is it in a deadlock with none that is lighter? */
  mayBeVictim(transaction: number, onLook?: (transaction: number) => void): boolean {
    return this.#equals(transaction, onLook) !== null;
  }

  /** Those of a cycle that weigh as much as `transaction`; `null`: it is on none, or another is lighter. */
  #equals(transaction: number, onLook?: (transaction: number) => void): readonly Wait[] | null {
    const cycle = this.#graph.cycleThrough(transaction, onLook).map((each) => this.#wait(each));
    const { weight } = this.#wait(transaction);
    if (cycle.length === 0 || cycle.some((each) => each.weight < weight)) return null;
    return cycle.filter((each) => each.weight === weight);
  }

  #wait(transaction: number): Wait {
    const wait = this.#waits.get(transaction);
    assert(wait !== undefined, `transaction ${transaction} waits`);
    return wait;
  }
}
