/** Joins by equal values where no index has them: the rows of a table by key, made once for each run of the query. */
import type { Frame } from '../expression.ts';
import type { Row } from '../model/index.ts';
import { type Cursor, type Filter, forEachRow, type Source } from './cursor.ts';

export interface HashSide {
  readonly row: number;
  /** Sets the frame's row to each candidate. */
  readonly build: Source;
  /** `null`: NULL in the key, equal to nothing. */
  readonly buildKey: (frame: Frame) => string | null;
  readonly probeKey: (frame: Frame) => string | null;
  readonly filter: Filter;
}

export function hashSource(side: HashSide): Source {
  return (frame) => new HashCursor(frame, side);
}

class HashCursor implements Cursor {
  readonly #frame: Frame;
  readonly #side: HashSide;
  #table: Map<string, Row[]> | null = null;
  #found: readonly Row[] | null = none;
  #taken = 0;

  constructor(frame: Frame, side: HashSide) {
    this.#frame = frame;
    this.#side = side;
  }

  start(): void {
    this.#found = null;
    this.#taken = 0;
  }

  next(): boolean {
    this.#found ??= this.#candidates();
    const { row, filter } = this.#side;
    const { budget } = this.#frame.execution;
    while (this.#taken < this.#found.length) {
      budget?.checkInterrupt();
      this.#frame.rows[row] = this.#found[this.#taken++] as Row;
      if (filter === null || filter(this.#frame)) return true;
    }
    return false;
  }

  close(): void {
    // Conditions of its rows may look at the query around, which opens it again for another row.
    this.#table = null;
    this.#found = none;
    this.#taken = 0;
  }

  #candidates(): readonly Row[] {
    this.#table ??= hashTable(this.#frame, this.#side);
    const key = this.#side.probeKey(this.#frame);
    return (key === null ? undefined : this.#table.get(key)) ?? none;
  }
}

const none: readonly Row[] = [];

function hashTable(frame: Frame, { row, build, buildKey }: HashSide): Map<string, Row[]> {
  const table = new Map<string, Row[]>();
  forEachRow(build, frame, () => {
    const key = buildKey(frame);
    const found = frame.rows[row];
    if (key === null || found === null || found === undefined) return;
    const rows = table.get(key);
    if (rows === undefined) table.set(key, [found]);
    else rows.push(found);
  });
  return table;
}
