/**
 * Rows of a FROM clause as they come. A source is opened once for each frame; its cursor sets the rows of the frame, a combination at a time, and
 * starts again for each row of what stands before it in a join, so that a row costs no allocation.
 */
import type { Frame } from '../expression.ts';

export type Source = (frame: Frame) => Cursor;

export interface Cursor {
  /** Begins, again too, with the frame's rows before it as they are now. */
  start(): void;
  /** Sets the frame's rows to the next combination. @returns false: there is none, and `start` comes before another `next` */
  next(): boolean;
  /** Ends a scan that is not read to its end. */
  close(): void;
}

export type Filter = ((frame: Frame) => boolean) | null;

/** A source of what a generator sets. */
export function generated(steps: (frame: Frame) => Iterable<undefined>): Source {
  return (frame) => new GeneratedCursor(() => steps(frame));
}

class GeneratedCursor implements Cursor {
  readonly #steps: () => Iterable<undefined>;
  #iterator: Iterator<undefined> | null = null;

  constructor(steps: () => Iterable<undefined>) {
    this.#steps = steps;
  }

  start(): void {
    this.#iterator = this.#steps()[Symbol.iterator]();
  }

  next(): boolean {
    if (this.#iterator === null) return false;
    if (this.#iterator.next().done !== true) return true;
    this.#iterator = null;
    return false;
  }

  close(): void {
    this.#iterator?.return?.();
    this.#iterator = null;
  }
}

/** The rows of a source, one step for each combination that the frame has in turn. */
export function* rowsOf(source: Source, frame: Frame): Iterable<undefined> {
  const cursor = source(frame);
  try {
    cursor.start();
    while (cursor.next()) yield undefined;
  } finally {
    cursor.close();
  }
}

/** Calls `visit` for each combination. */
export function forEachRow(source: Source, frame: Frame, visit: () => void): void {
  const cursor = source(frame);
  try {
    cursor.start();
    while (cursor.next()) visit();
  } finally {
    cursor.close();
  }
}

/** Is there a combination? */
export function hasRow(cursor: Cursor): boolean {
  try {
    cursor.start();
    return cursor.next();
  } finally {
    cursor.close();
  }
}
