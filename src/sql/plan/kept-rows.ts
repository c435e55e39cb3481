/** Rows of a query inside a statement, which the statement may read more than once. */
import { engineRules } from '../model/index.ts';
import type { Frame } from '../expression.ts';
import type { Running } from '../execution.ts';
import type { Planning } from './planning.ts';
import type { PlannedQuery, Values } from './query.ts';

/** Those of a query that does not depend on the query around are kept for the statement. */
export function keptRows(
  query: PlannedQuery,
  outer: Frame | null,
  running: Running,
  { dialect, writes }: Planning,
): Iterable<Values> {
  if (query.isCorrelated) return query.rows(outer, running);
  const kept = running.kept.get(query);
  if (kept !== undefined) return kept as Iterable<Values>;
  const source = query.rows(outer, running);
  const rows = engineRules[dialect].streamsInnerQueries && !writes ? new KeptRows(source) : [...source];
  running.kept.set(query, rows);
  return rows;
}

/** They are computed as far as some reader asks for them, and once for all readers. */
export class KeptRows implements Iterable<Values> {
  readonly #rows: Values[] = [];
  #source: Iterator<Values> | null;

  constructor(source: Iterable<Values>) {
    this.#source = source[Symbol.iterator]();
  }

  [Symbol.iterator](): Iterator<Values> {
    return this.#source === null ? this.#rows[Symbol.iterator]() : new Reader((at) => this.#at(at));
  }

  #at(at: number): Values | undefined {
    while (at >= this.#rows.length && this.#source !== null) {
      const next = this.#source.next();
      if (next.done === true) this.#source = null;
      else this.#rows.push(next.value);
    }
    return this.#rows[at];
  }
}

class Reader implements IterableIterator<Values, undefined> {
  readonly #at: (at: number) => Values | undefined;
  #next = 0;

  constructor(at: (at: number) => Values | undefined) {
    this.#at = at;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Values, undefined> {
    const value = this.#at(this.#next++);
    return value === undefined ? { done: true, value } : { done: false, value };
  }
}
