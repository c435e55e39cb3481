/**
 * Who waits for whom. Edges are asked for when they are needed, for a lock that is granted meanwhile changes them. A new edge can close a
 * cycle only when it begins at a transaction that begins to wait: one that is granted a lock is running and does not wait.
 */
export type Blockers = () => readonly number[];

export class WaitsFor {
  readonly #waiting = new Map<number, { readonly blockers: Blockers; readonly touch: (() => void) | undefined }>();

  /** @param touch tells the footprint of the step under way what `blockers` looks at */
  begin(transaction: number, blockers: Blockers, touch?: () => void): void {
    this.#waiting.set(transaction, { blockers, touch });
  }

  /** @returns did it wait? */
  end(transaction: number): boolean {
    return this.#waiting.delete(transaction);
  }

  /**
   * The transactions on a cycle through `transaction`, it first; empty when there is none. Linear in the edges.
   * @param onLook called with each transaction whose waits were read
   */
  cycleThrough(transaction: number, onLook?: (transaction: number) => void): number[] {
    const seen = new Set<number>();
    const path: number[] = [];
    const reaches = (from: number): boolean => {
      path.push(from);
      onLook?.(from);
      const waiting = this.#waiting.get(from);
      if (onLook !== undefined) waiting?.touch?.();
      for (const blocker of waiting?.blockers() ?? []) {
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
