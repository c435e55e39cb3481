/**
 * The rows of a source as a query without a sort gives them: projected, skipped and counted by LIMIT, as far as they are asked for. An iterator by
 * hand, since a generator within a generator costs a row more than the row does.
 */
import type { Expression, Frame } from '../expression.ts';
import type { SqlValue } from '../model/index.ts';
import type { Cursor, Source } from './cursor.ts';
import type { Values } from './query.ts';
import type { Limit } from './sort.ts';

type Evaluate = Expression['evaluate'];
type Step = IteratorResult<Values, undefined>;

const finished: Step = { done: true, value: undefined };

export class ProjectedRows implements IterableIterator<Values, undefined> {
  readonly #source: Source;
  readonly #evaluators: readonly Evaluate[];
  readonly #limit: Limit | null;
  readonly #frame: Frame;
  readonly #valueOf: (evaluate: Evaluate) => SqlValue;
  #cursor: Cursor | null = null;
  #state: 'before' | 'within' | 'after' = 'before';
  #toSkip = 0;
  #left = Infinity;

  constructor(source: Source, evaluators: readonly Evaluate[], limit: Limit | null, frame: Frame) {
    this.#source = source;
    this.#evaluators = evaluators;
    this.#limit = limit;
    this.#frame = frame;
    this.#valueOf = (evaluate) => evaluate(frame);
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): Step {
    if (this.#state === 'after') return finished;
    try {
      if (this.#state === 'before') this.#begin();
      while (this.#left > 0 && this.#cursor?.next() === true) {
        // Rows before OFFSET are evaluated, too.
        const value = this.#values();
        if (this.#toSkip-- > 0) continue;
        this.#left--;
        return { done: false, value };
      }
    } catch (error) {
      this.return();
      throw error;
    }
    return this.return();
  }

  return(): Step {
    this.#state = 'after';
    const cursor = this.#cursor;
    this.#cursor = null;
    cursor?.close();
    return finished;
  }

  #begin(): void {
    this.#state = 'within';
    this.#toSkip = this.#limit?.offset(this.#frame) ?? 0;
    this.#left = this.#limit?.count(this.#frame) ?? Infinity;
    if (this.#left === 0) return;
    this.#cursor = this.#source(this.#frame);
    this.#cursor.start();
  }

  #values(): Values {
    // A list that grows would have room for 17.
    return this.#evaluators.map(this.#valueOf);
  }
}
