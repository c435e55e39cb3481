import type { DdlOutcome } from '../../sql/index.ts';

/** How to undo the DDL that a transaction has run, in order. */
export class DdlUndoLog {
  readonly #undos: DdlOutcome['undo'][] = [];

  add(undo: DdlOutcome['undo']): void {
    this.#undos.push(undo);
  }

  /** For `undo`. */
  mark(): number {
    return this.#undos.length;
  }

  /** Undoes what was added since the mark, the last first. @param look called before the catalog is changed */
  undo(mark: number, look: () => void): void {
    const undos = this.#undos.splice(mark).toReversed();
    if (undos.length > 0) look();
    for (const undo of undos) undo();
  }
}
