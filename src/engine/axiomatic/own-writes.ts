/** What a transaction has written so far, statement by statement, and what it did in order: its part of the history. */
import type { Operation, TransactionIndex, Value } from '../../history/index.ts';
import type { Writer } from './version.ts';
import type { Held } from './held.ts';
import type { Cell } from './table.ts';

interface OwnWrite {
  readonly cell: Cell;
  readonly held: Held;
  readonly statement: number;
  readonly at: number;
  /** The transaction's write of this cell before it. */
  readonly previous: OwnWrite | null;
  isUndone: boolean;
}

/** A point that a rollback to a savepoint comes back to. */
export interface Mark {
  readonly writes: number;
  readonly operations: number;
}

const WRITE = null;

export class OwnWrites {
  readonly #last = new Map<Cell, OwnWrite>();
  readonly #writes: OwnWrite[] = [];
  /** How many of the writes are among the operations: those of statements that have ended. */
  #flushed = 0;
  /** The operations, in columns. */
  readonly #cells: Cell[] = [];
  readonly #helds: Held[] = [];
  readonly #sources: (Writer | OwnWrite | typeof WRITE)[] = [];
  readonly #times: number[] = [];
  readonly #tick: () => number;

  /** @param tick the next moment of the store's clock */
  constructor(tick: () => number) {
    this.#tick = tick;
  }

  get isEmpty(): boolean {
    return this.#last.size === 0;
  }

  get cells(): Cell[] {
    return [...this.#last.keys()];
  }

  /** Its last write of the cell, by this statement or an earlier one. */
  last(cell: Cell): OwnWrite | undefined {
    return this.#last.size === 0 ? undefined : this.#last.get(cell);
  }

  /** Its last write before this statement. */
  lastBefore(cell: Cell, statement: number): OwnWrite | undefined {
    let write = this.last(cell);
    while (write !== undefined && write.statement >= statement) write = write.previous ?? undefined;
    return write;
  }

  write(cell: Cell, held: Held, statement: number): void {
    const at = this.#tick();
    const write = { cell, held, statement, at, previous: this.#last.get(cell) ?? null, isUndone: false };
    this.#last.set(cell, write);
    this.#writes.push(write);
  }

  noteRead(cell: Cell, held: Held, source: Writer | OwnWrite, at = this.#tick()): void {
    this.#cells.push(cell);
    this.#helds.push(held);
    this.#sources.push(source);
    this.#times.push(at);
  }

  /** The statement has ended: what it wrote comes after what it read. */
  flush(): void {
    for (; this.#flushed < this.#writes.length; this.#flushed += 1) {
      const { cell, held, at } = this.#writes[this.#flushed] as OwnWrite;
      this.#cells.push(cell);
      this.#helds.push(held);
      this.#sources.push(WRITE);
      this.#times.push(at);
    }
  }

  mark(): Mark {
    this.flush();
    return { writes: this.#writes.length, operations: this.#cells.length };
  }

  /** The running statement's writes never were. */
  undoStatement(): void {
    this.#undo(this.#flushed);
  }

  /** The writes since then never were, nor the reads that saw them. What was read from others was read. */
  undoTo({ writes, operations }: Mark): void {
    this.#undo(writes);
    this.#flushed = Math.min(this.#flushed, writes);
    let kept = operations;
    for (let i = operations; i < this.#cells.length; i += 1) {
      const source = this.#sources[i] as Writer | OwnWrite | typeof WRITE;
      if (source === WRITE || ('isUndone' in source && source.isUndone)) continue;
      this.#cells[kept] = this.#cells[i] as Cell;
      this.#helds[kept] = this.#helds[i] as Held;
      this.#sources[kept] = source;
      this.#times[kept] = this.#times[i] as number;
      kept += 1;
    }
    for (const column of [this.#cells, this.#helds, this.#sources, this.#times]) column.length = kept;
  }

  /** Only the operations are still of interest. */
  forgetWrites(): void {
    this.#last.clear();
    this.#writes.length = 0;
  }

  #undo(kept: number): void {
    while (this.#writes.length > kept) {
      const write = this.#writes.pop() as OwnWrite;
      write.isUndone = true;
      if (write.previous === null) this.#last.delete(write.cell);
      else this.#last.set(write.cell, write.previous);
    }
  }

  /** When each operation happened. */
  get times(): readonly number[] {
    return this.#times;
  }

  /** In program order. */
  operations(
    indexOf: (writer: Writer) => TransactionIndex,
    keyOf: (cell: Cell) => string,
    valueOf: (cell: Cell, held: Held) => Value,
  ): Operation[] {
    return this.#cells.map((cell, i): Operation => {
      const source = this.#sources[i] as Writer | OwnWrite | typeof WRITE;
      const key = keyOf(cell);
      const value = valueOf(cell, this.#helds[i] as Held);
      if (source === WRITE) return { kind: 'write', key, value };
      return 'isUndone' in source ? { kind: 'read', key, value } : { kind: 'read', key, value, from: indexOf(source) };
    });
  }
}
