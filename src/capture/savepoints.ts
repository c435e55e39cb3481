/**
 * Operations of one session on their way out. After a SAVEPOINT they wait until the transaction ends, because ROLLBACK TO undoes what was
 * written since: no other transaction can see it, and a checker must not expect it. Costs nothing without savepoints.
 */
import type { RecordedOperation } from './trace-lines.ts';

export class UndoableOperations {
  readonly #write: (operation: RecordedOperation) => void;
  #savepoints: { readonly name: string; readonly from: number }[] = [];
  #waiting: RecordedOperation[] = [];

  constructor(write: (operation: RecordedOperation) => void) {
    this.#write = write;
  }

  add(operation: RecordedOperation): void {
    if (this.#savepoints.length === 0) this.#write(operation);
    else this.#waiting.push(operation);
  }

  savepoint(name: string): void {
    this.#savepoints.push({ name, from: this.#waiting.length });
  }

  release(name: string): void {
    const at = this.#find(name);
    if (at < 0) return;
    this.#savepoints.length = at;
    if (at === 0) this.flush();
  }

  /** What was written since is undone, and what this transaction read of it was never there for others. The savepoint stays. */
  rollBackTo(name: string): void {
    const at = this.#find(name);
    const savepoint = this.#savepoints[at];
    if (savepoint === undefined) return;
    this.#savepoints.length = at + 1;
    const undone = new Set<string>();
    for (let i = savepoint.from; i < this.#waiting.length; i += 1) {
      const operation = this.#waiting[i] as RecordedOperation;
      for (const [row] of operation.rows?.writes ?? []) undone.add(row);
      this.#waiting[i] = withoutWrites(operation, undone);
    }
  }

  flush(): void {
    this.#savepoints = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const operation of waiting) this.#write(operation);
  }

  /** Names may be taken again; the last one counts. PostgreSQL and MySQL compare them differently, which only matters for odd names. */
  #find(name: string): number {
    return this.#savepoints.findLastIndex((savepoint) => savepoint.name.toLowerCase() === name.toLowerCase());
  }
}

function withoutWrites(operation: RecordedOperation, undone: ReadonlySet<string>): RecordedOperation {
  const { rows } = operation;
  if (rows === null) return operation;
  const reads = rows.reads.filter(([row]) => !undone.has(row));
  const hasChanged = rows.writes.length > 0 || reads.length < rows.reads.length || rows.opaque === 'writes';
  const predicates = undone.size > 0 ? [] : rows.predicates;
  return {
    ...operation,
    rows: { ...rows, reads, writes: [], unknown: [], predicates, opaque: hasChanged ? 'reads' : rows.opaque },
  };
}
