/** The versions of rows that were written since a recording began: what a scan may have missed. */
import type { ObservedVersion } from '../observer.ts';

export interface RecordedVersion {
  readonly version: ObservedVersion;
  /** The version that it overwrites; `null`: there was no row. */
  readonly older: ObservedVersion | null;
  /** When it was written, on the recorder's clock. */
  readonly at: number;
  /** Infinity unless its statement failed or its savepoint was rolled back. */
  undoneAt: number;
}

export interface RecordedRow {
  readonly table: number;
  readonly row: number;
  /** The version before all that is recorded; `null`: there was no row. */
  readonly base: ObservedVersion | null;
  /** In the order in which they were written. */
  readonly versions: RecordedVersion[];
}

export class RowVersions {
  readonly #tables = new Map<number, Map<number, RecordedRow>>();

  rowsOf(table: number): Iterable<RecordedRow> {
    return this.#tables.get(table)?.values() ?? [];
  }

  write(table: number, row: number, version: ObservedVersion, older: ObservedVersion | null, at: number): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) this.#tables.set(table, (rows = new Map()));
    const recorded = rows.get(row);
    const written = { version, older, at, undoneAt: Infinity };
    // Most rows have one: an empty list that grows would reserve room for many.
    if (recorded === undefined) rows.set(row, { table, row, base: older, versions: [written] });
    else recorded.versions.push(written);
  }

  undo(table: number, row: number, sequence: number, at: number): void {
    const written = this.#tables
      .get(table)
      ?.get(row)
      ?.versions.findLast(({ version, undoneAt }) => version.sequence === sequence && undoneAt === Infinity);
    if (written !== undefined) written.undoneAt = at;
  }

  /** What `isOver` says of its writer is the state before the recording. */
  begin(isOver: (writer: number) => boolean): void {
    for (const rows of this.#tables.values()) {
      for (const recorded of rows.values()) {
        if (recorded.versions.every(({ version }) => isOver(version.writerTransactionId))) rows.delete(recorded.row);
      }
    }
  }

  clear(): void {
    this.#tables.clear();
  }
}
