/**
 * Who waits for whom. Edges are asked for when they are needed, for a lock that is granted meanwhile changes them. A new edge can close a
 * cycle only when it begins at a transaction that begins to wait: one that is granted a lock is running and waits for nobody.
 */
export type Blockers = () => readonly number[];

export class WaitsFor {
  readonly #waiting = new Map<number, Blockers>();

  begin(transaction: number, blockers: Blockers): void {
    this.#waiting.set(transaction, blockers);
  }

  end(transaction: number): void {
    this.#waiting.delete(transaction);
  }

  /** The transactions on a cycle through `transaction`, it first; empty when there is none. Linear in the edges. */
  cycleThrough(transaction: number): number[] {
    const seen = new Set<number>();
    const path: number[] = [];
    const reaches = (from: number): boolean => {
      path.push(from);
      for (const blocker of this.#waiting.get(from)?.() ?? []) {
        if (blocker === transaction) return true;
        if (seen.has(blocker)) continue;
        seen.add(blocker);
        if (reaches(blocker)) return true;
      }
      path.pop();
      return false;
    };
    return reaches(transaction) ? path : [];
  }
}
